"""What is recorded of one owner, looked up in the ways that planning an undo needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..events import Created, Expired, Proposed, RolledBack, Superseded, TaskChanged, Updated
from ..owner_state import OwnerState
from ..stream import RecordedEvent
from ..timeline import Key, Timeline, key_of
from ..values import EventRef
from .grounds import causes_of, is_strike, rests_on_others, topics_of


class Recorded:
    """All events of an owner up to a state. Nothing in here changes while a plan is made."""

    def __init__(self, state: OwnerState, events: Sequence[RecordedEvent]) -> None:
        self.state, self.events = state, events
        self.line = Timeline(state, events)
        self.streams = self.line.streams
        self.dependants = [e for e in events if rests_on_others(e.event)]
        self.strikes = [e for e in events if is_strike(e.event)]

    @property
    def turn_versions(self) -> dict[str, int]:
        """By turn, how many events its stream holds."""
        return {
            stream: entries[-1].stream_version
            for stream, entries in self.streams.items()
            if stream not in self.state.memories and stream != self.state.ledger.ledger_id
        }

    def event(self, key: Key) -> RecordedEvent:
        """The event of that name."""
        stream, version = key
        return self.streams[stream][version - 1]

    def causes(self, entry: RecordedEvent) -> list[RecordedEvent]:
        """The events that caused it."""
        return [self.event((ref.stream, ref.version)) for ref in causes_of(entry.event)]

    def refs(self, keys: Iterable[Key]) -> tuple[EventRef, ...]:
        """The events' references, in the order in which they were written."""
        return tuple(EventRef(stream=s, version=v) for s, v in self.line.in_order(keys))

    def effect_of(self, entry: RecordedEvent) -> RecordedEvent | None:
        """The event that an accepted proposal led to in its own stream."""
        for later in self.streams[entry.stream_id][entry.stream_version :]:
            if isinstance(later.event, Proposed) or later.event.correlation_id != entry.event.correlation_id:
                return None
            if isinstance(later.event, Created | Updated | Superseded | Expired):
                return later
        return None

    def struck_alone(self, strike: RecordedEvent) -> RecordedEvent:
        """The one event that a strike of an undo's own names."""
        assert isinstance(strike.event, RolledBack)
        return self.event((strike.stream_id, strike.event.names[0]))

    def takes_back(self, entry: RecordedEvent) -> bool:
        """Whether somebody's words ended the memory, and not another event."""
        if not isinstance(entry.event, Expired):
            return False
        return any(isinstance(cause.event, Proposed) for cause in self.causes(entry))

    def since(self, key: Key) -> int:
        """Position of the first candidate that may be decided otherwise because of the event."""
        entry, base = self.event(key), self.line.order[key][0]
        if not self.line.is_derived(entry):
            return base
        return min([base, *(self._candidate_of(cause) for cause in self.causes(entry))])

    def _candidate_of(self, entry: RecordedEvent) -> int:
        """Position of the proposal that led to an event, else its own."""
        for earlier in reversed(self.streams[entry.stream_id][: entry.stream_version]):
            if earlier.event.correlation_id != entry.event.correlation_id:
                break
            if isinstance(earlier.event, Proposed):
                return self.line.order[key_of(earlier)][0]
        return self.line.order[key_of(entry)][0]

    def topics(self, changed: Iterable[Key]) -> set[tuple[str, str]]:
        """Subject and attribute of all that these events, and the memories they are in, were ever about."""
        topics = set()
        streams = set()
        for key in changed:
            streams.add(key[0])
            event = self.event(key).event
            if isinstance(event, Proposed):
                topics |= topics_of(event)
        for stream in streams:
            memory = self.state.memories.get(stream)
            if memory is None:
                continue
            topics |= {(v.statement.subject, v.statement.attribute) for v in memory.versions}
            for _, proposal in memory.proposals:
                topics |= topics_of(proposal)
        return topics

    def tasks(self, changed: Iterable[Key]) -> set[str | None]:
        """The tasks that started or finished by these events."""
        events = [self.event(key).event for key in changed]
        return {event.task_id for event in events if isinstance(event, TaskChanged)}
