"""The words that say how something is meant: for how long, for what, how surely, about whom.

The words are data (`lexicon/signals_zh.toml`, `lexicon/signals_en.toml`). An entry has an `id`, a `kind`
(one of the candidate's signal kinds, or `none`: a longer phrase that is no signal although it holds one,
such as 以后再说), fixed `words` and, where those do not reach, `patterns` that are tried only where one of
the entry's `any` words stands. `reach` says how far the signal goes: the `clause` it stands in, the
`sentence` from its clause on, the whole sentence (`around`), or the whole `turn`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

from ..domain.candidate import Signal, SignalKind
from .text import NormText, normalise
from .words import WordIndex

Reach = Literal["clause", "sentence", "around", "turn"]

MAX_SIGNALS = 60
"""Signals looked at per sentence; nobody says more in one, a flood does."""

_FILES = ("signals_zh.toml", "signals_en.toml")

_REACH: dict[str, Reach] = {
    "limiting": "sentence",
    "project": "sentence",
    "family": "around",
    "lasting": "around",
    "everything": "around",
    "passing": "clause",
    "hedge": "around",
    "reported": "sentence",
    "emotion": "around",
    "joke": "around",
    "hypothetical": "sentence",
    "question": "clause",
    "quoted": "clause",
    "third_party": "clause",
    "remember": "around",
    "no_memory": "turn",
    "repetition": "around",
    "exclusive": "clause",
    "change": "around",
    "correction": "around",
    "retraction": "clause",
    "exception": "around",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One lexicon entry; `kind` is None for phrases that only hide shorter signals."""

    id: str
    kind: SignalKind | None
    reach: Reach
    value: str | None
    patterns: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A signal in the normalised text: half-open offsets and the entry that says what it means."""

    start: int
    end: int
    entry: Entry

    def as_signal(self, norm: NormText) -> Signal | None:
        """The signal as a candidate carries it, in the original's words; None for a hiding phrase."""
        if self.entry.kind is None:
            return None
        start, end = norm.span(self.start, self.end)
        return Signal(
            kind=self.entry.kind, text=norm.original[start:end], start=start, end=end, value=self.entry.value
        )


def _entry(raw: dict[str, Any]) -> Entry:
    kind = raw["kind"]
    if kind != "none" and kind not in get_args(SignalKind):
        raise ValueError(f"lexicon entry {raw['id']!r} has the unknown kind {kind!r}")
    return Entry(
        id=raw["id"],
        kind=None if kind == "none" else kind,
        reach=raw.get("reach") or _REACH.get(kind, "clause"),
        value=raw.get("value"),
        patterns=tuple(re.compile(pattern) for pattern in raw.get("patterns", ())),
    )


@cache
def entries() -> tuple[tuple[Entry, tuple[str, ...], tuple[str, ...]], ...]:
    """Every entry with its fixed words and the words that call for its patterns, in file order."""
    folder = resources.files(__package__).joinpath("lexicon")
    found = []
    for name in _FILES:
        for raw in tomllib.loads(folder.joinpath(name).read_text("utf-8")).get("signal", ()):
            words = tuple(normalise(word).text for word in raw.get("words", ()))
            found.append((_entry(raw), words, tuple(raw.get("any", ()))))
    return tuple(found)


@cache
def _index() -> WordIndex[tuple[Entry, bool]]:
    """Words → entry; the flag tells whether the word itself is the signal or only calls for patterns."""
    pairs = [
        (word, (entry, fixed))
        for entry, words, triggers in entries()
        for words_of, fixed in ((words, True), (triggers, False))
        for word in words_of
    ]
    return WordIndex(pairs)


def find_signals(text: str) -> list[Seen]:
    """The signals of a normalised text in order; a phrase hides what stands wholly within it.

    Of two signals of one kind the longer hides the shorter; a `none` phrase hides any kind.
    """
    seen: list[Seen] = []
    called: set[str] = set()
    for start, end, (entry, fixed) in _index().scan(text):
        if fixed:
            seen.append(Seen(start, end, entry))
        elif entry.id not in called:
            called.add(entry.id)
            for pattern in entry.patterns:
                seen += [Seen(m.start(), m.end(), entry) for m in pattern.finditer(text) if m.group()]
    if len(seen) > 1:
        del seen[MAX_SIGNALS:]
        seen = [one for one in seen if not any(_hides(other, one) for other in seen)]
        seen.sort(key=lambda one: (one.start, one.end))
    return seen


def _hides(other: Seen, one: Seen) -> bool:
    if other is one or not (other.start <= one.start and one.end <= other.end):
        return False
    longer = other.end - other.start > one.end - one.start
    if other.entry.kind is None:
        return one.entry.kind is not None and longer
    return other.entry.kind == one.entry.kind and longer


@cache
def _family_words() -> WordIndex[str]:
    raw = tomllib.loads(resources.files(__package__).joinpath("lexicon/families.toml").read_text("utf-8"))
    return WordIndex(
        (normalise(word).text, family["name"]) for family in raw["family"] for word in family["words"]
    )


def family_in(text: str) -> tuple[str, int, int] | None:
    """The family of tasks that a normalised text names and where: the longest word, the first of equals.

    Returns:
        Name (`writing`), and half-open offsets of the word; None when it names none.
    """
    best: tuple[str, int, int] | None = None
    for start, end, name in _family_words().scan(text):
        if best is None or end - start > best[2] - best[1]:
            best = (name, start, end)
    return best


def families_in(text: str) -> list[tuple[str, int, int]]:
    """Every family that a normalised text names, as `family_in` gives it, by where the words begin."""
    return [(name, start, end) for start, end, name in _family_words().scan(text)]


def family_of(words: str | None) -> str | None:
    """The family that a task's name belongs to (`写周报` → `writing`); None when none is known."""
    if not words:
        return None
    found = family_in(normalise(words).text)
    return found[0] if found else None


def to_signals(seen: Iterable[Seen], norm: NormText, offset: int = 0) -> tuple[Signal, ...]:
    """Signals of a candidate from what was seen in a stretch that begins at `offset`."""
    shifted = (Seen(one.start + offset, one.end + offset, one.entry) for one in seen)
    signals = [signal for one in shifted if (signal := one.as_signal(norm)) is not None]
    return tuple(dict.fromkeys(signals))


def kinds_of(seen: Sequence[Seen]) -> frozenset[str]:
    """The kinds among what was seen."""
    return frozenset(one.entry.kind for one in seen if one.entry.kind is not None)
