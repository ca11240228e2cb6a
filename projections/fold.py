"""One owner's new events become changes of rows. Pure: what was known before is handed in.

The changes do not depend on how the events are cut into pieces: folding them one by one, by turn or
by the thousand leaves the same rows. That is what makes a rebuild comparable with the live rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import BaseModel

from ..domain.events import (
    Created,
    Event,
    Expired,
    Judged,
    Proposed,
    RolledBack,
    Superseded,
    Updated,
)
from ..domain.memory import Memory
from ..domain.statement import Statement
from ..domain.stream import RecordedEvent, StreamKind, kind_of
from .decisions import batch_row, closes, decision_keys
from .memories import Shaping, memory_row
from .rows import BatchRow, DecisionKeys, MemoryRow, PeriodRow
from .versions import Known, PeriodFold, strikes


@dataclass(frozen=True, slots=True)
class Past:
    """A stream's earlier events, and the stored period rows that are still known of it.

    `known` is None where the rows were not looked up; they are asked for when they are needed.
    """

    memory: Memory
    known: Known | None = None


UNREAD: Mapping[type[BaseModel], frozenset[str]] = {
    Judged: frozenset({"judgement"}),
    Proposed: frozenset({"candidate", "caused_by"}),
    Created: frozenset({"based_on", "caused_by"}),
    Updated: frozenset({"based_on", "caused_by"}),
    Superseded: frozenset({"caused_by"}),
    Expired: frozenset({"caused_by"}),
    RolledBack: frozenset({"witness"}),
    Statement: frozenset({"evidence"}),
}
"""What the folds never read, unless `needs_whole` says otherwise."""


def needs_whole(event: Event) -> bool:
    """Whether an event is read whole: a memory without any version shows what was proposed to it.

    What was accepted became a version, so what it was made of is not shown.
    """
    return isinstance(event, Proposed) and event.target is not None and event.outcome != "accepted"


Before = Callable[[str, int], Past]
"""`before(stream_id, stream_version)`: the stream with exactly its events before that version; called
only for versions above 1."""


@dataclass(frozen=True, slots=True)
class Strike:
    """The decision at a position is undone by a batch, or stands again (None)."""

    position: int
    struck_by: str | None


@dataclass(slots=True)
class Changes:
    """What is to be done to one owner's rows, in this order of the fields.

    `closed` ends what is known of rows stored earlier; `erased` names memories whose stored periods go.
    All other rows replace what has their key.
    """

    memories: list[MemoryRow] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    """Streams that are no memory any more, since all that made them one was undone."""
    closed: list[PeriodRow] = field(default_factory=list)
    """Rows as they are stored but for `known_to`, which is now known."""
    periods: list[PeriodRow] = field(default_factory=list)
    decisions: list[DecisionKeys] = field(default_factory=list)
    strikes: list[Strike] = field(default_factory=list)
    batches_closed: list[tuple[str, int, int]] = field(default_factory=list)
    """Batch, position and number of events written, for batches stored earlier."""
    batches: list[BatchRow] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)
    folded: dict[str, Past] = field(default_factory=dict)
    """The memories after the events, for whoever folds the next ones."""


def fold(
    events: Sequence[RecordedEvent],
    before: Before,
    known_until: Callable[[str], Known],
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
        undoes = any(type(entry.event) is RolledBack for entry in entries)
        kind, first = _kind_of(entries), entries[0].stream_version
        # What a ledger or a turn adds comes from single events, unless it undoes earlier ones.
        if kind == "ledger":
            _fold_batches(entries, changes)
            continue
        if kind == "turn" and not undoes:
            changes.decisions += [keys for entry in entries if (keys := decision_keys(entry, None))]
            continue
        past = Past(Memory(stream_id), ()) if first == 1 else before(stream_id, first)
        kind = kind or _kind_of(past.memory.entries)
        if kind == "ledger":
            _fold_batches(entries, changes)
        elif kind is not None:
            stream = _Stream(past, entries, changes, undoes=undoes)
            stream.fold_decisions()
            if kind == "memory":
                stream.fold_memory(known_until, shaping)
    return changes


_NO_STRIKES: dict[int, str] = {}


class _Stream:
    """New events of a turn or a memory on top of its earlier ones."""

    def __init__(
        self, past: Past, entries: Sequence[RecordedEvent], changes: Changes, *, undoes: bool
    ) -> None:
        self._past, self._entries, self._changes, self._undoes = past, entries, changes, undoes
        self._stream_id = past.memory.memory_id

    def fold_memory(self, known_until: Callable[[str], Known], shaping: Shaping) -> None:
        changes, before = self._changes, self._past.memory
        after = before.evolve(self._entries)
        row = memory_row(after, shaping)
        if row is not None:
            changes.memories.append(row)
        elif before.entries:
            changes.gone.append(self._stream_id)
        known = self._fold_periods(after, known_until)
        changes.folded[self._stream_id] = Past(after, known)

    def _fold_periods(self, after: Memory, known_until: Callable[[str], Known]) -> Known | None:
        if after.erased:
            if self._past.memory.entries:
                self._changes.erased.append(self._stream_id)
            return ()
        fold = PeriodFold(self._past.memory, self._past.known, lambda: known_until(self._stream_id))
        fold.fold(self._entries, after)
        self._changes.closed += fold.closed
        self._changes.periods += fold.opened
        return fold.known

    def fold_decisions(self) -> None:
        earlier = self._past.memory.entries
        struck = strikes((*earlier, *self._entries)) if self._undoes else _NO_STRIKES
        for entry in self._entries:
            keys = decision_keys(entry, struck.get(entry.stream_version))
            if keys is not None:
                self._changes.decisions.append(keys)
        if not self._undoes:
            return
        formerly = strikes(earlier)
        for entry in earlier:
            now = struck.get(entry.stream_version)
            decides = isinstance(entry.event, Judged | Proposed)
            if decides and now != formerly.get(entry.stream_version):
                self._changes.strikes.append(Strike(entry.position, now))


def _kind_of(entries: Sequence[RecordedEvent]) -> StreamKind | None:
    """What a stream is, by its events; None while that cannot be told from these."""
    return next((kind for entry in entries if (kind := kind_of(entry)) is not None), None)


def _fold_batches(entries: Sequence[RecordedEvent], changes: Changes) -> None:
    opened_here: dict[str, BatchRow] = {}
    for entry in entries:
        row, closing = batch_row(entry), closes(entry)
        if row is not None:
            opened_here[row.batch_id] = row
        elif closing is not None and closing.batch_id in opened_here:
            batch = opened_here[closing.batch_id]
            opened_here[closing.batch_id] = replace(batch, closed_pos=entry.position, written=closing.written)
        elif closing is not None:
            changes.batches_closed.append((closing.batch_id, entry.position, closing.written))
    changes.batches += opened_here.values()
