"""What a stream's events come to: which are in force, which versions hold, and when.

An event is in force unless an in-force `RolledBack` of its stream names it. The rest follows from
the events in force alone, so that undoing and undoing an undo need no rules of their own.
"""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class _Cut:
    """Nothing painted so far holds from here on."""

    at: datetime


def chain_of(entries: Sequence[RecordedEvent], struck: frozenset[int]) -> Chain:
    """Fold the events of one memory into its version chain."""
    versions: list[Version] = []
    layers: dict[int, Version | _Cut] = {}
    current: Version | None = None
    closing: Closing | None = None
    for entry in entries:
        event, at = entry.event, entry.stream_version
        if isinstance(event, Created | Updated):
            version = _version(entry, event, versions, at not in struck)
            versions.append(version)
            if not version.in_force:
                continue
            layers[version.place] = version
            if version.kind in KEEPS_PLACE:
                if closing is None and (current is None or current.place == version.place):
                    current = version
            elif version.kind != "late":
                current, closing = version, None
        elif at in struck:
            continue
        elif isinstance(event, Superseded):
            current, closing = None, Closing("superseded", entry, event.at, "superseded", event.successor)
            layers[at] = _Cut(event.at)
        elif isinstance(event, Expired):
            current, closing = None, Closing(event.kind, entry, event.at, event.reason)
            if event.kind == "retracted":
                layers.clear()
            else:
                layers[at] = _Cut(event.at)
    return Chain(tuple(versions), current, closing, _paint([layers[place] for place in sorted(layers)]))


def _version(entry: RecordedEvent, event: Event, earlier: Sequence[Version], in_force: bool) -> Version:
    kind: Literal["create"] | UpdateKind = "create"
    place = entry.stream_version
    assert isinstance(event, Created | Updated)
    if isinstance(event, Updated):
        kind = event.kind
        if kind in KEEPS_PLACE and earlier:
            about = event.of if event.of is not None else earlier[-1].number
            place = earlier[min(about, len(earlier)) - 1].place
    return Version(len(earlier) + 1, entry, kind, event.statement, place, in_force)


def _paint(layers: Sequence[Version | _Cut]) -> tuple[Period, ...]:
    """Lay the versions over the axis of valid time in their order; what comes later covers.

    A version that follows closes what held at its start. A late one covers its own past period
    only, up to what was known to begin next, and never reaches beyond the time it was said.
    """
    painted: list[Period] = []
    for layer in layers:
        if isinstance(layer, _Cut):
            painted = _until(painted, layer.at)
            continue
        statement = layer.statement
        start, end = statement.valid_from, statement.end.at
        if layer.kind == "late":
            painted = _overlay(painted, layer.number, start, _late_end(painted, statement))
            continue
        painted = _until(painted, start)
        if end is None or start < end:
            painted.append(Period(layer.number, start, end))
    return tuple(painted)


def _until(painted: Sequence[Period], moment: datetime) -> list[Period]:
    kept = []
    for period in painted:
        if period.valid_from >= moment:
            continue
        if period.valid_to is None or period.valid_to > moment:
            period = Period(period.version, period.valid_from, moment)
        kept.append(period)
    return kept


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
