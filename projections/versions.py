"""`memory_versions`: every version ever, and when which version was known to hold.

The second is bitemporal. Each event that changes what holds closes the rows that are gone and opens
the new ones at its position, so that an undo needs no rule of its own: it changes what holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..domain.events import Created, Expired, RolledBack, Superseded, Updated
from ..domain.history import ChainFold, Period, struck_versions
from ..domain.memory import Memory
from ..domain.stream import RecordedEvent
from .rows import PeriodRow, VersionRow

Known = Sequence[PeriodRow]
"""The rows of one memory that are known at a position, one for each period, ascending by `valid_from`."""


_CHANGES_WHAT_HOLDS = frozenset({Created, Updated, Superseded, Expired, RolledBack})


class PeriodFold:
    """Closes and opens period rows event by event.

    Args:
        past: The memory before the events.
        known: Its rows that are known; None where they are stored, and read when one of them closes.
        stored: Reads them.
    """

    def __init__(self, past: Memory, known: Known | None, stored: Callable[[], Known]) -> None:
        self._memory_id, self._stored = past.memory_id, stored
        self._entries = list(past.entries)
        self._chain = _folded(past.entries, past.struck)
        self._periods, self._standing = list(self._chain.periods), self._chain.standing
        self._rows: list[PeriodRow | None] = list(known) if known is not None else [None] * len(self._periods)
        self._last = past.entries[-1].position if past.entries else 0
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

    def add(self, entry: RecordedEvent) -> None:
        """Take the next event in."""
        self._entries.append(entry)
        kind = type(entry.event)
        if kind not in _CHANGES_WHAT_HOLDS:
            return
        if kind is RolledBack:
            self._chain = _folded(self._entries, struck_versions(self._entries))
            kept = 0
        else:
            kept = self._chain.add(entry, in_force=True)
        same = self._chain.standing == self._standing
        self._standing = self._chain.standing
        kept = kept if same else 0
        former, present = self._periods[kept:], self._chain.periods[kept:]
        if former == present and same:
            return
        if None in self._rows[kept:]:
            self._rows = _filled(self._rows, self._stored())
        rows = dict(zip(former, self._rows[kept:], strict=True)) if same else {}
        gone = self._rows[kept:]
        self._periods[kept:] = present
        self._rows[kept:] = [rows.get(period) or self._row(period, entry.position) for period in present]
        stays = {id(row) for row in self._rows[kept:]}
        for row in gone:
            assert row is not None
            if id(row) not in stays:
                ended = replace(row, known_to=entry.position)
                (self._passed if row.known_from > self._last else self.closed).append(ended)

    def _row(self, period: Period, position: int) -> PeriodRow:
        version = self._chain.versions[period.version - 1]
        scope = version.statement.scope
        return PeriodRow(
            memory_id=self._memory_id,
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
