"""An owner's events in the order of what they rest on, with or without some of them.

What a rollback decided anew counts from where the recorded candidate stood and not from where it was
written, so that a later plan finds it where it belongs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .draft import UNRECORDED
from .events import BatchOpened, Created, Expired, ProcessChanged, Proposed, RolledBack, Superseded, Updated
from .history import struck_versions
from .ledger import Ledger
from .memory import Memory
from .owner_state import OwnerState
from .stream import RecordedEvent

Place = tuple[int, int]
"""Position at which an event counts, then where it was really written (0: there)."""

Key = tuple[str, int]
"""Stream and stream version: an event's name, hashable."""


def key_of(entry: RecordedEvent) -> Key:
    """The event's name."""
    return (entry.stream_id, entry.stream_version)


def undoing(stream: str, entries: Sequence[RecordedEvent], names: tuple[int, ...]) -> RecordedEvent:
    """A rollback behind the entries that only a fold sees; it is never written."""
    last = entries[-1]
    event = RolledBack(
        actor="system",
        correlation_id="",
        policy="",
        said_at=last.event.said_at,
        names=names,
        batch_id="",
        reason="planned",
    )
    return RecordedEvent(last.position + 1, stream, last.stream_version + 1, UNRECORDED, event)


def without(memory: Memory, *names: int) -> Memory:
    """The memory as it would be with these of its events undone, by their stream versions."""
    return memory.evolve((undoing(memory.memory_id, memory.entries, names),))


class Timeline:
    """All the events of one owner, by stream and in the order of what they rest on."""

    def __init__(self, state: OwnerState, events: Sequence[RecordedEvent]) -> None:
        self.present = state
        self.events = events
        self.streams: dict[str, list[RecordedEvent]] = {}
        for entry in events:
            self.streams.setdefault(entry.stream_id, []).append(entry)
        self._struck = {stream: struck_versions(entries) for stream, entries in self.streams.items()}
        self.batches = {e.event.batch_id: e.event.kind for e in events if isinstance(e.event, BatchOpened)}
        self.erased = {memory_id for memory_id, memory in state.memories.items() if memory.erased}
        """Memories of which nothing is known any more: nothing is decided on them."""
        self.order = self._places()

    @property
    def struck(self) -> set[Key]:
        """All that is undone at present."""
        return {(stream, version) for stream, versions in self._struck.items() for version in versions}

    def struck_by(self, named: Iterable[Key]) -> set[Key]:
        """All that is undone once one more rollback names these events."""
        by_stream: dict[str, list[int]] = {}
        for stream, version in named:
            by_stream.setdefault(stream, []).append(version)
        struck = {
            (stream, version)
            for stream, versions in self._struck.items()
            if stream not in by_stream
            for version in versions
        }
        for stream, names in by_stream.items():
            entries = self.streams[stream]
            undone = struck_versions([*entries, undoing(stream, entries, tuple(sorted(names)))])
            struck.update((stream, version) for version in undone)
        return struck

    def is_derived(self, entry: RecordedEvent) -> bool:
        """Whether a rollback, an undo or a revision decided it anew."""
        return self.batches.get(entry.event.correlation_id) in ("rollback", "undo", "revise")

    def in_order(self, keys: Iterable[Key]) -> list[Key]:
        """The events in the order in which they were written."""
        return sorted(keys, key=lambda key: self.streams[key[0]][key[1] - 1].position)

    def walk(self, struck: set[Key]) -> Walk:
        """Go through the events in order, without what is struck."""
        return Walk(self, struck)

    def _places(self) -> dict[Key, Place]:
        order: dict[Key, Place] = {}
        base: Place = (0, 0)
        for entry in self.events:
            event = entry.event
            place: Place = (entry.position, 0)
            if self.is_derived(entry) and isinstance(
                event, Proposed | Created | Updated | Superseded | Expired | ProcessChanged
            ):
                causes = [order[key] for r in event.caused_by if (key := (r.stream, r.version)) in order]
                base = max(causes, default=base)
                place = (base[0], entry.position)
            order[key_of(entry)] = place
        return order


class Walk:
    """The state at one place of the order after another; places only ever ascend.

    Recorded rollbacks are left out and what they struck is struck here directly: a candidate is
    decided on what stands, not on what was believed to stand at the time. Erased memories never were.
    """

    def __init__(self, timeline: Timeline, struck: set[Key]) -> None:
        self._timeline = timeline
        self._struck = _by_stream(struck)
        entries = (
            entry
            for entry in timeline.events
            if not isinstance(entry.event, RolledBack) and entry.stream_id not in timeline.erased
        )
        self._ahead = sorted(entries, key=lambda e: timeline.order[key_of(e)])
        self._next = 0
        self._seen: set[str] = set()
        self._reasons: dict[str, str] = {}
        """By stream, why the last proposal was decided as it was."""
        blank = timeline.present
        self._state = OwnerState(blank.registry, Ledger(blank.ledger.ledger_id))

    def before(self, place: Place) -> OwnerState:
        """The state on which a candidate at the place is decided."""
        passed: list[RecordedEvent] = []
        while self._next < len(self._ahead):
            entry = self._ahead[self._next]
            if self._timeline.order[key_of(entry)] >= place:
                break
            passed.append(entry)
            self._next += 1
        self.add(passed)
        return self._state

    def add(self, entries: Sequence[RecordedEvent]) -> None:
        """Let events count from here on."""
        if not entries:
            return
        known: list[RecordedEvent] = []
        for entry in entries:
            known.append(self._as_then(entry))
            names = self._struck.get(entry.stream_id)
            if names and entry.stream_id not in self._seen and entry.stream_id in self._timeline.streams:
                known.append(self._undoing(entry.stream_id, names))
            self._seen.add(entry.stream_id)
        self._state = self._state.evolve(known)

    def _as_then(self, entry: RecordedEvent) -> RecordedEvent:
        """What was decided anew behind later facts, and so got a closed period, as it stood at its place."""
        event = entry.event
        if isinstance(event, Proposed):
            self._reasons[entry.stream_id] = event.reason
        if not isinstance(event, Updated) or event.kind != "late" or not self._timeline.is_derived(entry):
            return entry
        if self._reasons.get(entry.stream_id) == "late_fact":
            return entry
        return entry._replace(event=Created.model_validate(event.model_dump(exclude={"kind", "of"})))

    def strike(self, struck: set[Key]) -> None:
        """Go on with other events struck."""
        before, self._struck = self._struck, _by_stream(struck)
        memories: dict[str, Memory] = {}
        present, ledger = self._state.memories, self._state.ledger
        for stream in {*before, *self._struck}:
            names = self._struck.get(stream)
            if names == before.get(stream):
                continue
            undone = () if not names else (self._undoing(stream, names),)
            if stream == ledger.ledger_id:
                ledger = Ledger(stream, (*_without(ledger.entries), *undone))
            elif stream in present:
                memories[stream] = Memory(stream, (*_without(present[stream].entries), *undone))
        self._state = self._state.restated(ledger, memories)

    def _undoing(self, stream: str, names: tuple[int, ...]) -> RecordedEvent:
        return undoing(stream, self._timeline.streams[stream], names)


def _without(entries: Iterable[RecordedEvent]) -> list[RecordedEvent]:
    return [entry for entry in entries if not isinstance(entry.event, RolledBack)]


def _by_stream(keys: Iterable[Key]) -> dict[str, tuple[int, ...]]:
    names: dict[str, list[int]] = {}
    for stream, version in keys:
        names.setdefault(stream, []).append(version)
    return {stream: tuple(sorted(versions)) for stream, versions in names.items()}
