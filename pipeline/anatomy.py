"""A turn laid open: what the gate sees of it before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..domain.candidate import Signal
from ..domain.ports import Prepared
from .extract.reading import Reading, Spoken, orders
from .segment import Clause
from .signals import to_signals


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A stretch that is shown and not said; half-open code points of the turn's stored text."""

    start: int
    end: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time expression, resolved against the turn's clock: half-open `[start, end)`, None is open."""

    text: str
    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, slots=True)
class SeenClause:
    """A clause of the user's; offsets as in `ShownPart`. `about` is who it is about."""

    start: int
    end: int
    text: str
    about: str
    question: bool
    order: bool
    signals: tuple[Signal, ...]
    times: tuple[NamedTime, ...]


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The masked text in parts: clauses in their order, and what was set apart.

    `cut` says why not everything was looked at, None when it was.
    """

    text: str
    masked: Sequence[str]
    clauses: Sequence[SeenClause]
    shown: Sequence[ShownPart]
    cut: str | None


def anatomy(prepared: Prepared) -> Anatomy:
    """Read a turn as the rules read it."""
    reading = Reading.of(prepared)
    clauses = [
        _clause(reading, spoken, index, clause)
        for spoken in reading.spoken
        for index, clause in enumerate(spoken.sentence.clauses)
    ]
    shown = []
    for part in reading.parts.material:
        start, end = reading.parts.norm.span(part.start, part.end)
        shown.append(ShownPart(start, end, part.kind, prepared.text[start:end]))
    return Anatomy(prepared.text, prepared.masked, clauses, shown, reading.parts.cut)


def _clause(reading: Reading, spoken: Spoken, index: int, clause: Clause) -> SeenClause:
    norm, begin = reading.parts.norm, spoken.sentence.start
    # Emoji and marks behind a sentence say how its last clause is meant.
    last = index == len(spoken.sentence.clauses) - 1
    until = spoken.sentence.tail if last else clause.end
    seen = [one for one in spoken.seen if clause.start <= begin + one.start and begin + one.end <= until]
    start, end = norm.span(clause.start, clause.end)
    text = reading.prepared.text[start:end]
    subject = spoken.subjects[index]
    return SeenClause(
        start=start,
        end=end,
        text=text,
        about=f"{subject.kind} ({subject.words})" if subject.words else subject.kind,
        question=clause.question,
        order=orders(clause.text, spoken.sentence.pieces),
        signals=to_signals(seen, norm, begin),
        times=tuple(
            NamedTime(text[one.span_start : one.span_end], one.start, one.end) for one in reading.times(text)
        ),
    )
