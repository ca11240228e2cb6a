"""Numbers as people write them: digits, Chinese numerals, English number words."""

import re
from typing import Final

_DIGITS: Final = {ch: i for i, ch in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2, "幺": 1}
_SMALL: Final = {"十": 10, "百": 100, "千": 1000}
_LARGE: Final = {"万": 10_000, "亿": 100_000_000}
_TENS: Final = {"廿": 20, "卅": 30}

CHINESE_NUMBER: Final = "[0-9.〇零一二两俩三四五六七八九十廿卅百千万亿半]+"
"""Pattern of what `chinese_number` may accept."""

_ENGLISH: Final = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {
    word: 10 * tens
    for tens, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_ENGLISH_LARGE: Final = {"hundred": 100, "thousand": 1000, "grand": 1000, "million": 1_000_000}
_ENGLISH_OTHER: Final = {"a": 1, "an": 1, "couple": 2, "half": 0.5}

ENGLISH_WORD: Final = "|".join(sorted([*_ENGLISH, *_ENGLISH_LARGE], key=len, reverse=True))
"""Alternatives for one English number word."""


def chinese_number(text: str) -> float | None:
    """The value of a number in Chinese numerals, digits, or both (`一万五`, `1万5`, `廿三`, `两千零五`).

    A digit behind a unit counts in the next lower one: 一万五 is 15000, 一百五 is 150. Digits in a row
    are read one by one (二〇二六). 半 alone is 0.5, behind a number it adds a half.

    Returns:
        None when `text` is no number.
    """
    if text == "半":
        return 0.5
    if len(text) > 1 and text.endswith("半"):
        whole = chinese_number(text[:-1])
        return None if whole is None else whole + 0.5
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return float(text)
    if text and all(ch in _DIGITS for ch in text):
        return float("".join(str(_DIGITS[ch]) for ch in text))
    return _with_units(text)


def _with_units(text: str) -> float | None:
    for unit in ("亿", "万"):
        head, found, tail = text.rpartition(unit)
        if found:
            high, low = chinese_number(head), _tail(tail, _LARGE[unit])
            return None if high is None or low is None else high * _LARGE[unit] + low
    return _below_ten_thousand(text)


def _tail(text: str, unit: int) -> float | None:
    """What stands behind a unit: nothing, a lone digit of the next lower one, or a number."""
    if not text:
        return 0
    if len(text) == 1 and (digit := _digit(text)) is not None:
        return digit * unit / 10
    return chinese_number(text.lstrip("零〇") or "零")


def _digit(ch: str) -> int | None:
    return int(ch) if ch in "0123456789" else _DIGITS.get(ch)


def _below_ten_thousand(text: str) -> float | None:
    total, pending, last_unit = 0.0, None, 0
    for piece in re.findall(r"\d+(?:\.\d+)?|.", text, re.DOTALL):
        if piece in _SMALL:
            total += (1 if pending is None else pending) * _SMALL[piece]
            pending, last_unit = None, _SMALL[piece]
        elif piece in _TENS:
            total, last_unit = total + _TENS[piece], 10
        elif piece in "零〇":
            last_unit = 0
        elif pending is None and (piece[0].isdigit() or piece in _DIGITS):
            pending = float(piece) if piece[0] in "0123456789" else float(_DIGITS[piece])
        else:
            return None
    if pending is not None:
        total += pending * last_unit / 10 if last_unit >= 100 else pending
    return total if text else None


def english_number(text: str) -> float | None:
    """The value of digits (`1,200`, `1.5`) or lower-case English words (`a hundred and ten`, `twenty-five`).

    Returns:
        None when `text` is no number.
    """
    plain = text.replace(",", "").strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", plain):
        return float(plain)
    words = [word for word in re.split(r"[\s-]+", plain) if word not in ("and", "of", "")]
    if len(words) > 1:
        words = [word for i, word in enumerate(words) if not _is_article(words, i)]
    total = current = 0.0
    for word in words:
        if word in _ENGLISH_LARGE:
            current = (current or 1) * _ENGLISH_LARGE[word]
            if _ENGLISH_LARGE[word] > 100:
                total, current = total + current, 0.0
        elif (value := _ENGLISH.get(word, _ENGLISH_OTHER.get(word))) is not None:
            current += value
        else:
            return None
    return total + current if words else None


def _is_article(words: list[str], index: int) -> bool:
    """Whether "a" counts nothing here, as in "a six-year-old" or "half a"; in "a hundred" it is one."""
    following = words[index + 1] if index + 1 < len(words) else ""
    return words[index] in ("a", "an") and following not in _ENGLISH_LARGE
