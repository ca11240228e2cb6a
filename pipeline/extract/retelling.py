"""Other ways to say a thing: a fronted object, a dropped subject, read as the plain sentence.

A rule of this sort names in `content` the plain sentence that its groups make up; whatever the rules find
in that sentence is what was said. The evidence stays with the words that the user chose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...domain.candidate import Candidate, SignalKind
from .builders import Changes, builder

if TYPE_CHECKING:
    from .engine import Found

_TAKEN = (
    "kind",
    "intent",
    "subject",
    "attribute",
    "value",
    "former_value",
    "content",
    "polarity",
    "category",
    "importance",
    "stability",
    "process",
    "final",
    "target_words",
    "time",
    "exclusive",
)
"""What the candidate of the plain sentence lends to the one that was said otherwise."""

_KINDS = ("fact", "preference", "state", "plan", "retraction")
_REFUSED: tuple[SignalKind, ...] = ("question", "hypothetical", "third_party", "joke", "quoted", "no_memory")


@builder
def retold(found: Found) -> list[Changes] | None:
    """What the plain sentence says; None when nothing is found in it, or the text is one already."""
    if found.reading.retold:
        return None
    words = _Groups(found)
    plain = " ".join(found.rule.content.format_map(words).split())
    said = found_in_plain(found, plain)
    return [_lent(one) for one in said] or None


def found_in_plain(found: Found, plain: str) -> list[Candidate]:
    """The candidates of a plain sentence in the circumstances of the turn, those that assert something."""
    from .engine import RuleExtractor

    prepared = replace(found.prepared, text=plain, history=())
    candidates = RuleExtractor(retold=True).extract(prepared)
    return [one for one in candidates if one.kind in _KINDS and not one.has(*_REFUSED)]


def _lent(one: Candidate) -> Mapping[str, Any]:
    return {name: getattr(one, name) for name in _TAKEN} | {
        "certainty": None if one.certainty == "certain" else one.certainty
    }


class _Groups(dict[str, str]):
    """The groups of the match in the user's own spelling, untrimmed."""

    def __init__(self, found: Found) -> None:
        super().__init__()
        self._found = found

    def __missing__(self, group: str) -> str:
        return re.sub(r"[,，]", "", self._found.words(group, trim=False))
