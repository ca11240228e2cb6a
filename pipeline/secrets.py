"""Finds values that let somebody in or find somebody, and masks them before anything is stored.

The rules are data (`lexicon/secrets.toml`): a pattern says where such a value may stand, a validator
whether it is one. A word such as 密码 or "token" is none by itself.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from .text import normalise

PLACEHOLDER = "■"
"""Stands for one masked code point, so that offsets hold after masking."""

_FRAGMENT = re.compile(r"\{([a-z_]+)\}")
_HAN_CLASS = "\u3400-\u4dbf\u4e00-\u9fff"
_CODE = re.compile(
    r"[A-Za-z_][\w.]*[(\[]|\$\{?[A-Z_a-z]+\}?$|<[^>]*>?$|\{\{?|%\w|\*+$|x+$|\.+$|os\.|process\."
)
_MIN_ENTROPY = 3.0  # bits a character; English identifiers of 12 characters and more mostly lie below


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret in the original text: code points, half-open."""

    start: int
    end: int
    kind: str
    rule_id: str


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One rule with the examples that it is tested by."""

    rule_id: str
    kind: str
    description: str
    pattern: re.Pattern[str]
    validator: str
    positive: tuple[tuple[str, str], ...]
    """Text, and the part of it that this rule masks."""
    negative: tuple[str, ...]
    """Texts in which no rule finds anything."""

    def spans(self, text: str) -> Iterable[tuple[int, int]]:
        """Spans of the secrets that this rule sees in a normalised text (case kept), in order."""
        holds = _VALIDATORS[self.validator]
        for match in self.pattern.finditer(text):
            for group in ("s", "s2"):
                if group in self.pattern.groupindex and match[group] and holds(match[group]):
                    yield match.span(group)


def find_secrets(text: str) -> tuple[SecretSpan, ...]:
    """The secrets in `text`, in order, none overlapping; empty when there are none.

    Where several rules see parts of one value, the span covers them all and carries the kind and the
    rule that comes first in the table among those that start first.
    """
    norm = normalise(text, fold_case=False)
    found: list[SecretSpan] = []
    for rule in secret_rules():
        for start, end in rule.spans(norm.text):
            found.append(SecretSpan(*norm.span(start, end), rule.kind, rule.rule_id))
    return _merged(sorted(found, key=lambda secret: secret.start))


def mask(text: str, spans: Iterable[SecretSpan]) -> str:
    """`text` with one `PLACEHOLDER` for each code point within `spans`; as long as before."""
    characters = list(text)
    for secret in spans:
        characters[secret.start : secret.end] = PLACEHOLDER * (secret.end - secret.start)
    return "".join(characters)


@cache
def secret_rules() -> tuple[SecretRule, ...]:
    """The rules in the order of the table."""
    table = _table()
    fragments = {**table["fragments"], "han": _HAN_CLASS}
    return tuple(_rule(entry, fragments) for entry in table["rule"])


def _merged(secrets: Iterable[SecretSpan]) -> tuple[SecretSpan, ...]:
    merged: list[SecretSpan] = []
    for secret in secrets:
        if not merged or secret.start >= merged[-1].end:
            merged.append(secret)
        elif secret.end > merged[-1].end:
            first = merged[-1]
            merged[-1] = SecretSpan(first.start, secret.end, first.kind, first.rule_id)
    return tuple(merged)


@cache
def _table() -> dict[str, Any]:
    path = resources.files(__package__).joinpath("lexicon/secrets.toml")
    return tomllib.loads(path.read_text("utf-8"))


@cache
def _words_about_passwords() -> frozenset[str]:
    return frozenset(_table()["words"]["not_a_password"])


def _rule(entry: Mapping[str, Any], fragments: Mapping[str, str]) -> SecretRule:
    pattern = _FRAGMENT.sub(lambda match: fragments[match[1]], entry["pattern"])
    return SecretRule(
        rule_id=entry["id"],
        kind=entry["kind"],
        description=entry["description"],
        pattern=re.compile(pattern, 0 if entry.get("case") else re.IGNORECASE),
        validator=entry.get("validator", "any"),
        positive=tuple((text, secret) for text, secret in entry["positive"]),
        negative=tuple(entry["negative"]),
    )


def _digits(value: str) -> list[int]:
    return [int(ch) for ch in value if ch in "0123456789"]


def _any(value: str) -> bool:
    return True


def _luhn(digits: list[int]) -> bool:
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _card_number(value: str) -> bool:
    digits = _digits(value)
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and _luhn(digits)


def _chinese_id_checksum(value: str) -> bool:
    """GB 11643-1999: ISO 7064, MOD 11-2."""
    characters = [ch for ch in value.upper() if ch.isalnum()]
    total = sum(int(ch) * pow(2, 17 - index, 11) for index, ch in enumerate(characters[:17]))
    return "10X98765432"[total % 11] == characters[17]


def _iban_checksum(value: str) -> bool:
    """ISO 13616: the rotated number, letters as 10…35, leaves 1 modulo 97."""
    plain = value.replace(" ", "").upper()
    return 15 <= len(plain) <= 34 and int("".join(str(int(ch, 36)) for ch in plain[4:] + plain[:4])) % 97 == 1


def _phone_length(value: str) -> bool:
    """E.164 allows 15 digits; below 7 it is an extension. A date or a time is no number to call."""
    bare = re.split(r"\s?(?:x|ext)", value)[0]
    looks_like_date = re.match(r"(?:19|20)\d\d[-/. ]\d\d?[-/. ]\d\d?(?!\d)", bare)
    return 7 <= len(_digits(bare)) <= 15 and looks_like_date is None


def _phone_length_with_area(value: str) -> bool:
    """With its trunk 0 a national number has 9 to 12 digits; fewer may be a date or a time."""
    return 9 <= len(_digits(value)) <= 12


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def _random_looking(value: str) -> bool:
    """Letters and digits mixed with little repetition, as in a key: no identifier, no path, no word."""
    has_both = any(ch.isdigit() for ch in value) and any(ch.isalpha() for ch in value)
    return has_both and _entropy(value) >= _MIN_ENTROPY and not re.fullmatch(r"[a-z_.-]+\d{0,2}", value)


def _is_code(value: str) -> bool:
    """A variable, a call, a template or stars stand for a value and are none."""
    return _CODE.match(value) is not None


def _password_value(value: str) -> bool:
    """After "is" or a colon anything is a password that is no word about passwords and no code."""
    bare = value.strip("\"'`,.!?;:()").lower()
    return len(bare) >= 3 and bare not in _words_about_passwords() and not _is_code(value)


def _password_like(value: str) -> bool:
    """Without "is" only what no word looks like: a digit, or a sign or capital within."""
    if not _password_value(value):
        return False
    bare = value.rstrip(",.!?;:)")
    has_digit = any(ch.isdigit() for ch in bare)
    odd_sign = re.search(r"[A-Za-z0-9][!@#$%^&*+=~]|[@#$%^&*+=~][A-Za-z0-9]", value)
    mixed_case = re.search(r"[a-z][A-Z]", bare) and not bare.isalpha()
    return has_digit or bool(odd_sign) or bool(mixed_case)


def _place_with_number(value: str) -> bool:
    has_number = re.search(r"[0-9〇零一二三四五六七八九十]+[号栋幢座室单组楼弄巷]", value)
    return has_number is not None and re.search(f"[{_HAN_CLASS}]{{3}}", value) is not None


def _place_with_name(value: str) -> bool:
    """A house number and a name with a capital, as in '12 Long Wall'."""
    named = re.search(r"\s[A-ZÀ-ÞΑ-Ω][\w'-]{2}", value)
    numbered_twice = re.match(r"\d{1,6}\s+[^\W\d]{4,}\s+\d{1,4}(?!\w)", value)
    return named is not None or numbered_twice is not None


def _street_in_english(value: str) -> bool:
    """In lower case only the plainest words for a street are trusted."""
    if re.search(r"\s[A-Z][\w'.-]*", value):
        return True
    return re.search(r"\s(?:street|avenue|ave|road|rd|boulevard|blvd|lane|drive)(?![a-z])", value) is not None


_VALIDATORS: Mapping[str, Callable[[str], bool]] = {
    "any": _any,
    "card_number": _card_number,
    "chinese_id_checksum": _chinese_id_checksum,
    "iban_checksum": _iban_checksum,
    "password_like": _password_like,
    "password_value": _password_value,
    "phone_length": _phone_length,
    "phone_length_with_area": _phone_length_with_area,
    "place_with_name": _place_with_name,
    "place_with_number": _place_with_number,
    "random_looking": _random_looking,
    "street_in_english": _street_in_english,
}
