"""Whether two spellings name one value: in full and for short, with and without what goes without saying."""

from __future__ import annotations

import re

from ..domain.policy import ValueRules
from ..domain.slot import fold_value
from .text import is_han, normalise

_WORD = re.compile(r"[a-z0-9]+")

_SHORT = 2
"""Hanzi of an abbreviation such as 幼师: one of the beginning and the last one of the full name."""

_INITIALS = 3
"""Letters from which initials (NYC) are taken for the name; two letters stand for too much."""


def is_one_value(mine: str, theirs: str, rules: ValueRules) -> bool:
    """Whether one is the other, its abbreviation, its initials, or differs by an ending such as 市."""
    one, other = _bare(mine, rules), _bare(theirs, rules)
    if not one or not other:
        return False
    if one == other:
        return True
    short, full = sorted((one, other), key=len)
    return _abbreviates(short, full) or _initials(short, full)


def _bare(value: str, rules: ValueRules) -> str:
    text = normalise(value).text.strip()
    ending = next((e for e in rules.endings if text.endswith(e) and len(text) >= len(e) + 2), "")
    text = text.removesuffix(ending)
    words = [word for word in text.split() if word not in rules.leading] if text.isascii() else [text]
    return " ".join(words)


def _abbreviates(short: str, full: str) -> bool:
    """幼师 for 幼儿园老师: its first and its last character, and no other."""
    if len(short) != _SHORT or len(full) <= _SHORT or not all(is_han(one) for one in short + full):
        return False
    return short[0] == full[0] and short[-1] == full[-1]


def _initials(short: str, full: str) -> bool:
    words = _WORD.findall(full)
    return (
        len(short) >= _INITIALS
        and len(words) == len(short)
        and "".join(w[0] for w in words) == fold_value(short)
    )
