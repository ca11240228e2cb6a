"""`memory_versions`: every version ever, and when which version was known to hold.

The second is bitemporal. Each event that changes what holds closes the rows that are gone and opens
the new ones at its position, so that an undo needs no rule of its own: it changes what holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..domain.errors import ProjectionDamagedError
from ..domain.events import Created, Expired, RolledBack, Superseded, Updated
from ..domain.history import ChainFold, Period, Standing, Version, standing, struck_versions
from ..domain.memory import Memory
from ..domain.stream import RecordedEvent
from .rows import PeriodRow, VersionRow

Known = Sequence[PeriodRow]
"""The rows of one memory that are known at a position, one for each period, ascending by `valid_from`."""


_CHANGES_WHAT_HOLDS = frozenset({Created, Updated, Superseded, Expired, RolledBack})


class PeriodFold:
    """Closes and opens the period rows of one memory.

    Args:
        past: The memory before the events.
        known: Its rows that are known; None where they are stored, and read when one of them closes.
        stored: Reads them.
    """

    def __init__(self, past: Memory, known: Known | None, stored: Callable[[], Known]) -> None:
        self._past, self._stored = past, stored
        self._periods: list[Period] = []
        self._standing, self._last = standing(None, None), 0
        if past.entries:
            self._periods, self._last = list(past.periods), past.entries[-1].position
            self._standing = standing(past.current, past.closing)
        self._rows: list[PeriodRow | None] = list(known) if known is not None else [None] * len(self._periods)
        self.closed: list[PeriodRow] = []
        """Rows of earlier events that are known no longer, as they are stored but for `known_to`."""
        self._passed: list[PeriodRow] = []

    @property
    def opened(self) -> list[PeriodRow]:
        """Rows that the events opened, those that they closed again included."""
        return self._passed + [row for row in self._rows if row is not None and row.known_from > self._last]

    @property
    def known(self) -> Known | None:
        """What is known after the events; None where some of it was not read."""
        rows = [row for row in self._rows if row is not None]
        return rows if len(rows) == len(self._rows) else None

    def fold(self, entries: Sequence[RecordedEvent], after: Memory) -> None:
        """Take in the events that lead to the memory `after`."""
        changing = [entry for entry in entries if type(entry.event) in _CHANGES_WHAT_HOLDS]
        if len(changing) == 1:
            self._step(
                changing[0].position, 0, after.periods, after.versions, standing(after.current, after.closing)
            )
            return
        chain, seen = self._past.going_on(), list(self._past.entries)
        for entry in entries:
            seen.append(entry)
            kind = type(entry.event)
            if kind is RolledBack:
                chain, kept = _folded(seen, struck_versions(seen)), 0
            elif kind in _CHANGES_WHAT_HOLDS:
                kept = chain.add(entry, in_force=True)
            else:
                continue
            self._step(entry.position, kept, chain.periods, chain.versions, chain.standing)

    def _step(
        self,
        position: int,
        kept: int,
        periods: Sequence[Period],
        versions: Sequence[Version],
        status: Standing,
    ) -> None:
        """One event: `periods` hold after it, of which the first `kept` are sure to be as before."""
        same = status == self._standing
        self._standing = status
        kept = kept if same else 0
        common = min(len(self._periods), len(periods))
        while same and kept < common and self._periods[kept] == periods[kept]:
            kept += 1
        former, present = self._periods[kept:], periods[kept:]
        if not former and not present:
            return
        if None in self._rows[kept:]:
            self._rows = _filled(self._rows, self._stored())
        gone = self._rows[kept:]
        rows = dict(zip(former, gone, strict=True)) if same else {}
        self._periods[kept:] = present
        self._rows[kept:] = [
            rows.get(period) or self._row(period, versions[period.version - 1], position)
            for period in present
        ]
        stays = {id(row) for row in self._rows[kept:]}
        for row in gone:
            assert row is not None
            if id(row) not in stays:
                ended = replace(row, known_to=position)
                (self._passed if row.known_from > self._last else self.closed).append(ended)

    def _row(self, period: Period, version: Version, position: int) -> PeriodRow:
        scope = version.statement.scope
        return PeriodRow(
            memory_id=self._past.memory_id,
            number=period.version,
            kind=version.kind,
            status=self._standing,
            scope_kind=scope.kind,
            scope_anchor=scope.anchor,
            valid_from=period.valid_from,
            valid_to=period.valid_to,
            known_from=position,
            known_to=None,
            said_pos=version.entry.position,
        )


def _folded(entries: Sequence[RecordedEvent], struck: frozenset[int]) -> ChainFold:
    chain = ChainFold()
    for entry in entries:
        chain.add(entry, in_force=entry.stream_version not in struck)
    return chain


def _filled(rows: Sequence[PeriodRow | None], stored: Known) -> list[PeriodRow | None]:
    """The rows, with those that were not read yet: what was not touched stands where it stood."""
    if len(stored) < len(rows):
        raise ProjectionDamagedError("periods of a memory are missing")
    return [stored[place] if row is None else row for place, row in enumerate(rows)]


def strikes(entries: Sequence[RecordedEvent]) -> dict[int, str]:
    """By stream version of each event that is undone: the first batch in force that undid it."""
    struck = struck_versions(entries)
    batches: dict[int, str] = {}
    for entry in entries:
        if isinstance(entry.event, RolledBack) and entry.stream_version not in struck:
            for name in entry.event.names:
                batches.setdefault(name, entry.event.batch_id)
    return batches


def version_rows(memory: Memory, *, after: int = 0) -> list[VersionRow]:
    """The versions with a number greater than `after`, ascending; those that are undone too."""
    struck, erased = strikes(memory.entries), memory.status == "erased"
    rows = []
    for version in memory.versions[after:]:
        entry, event = version.entry, version.entry.event
        assert isinstance(event, Created | Updated)
        rows.append(
            VersionRow(
                memory_id=memory.memory_id,
                number=version.number,
                stream_version=entry.stream_version,
                position=entry.position,
                recorded_at=entry.recorded_at,
                kind=version.kind,
                of=event.of if isinstance(event, Updated) else None,
                in_force=version.in_force,
                struck_by=struck.get(entry.stream_version),
                actor=event.actor,
                correlation_id=event.correlation_id,
                policy=event.policy,
                based_on=event.based_on,
                caused_by=event.caused_by,
                statement=None if erased else version.statement,
            )
        )
    return rows
