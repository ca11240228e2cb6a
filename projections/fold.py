"""One owner's new events become changes of rows. Pure: what was known before is handed in.

The changes do not depend on how the events are cut into pieces: folding them one by one, by turn or
by the thousand leaves the same rows. That is what makes a rebuild comparable with the live rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..domain.events import (
    BatchClosed,
    BatchOpened,
    Created,
    Endorsed,
    Erased,
    Expired,
    Judged,
    ProcessChanged,
    Proposed,
    RolledBack,
    Superseded,
    TaskChanged,
    Updated,
)
from ..domain.history import struck_versions
from ..domain.memory import Memory
from ..domain.stream import RecordedEvent
from .decisions import batch_row, closes, decision_row, turn_row
from .memories import Shaping, memory_row
from .rows import BatchRow, DecisionRow, MemoryRow, PeriodRow, TurnRow, VersionRow
from .versions import CHANGES_WHAT_HOLDS, Holding, holdings, opened, strikes, version_rows


@dataclass(frozen=True, slots=True)
class Past:
    """A stream's earlier events, and the stored period rows that are still known of it.

    `known` is None where the rows were not looked up; they are asked for when they are needed.
    """

    memory: Memory
    known: Sequence[PeriodRow] | None = None


Before = Callable[[str, int], Past]
"""`before(stream_id, stream_version)`: the stream with exactly its events before that version; called
only for versions above 1."""


@dataclass(frozen=True, slots=True)
class Strike:
    """A recorded decision is undone by a batch, or stands again (None)."""

    stream_id: str
    stream_version: int
    struck_by: str | None


@dataclass(slots=True)
class Changes:
    """What is to be done to one owner's rows, in this order of the fields.

    `closed` ends what is known of rows stored earlier; `erased` names memories whose stored periods
    go and whose stored decisions lose their content. All other rows replace what has their key.
    """

    memories: list[MemoryRow] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    """Streams that are no memory any more, since all that made them one was undone."""
    versions: list[VersionRow] = field(default_factory=list)
    closed: list[PeriodRow] = field(default_factory=list)
    """Rows as they are stored but for `known_to`, which is now known."""
    periods: list[PeriodRow] = field(default_factory=list)
    decisions: list[DecisionRow] = field(default_factory=list)
    strikes: list[Strike] = field(default_factory=list)
    turns: list[TurnRow] = field(default_factory=list)
    batches_closed: list[tuple[str, int, int]] = field(default_factory=list)
    """Batch, position and number of events written, for batches stored earlier."""
    batches: list[BatchRow] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)
    folded: dict[str, Past] = field(default_factory=dict)
    """The memories after the events, for whoever folds the next ones."""


def fold(
    events: Sequence[RecordedEvent],
    before: Before,
    known_until: Callable[[str], Sequence[PeriodRow]],
    shaping: Shaping,
) -> Changes:
    """Fold new events of one owner, in ascending position.

    Args:
        events: The events.
        before: Gives the earlier events of a stream that has any.
        known_until: The stored period rows of a memory that are still known (`known_to` None).
        shaping: What rows depend on besides the events.
    """
    streams: dict[str, list[RecordedEvent]] = {}
    for entry in events:
        streams.setdefault(entry.stream_id, []).append(entry)
    changes = Changes()
    for stream_id, entries in streams.items():
        _Stream(stream_id, entries, before, changes).fold(known_until, shaping)
    return changes


StreamKind = Literal["memory", "turn", "ledger"]


def kind_of(entries: Sequence[RecordedEvent]) -> StreamKind | None:
    """What a stream is, by its events; None while that cannot be told from these."""
    for entry in entries:
        event = entry.event
        if isinstance(event, Created | Updated | Superseded | Expired | Endorsed | Erased):
            return "memory"
        if isinstance(event, Proposed):
            return "memory" if event.target == entry.stream_id else "turn"
        if isinstance(event, Judged):
            return "turn"
        if isinstance(event, TaskChanged | ProcessChanged | BatchOpened | BatchClosed):
            return "ledger"
    return None


class _Stream:
    """New events of one stream on top of its earlier ones."""

    def __init__(
        self, stream_id: str, entries: Sequence[RecordedEvent], before: Before, changes: Changes
    ) -> None:
        self._stream_id, self._entries, self._changes = stream_id, entries, changes
        self._kind = kind_of(entries)
        first = entries[0].stream_version
        # A ledger's rows come from single events, so its past is not asked for.
        if first == 1 or self._kind == "ledger":
            past = Past(Memory(stream_id), ())
        else:
            past = before(stream_id, first)
        self._before, self._known = past.memory, past.known
        self._kind = self._kind or kind_of(self._before.entries)

    def fold(self, known_until: Callable[[str], Sequence[PeriodRow]], shaping: Shaping) -> None:
        if self._kind == "memory":
            self._fold_memory(known_until, shaping)
        elif self._kind == "turn":
            whole = (*self._before.entries, *self._entries)
            row = turn_row(whole, struck_versions(whole))
            if row is not None:
                self._changes.turns.append(row)
            self._fold_decisions(whole, erased=False)
        elif self._kind == "ledger":
            self._fold_batches()

    def _fold_memory(self, known_until: Callable[[str], Sequence[PeriodRow]], shaping: Shaping) -> None:
        changes, before = self._changes, self._before
        after = self._fold_periods(known_until)
        row = memory_row(after, shaping)
        if row is not None:
            changes.memories.append(row)
        elif before.entries:
            changes.gone.append(self._stream_id)
        erased = any(isinstance(entry.event, Erased) for entry in self._entries)
        if erased:
            changes.erased.append(self._stream_id)
        touches_all = erased or any(isinstance(entry.event, RolledBack) for entry in self._entries)
        changes.versions += version_rows(after, after=0 if touches_all else len(before.versions))
        self._fold_decisions(after.entries, erased=after.status == "erased")
        changes.folded[self._stream_id] = Past(after, self._known)

    def _fold_periods(self, known_until: Callable[[str], Sequence[PeriodRow]]) -> Memory:
        """Close and open period rows event by event; return the memory after all of them."""
        memory, waiting = self._before, []
        present: frozenset[Holding] | None = None
        fresh: dict[Holding, PeriodRow] = {}
        stored = None if self._known is None else {_holding(row): row for row in self._known}
        for entry in self._entries:
            waiting.append(entry)
            if not isinstance(entry.event, CHANGES_WHAT_HOLDS):
                continue
            present = holdings(memory) if present is None else present
            memory = memory.evolve(waiting)
            waiting = []
            after = holdings(memory)
            for gone in present - after:
                if gone in fresh:
                    self._changes.periods.append(replace(fresh.pop(gone), known_to=entry.position))
                    continue
                if stored is None:
                    stored = {_holding(row): row for row in known_until(self._stream_id)}
                self._changes.closed.append(replace(stored.pop(gone), known_to=entry.position))
            new = after - present
            for row in opened(memory, new, entry.position):
                fresh[_holding(row)] = row
            present = after
        self._changes.periods += fresh.values()
        self._known = None if stored is None else (*stored.values(), *fresh.values())
        if memory.status == "erased":
            self._changes.periods = [r for r in self._changes.periods if r.memory_id != self._stream_id]
            self._changes.closed = [r for r in self._changes.closed if r.memory_id != self._stream_id]
        return memory.evolve(waiting) if waiting else memory

    def _fold_decisions(self, whole: Sequence[RecordedEvent], *, erased: bool) -> None:
        undoes = any(isinstance(entry.event, RolledBack) for entry in self._entries)
        struck = strikes(whole) if undoes else {}
        for entry in self._entries:
            row = decision_row(entry, struck.get(entry.stream_version), erased=erased)
            if row is not None:
                self._changes.decisions.append(row)
        if not undoes:
            return
        formerly = strikes(self._before.entries)
        for entry in self._before.entries:
            now = struck.get(entry.stream_version)
            decides = isinstance(entry.event, Judged | Proposed)
            if decides and now != formerly.get(entry.stream_version):
                self._changes.strikes.append(Strike(self._stream_id, entry.stream_version, now))

    def _fold_batches(self) -> None:
        opened_here: dict[str, BatchRow] = {}
        for entry in self._entries:
            row, closing = batch_row(entry), closes(entry)
            if row is not None:
                opened_here[row.batch_id] = row
            elif closing is not None and closing.batch_id in opened_here:
                batch = opened_here[closing.batch_id]
                opened_here[closing.batch_id] = replace(
                    batch, closed_pos=entry.position, written=closing.written
                )
            elif closing is not None:
                self._changes.batches_closed.append((closing.batch_id, entry.position, closing.written))
        self._changes.batches += opened_here.values()


def _holding(row: PeriodRow) -> Holding:
    return Holding(row.number, row.status, row.valid_from, row.valid_to)
