"""Carrying a contrast ("not three years, thirteen") into what a memory says.

The words that were wrong, or are so no longer, are looked for in the memory, a number in whatever
spelling; what is right takes their place.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .carrying_en import in_memory
from .numerals import chinese_number
from .quantity import canonical, find_quantities
from .text import normalise

Wording = tuple[str, str | None]
"""The content and the value of a memory, reworded."""

_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?|[零一二两三四五六七八九十百千万半]+")
_NUMERAL_SOURCE = r"([0-9]+(?:\.[0-9]+)?|[零一二两三四五六七八九十百千万半]+)"


def carried(former: str, new: str, content: str, value: str | None) -> Wording | None:
    """The memory with `new` in the place of `former`; None when it does not hold `former`."""
    if former.isascii() and content.isascii():
        pair = in_memory(former, new, content, value)
        if pair is None:
            return None
        former, new = pair
    span = found_in(former, content)
    of_value = found_in(former, value) if value else None
    if span is None and of_value is None:
        return None
    if span is None and value:
        span = found_in(value, content)
    said = f"{content[: span[0]]}{new}{content[span[1] :]}" if span else content
    return said, _value(value, of_value, new)


def in_place_of_value(new: str, content: str, value: str | None) -> Wording | None:
    """The memory with `new` for its value; None when its content does not tell the value."""
    span = found_in(value, content) if value else None
    return (
        None if span is None else (f"{content[: span[0]]}{new}{content[span[1] :]}", _value(value, None, new))
    )


def _value(value: str | None, span: tuple[int, int] | None, new: str) -> str | None:
    if value is None:
        return None
    if span is not None:
        return f"{value[: span[0]]}{new}{value[span[1] :]}"
    amounts = [one for one in find_quantities(new) if one.unit == "money"]
    return canonical(amounts[0]) if amounts else new


def found_in(words: str, text: str) -> tuple[int, int] | None:
    """Where the words stand in the text (half-open, in the text's own code points); None for nowhere."""
    norm = normalise(text)
    for match in _pattern(words).finditer(norm.text):
        if _numbers(match.group()) == _numbers(normalise(words).text):
            return norm.span(*match.span())
    return None


@lru_cache(maxsize=4096)
def _pattern(words: str) -> re.Pattern[str]:
    """The words with any numeral for a numeral, and 号 for 日."""
    plain = normalise(words).text.strip()
    parts = [
        re.escape(part).replace("号", "[号日]").replace("日", "[号日]") for part in _NUMERAL.split(plain)
    ]
    parts = [part.replace("[号[号日]]", "[号日]") for part in parts]
    shape = _NUMERAL_SOURCE.join(parts) or "(?!)"
    return re.compile(rf"(?<![0-9a-z]){shape}(?![0-9a-z])" if plain.isascii() and plain.isalpha() else shape)


def _numbers(text: str) -> list[float | None]:
    return [_number(match.group()) for match in _NUMERAL.finditer(text)]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return chinese_number(text)
