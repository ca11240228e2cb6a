"""What a stream's events come to: which are in force, which versions hold, and when.

An event is in force unless an in-force `RolledBack` of its stream names it. The rest follows from
the events in force alone, so that undoing and undoing an undo need no rules of their own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .events import Created, Event, Expired, RolledBack, Superseded, Updated
from .statement import Statement
from .stream import RecordedEvent
from .values import UpdateKind

KEEPS_PLACE: frozenset[UpdateKind] = frozenset({"correct", "refine", "merge", "extend", "reweigh"})
"""Kinds that take the place of the version they are about, instead of following it in time."""

CHAIN_EVENTS = Created | Updated | Superseded | Expired
"""What a version chain is made of. Of other events only a `RolledBack` changes it."""


@dataclass(frozen=True, slots=True)
class Version:
    """The n-th statement of a memory. Struck ones stay visible, and nothing is renumbered."""

    number: int
    """Chain version, from 1."""
    entry: RecordedEvent
    kind: Literal["create"] | UpdateKind
    statement: Statement
    place: int
    """Stream version of the event whose place in the order of time it has."""
    late: bool
    """A past period that never is current; what takes the place of such a version is late too."""
    in_force: bool


@dataclass(frozen=True, slots=True)
class Period:
    """When a version holds in the world: `[valid_from, valid_to)`, None for an open end."""

    version: int
    valid_from: datetime
    valid_to: datetime | None

    def holds_at(self, moment: datetime) -> bool:
        """Whether the moment lies in the period."""
        return self.valid_from <= moment and (self.valid_to is None or moment < self.valid_to)


@dataclass(frozen=True, slots=True)
class Closing:
    """How a memory came to hold no more."""

    kind: Literal["ended", "retracted", "superseded"]
    entry: RecordedEvent
    at: datetime
    reason: str
    successor: str | None = None


Standing = Literal["active", "ended", "retracted", "superseded", "withdrawn"]


def standing(current: Version | None, closing: Closing | None) -> Standing:
    """What a memory is of which any version is in force."""
    if current is not None:
        return "active"
    return closing.kind if closing is not None else "withdrawn"


def struck_versions(entries: Sequence[RecordedEvent]) -> frozenset[int]:
    """Stream versions that an in-force `RolledBack` names.

    A `RolledBack` only names earlier events, so one pass from the end settles all of them.
    """
    struck: set[int] = set()
    for entry in reversed(entries):
        if isinstance(entry.event, RolledBack) and entry.stream_version not in struck:
            struck.update(entry.event.names)
    return frozenset(struck)


@dataclass(frozen=True, slots=True)
class Chain:
    """The versions of a stream, what is current, how it closed, and the periods."""

    versions: tuple[Version, ...]
    current: Version | None
    """The version that stands, by the order of events; None when there is none or it closed."""
    closing: Closing | None
    periods: tuple[Period, ...]
    """Disjoint, ascending by `valid_from`."""
    void_before: int
    """The place of the last retraction; versions with an earlier place hold at no time. 0 without one."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """Nothing painted so far holds from here on."""

    at: datetime


class ChainFold:
    """The version chain of a stream, event by event: the cost of one more does not grow with the chain.

    An event that undoes others changes which of the earlier ones are in force: then fold anew.
    """

    def __init__(self) -> None:
        self.versions: list[Version] = []
        self.current: Version | None = None
        self.closing: Closing | None = None
        self._void_before = 0
        self._paint = _Painting()

    @property
    def periods(self) -> Sequence[Period]:
        """When which version holds in the world; disjoint, ascending."""
        return self._paint.periods

    @property
    def standing(self) -> Standing:
        """What the memory is, as long as any version is in force."""
        return standing(self.current, self.closing)

    @property
    def _standing_place(self) -> int:
        """The place that tells what stands; the last one does, of versions and of closings."""
        if self.current is not None:
            return self.current.place
        return self.closing.entry.stream_version if self.closing is not None else 0

    def add(self, entry: RecordedEvent, *, in_force: bool) -> int:
        """Take the next event in.

        Returns:
            How many periods stay as they were, counted from the first; those after them may differ.
        """
        event, at = entry.event, entry.stream_version
        if isinstance(event, Created | Updated):
            version = _version(entry, event, self.versions, in_force)
            self.versions.append(version)
            if not in_force:
                return len(self.periods)
            if not version.late and version.place >= self._standing_place:
                self.current, self.closing = version, None
            if version.place < self._void_before:
                return len(self.periods)
            return self._paint.lay(version.place, version)
        if in_force and isinstance(event, Superseded):
            self.current = None
            self.closing = Closing("superseded", entry, event.at, "superseded", event.successor)
            return self._paint.lay(at, _Cut(event.at))
        if in_force and isinstance(event, Expired):
            self.current, self.closing = None, Closing(event.kind, entry, event.at, event.reason)
            if event.kind == "retracted":
                self._paint, self._void_before = _Painting(), at
                return 0
            return self._paint.lay(at, _Cut(event.at))
        return len(self.periods)

    def branch(self) -> ChainFold:
        """A fold that goes on from here, and leaves this one as it is."""
        branch = ChainFold()
        branch.versions, branch.current, branch.closing = self.versions.copy(), self.current, self.closing
        branch._paint, branch._void_before = self._paint.branch(), self._void_before
        return branch

    def chain(self) -> Chain:
        """What the events so far come to."""
        return Chain(tuple(self.versions), self.current, self.closing, tuple(self.periods), self._void_before)


def _version(entry: RecordedEvent, event: Event, earlier: Sequence[Version], in_force: bool) -> Version:
    kind: Literal["create"] | UpdateKind = "create"
    place, late = entry.stream_version, False
    assert isinstance(event, Created | Updated)
    if isinstance(event, Updated):
        kind, late = event.kind, event.kind == "late"
        if kind in KEEPS_PLACE and earlier:
            about = event.of if event.of is not None else earlier[-1].number
            former = earlier[min(about, len(earlier)) - 1]
            place, late = former.place, former.late
    return Version(len(earlier) + 1, entry, kind, event.statement, place, late, in_force)


class _Painting:
    """Versions laid over the axis of valid time in the order of their places; what comes later covers.

    A version that follows closes what held at its start. A late one covers its own past period
    only: up to what is known to begin next, else up to the time it was said; an end that it names
    counts up to that time too.
    """

    def __init__(self) -> None:
        self.periods: list[Period] = []
        self._places: list[int] = []
        self._layers: list[Version | _Cut] = []
        self._covered: tuple[int, list[Period]] = (0, [])
        """From which period on the last layer changed them, and what stood there before it."""

    def branch(self) -> _Painting:
        """A painting that goes on from here."""
        branch = _Painting()
        branch.periods, branch._covered = self.periods.copy(), self._covered
        branch._places, branch._layers = self._places.copy(), self._layers.copy()
        return branch

    def lay(self, place: int, layer: Version | _Cut) -> int:
        """Put a layer in its place, instead of one that is there.

        Returns:
            How many periods stay as they were.
        """
        index = bisect_left(self._places, place)
        if index == len(self._places):
            self._places.append(place)
            self._layers.append(layer)
            return self._cover(layer)
        if self._places[index] == place:
            self._layers[index] = layer
        else:
            self._places.insert(index, place)
            self._layers.insert(index, layer)
        if index == len(self._layers) - 1:
            start, former = self._covered
            self.periods[start:] = former
            return min(start, self._cover(layer))
        self.periods.clear()
        for each in self._layers:
            self._cover(each)
        return 0

    def _cover(self, layer: Version | _Cut) -> int:
        if isinstance(layer, _Cut):
            return self._until(layer.at)
        statement = layer.statement
        start, end = statement.valid_from, statement.end.at
        if layer.late:
            self._covered = (0, list(self.periods))
            self.periods = _overlay(self.periods, layer.number, start, _late_end(self.periods, statement))
            return 0
        kept = self._until(start)
        if end is None or start < end:
            self.periods.append(Period(layer.number, start, end))
        return kept

    def _until(self, moment: datetime) -> int:
        """Let nothing hold from the moment on."""
        kept = len(self.periods)
        while kept and _reaches(self.periods[kept - 1], moment):
            kept -= 1
        former = self.periods[kept:]
        self._covered = (kept, former)
        # They are disjoint: only the first of those that reach it can have begun before.
        del self.periods[kept:]
        if former and former[0].valid_from < moment:
            self.periods.append(Period(former[0].version, former[0].valid_from, moment))
        return kept


def _reaches(period: Period, moment: datetime) -> bool:
    return period.valid_to is None or period.valid_to > moment or period.valid_from >= moment


def _late_end(painted: Sequence[Period], statement: Statement) -> datetime:
    said_at = statement.provenance.said_at
    if statement.end.at is not None:
        return min(statement.end.at, said_at)
    return min([p.valid_from for p in painted if p.valid_from > statement.valid_from], default=said_at)


def _overlay(painted: Sequence[Period], number: int, start: datetime, end: datetime) -> list[Period]:
    if start >= end:
        return list(painted)
    kept = [Period(number, start, end)]
    for period in painted:
        if period.valid_from < start:
            stop = start if period.valid_to is None else min(period.valid_to, start)
            kept.append(Period(period.version, period.valid_from, stop))
        if period.valid_to is None or period.valid_to > end:
            kept.append(Period(period.version, max(period.valid_from, end), period.valid_to))
    return sorted(kept, key=lambda period: period.valid_from)
