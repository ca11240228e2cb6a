"""Which words of an English memory a contrast is about, and what stands in their place."""

from __future__ import annotations

import re

from .numerals import english_number

_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_NUMBER = re.compile(
    rf"(?<![a-z0-9])(?:[0-9]+(?:[.,][0-9]+)*(?=k?(?:st|nd|rd|th)?(?![0-9a-z]))"
    rf"|(?:{_UNITS}|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
    rf"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:{_UNITS}))?)(?![a-z]))",
    re.I,
)
_EMPTY = re.compile(
    r"(?:the|an?|in|on|at|to|of|it|this|that|these|those|me|you|him|her|them|us|i|we|he|she|my|user|users?['’]s|is|are"
    r"|was|were|has|have|not|yes|no|so|here|there|now|then|sure|good|bad|one|year|years|week|month|day|time|times)",
    re.I,
)
_CLAUSE = re.compile(r"(?:i|we|my|our|it|he|she|they|you|[a-z]+s? (?:a|the|to|in|at|for))(?![a-z])", re.I)


def in_memory(former: str, new: str, content: str, value: str | None) -> tuple[str, str] | None:
    """The words of a memory that were so, as it spells them, and what is so; None when it holds none.

    A number is known again in another spelling; other words are shortened from the front until the
    memory holds them ("teach physics" in "The user teaches physics").
    """
    wrong, right = _NUMBER.search(former), _NUMBER.search(new)
    if wrong is not None:
        return None if right is None else _number(wrong.group(), right.group(), content)
    words = former.split()
    for first in range(len(words)):
        part = " ".join(words[first:])
        if len(part) < 3 or all(_EMPTY.fullmatch(word) for word in part.split()):
            return None
        match = _whole(part).search(content) or (_whole(part).search(value) if value else None)
        if match is not None:
            return match.group(), _as_long_as(new, part)
    return None


def shares_words(quoted: str, content: str) -> bool:
    """Whether both have a longer word in common, endings left aside."""
    mine, theirs = ({word[:5] for word in re.findall(r"[a-z]{4,}", one.lower())} for one in (quoted, content))
    return not mine.isdisjoint(theirs)


def has_number(words: str) -> bool:
    """Whether the words name a number."""
    return _NUMBER.search(words) is not None


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.I)


def _number(wrong: str, right: str, content: str) -> tuple[str, str] | None:
    asked = english_number(wrong.lower())
    for held in _NUMBER.finditer(content):
        if asked is not None and english_number(held.group().lower()) == asked:
            return held.group(), right
    return None


def _as_long_as(new: str, former: str) -> str:
    """Of "I teach chemistry", set against "physics", the chemistry."""
    words = new.split()
    if _CLAUSE.match(new) and len(words) > len(former.split()):
        return " ".join(words[-len(former.split()) :])
    return new
