"""One slot, one memory: of those that come to stand in one slot, the one that spoke last takes over."""

from __future__ import annotations

from collections.abc import Sequence, Set

from ..decision import SupersedeMemory
from ..events import Created, Superseded, Updated
from ..memory import Memory
from ..owner_state import OwnerState
from ..stream import RecordedEvent
from ..timeline import Key, Place, key_of, without
from .ending import Ending
from .outlook import Outlook, end_by
from .recorded import Recorded
from .struck import Struck


class Sharing:
    """Sorts out slots once everything is decided anew.

    Args:
        recorded: The owner's events.
        struck: What is undone.
        outlook: The plan so far.
        ending: What was decided anew to end what.
        topics: What the plan is about, by subject and attribute.
    """

    def __init__(
        self,
        recorded: Recorded,
        struck: Struck,
        outlook: Outlook,
        ending: Ending,
        topics: Set[tuple[str, str]],
    ) -> None:
        self._recorded, self._struck, self._outlook = recorded, struck, outlook
        self._ending, self._topics = ending, topics

    def sort_out(self) -> None:
        """Take back takeovers that nothing calls for, then let the later of two in one slot take over."""
        self._free_slots()
        present, slots = _slots(self._recorded.state), _slots(self._outlook.after)
        for key, ids in slots.items():
            if len(ids) < 2 or present.get(key) == ids:
                continue
            ordered = sorted(ids, key=self._spoke)
            successor = self._outlook.after.memories[ordered[-1]]
            assert successor.current is not None
            cause = successor.current.entry
            for memory_id in ordered[:-1]:
                self._outlook.add(cause, end_by(cause, SupersedeMemory(memory_id, cause.event.said_at)))

    def _free_slots(self) -> None:
        """Take back takeovers of earlier undos that nothing calls for any more."""
        for entry in self._recorded.events:
            event = entry.event
            if not isinstance(event, Superseded) or self._struck.is_undone(entry):
                continue
            looked_at = self._recorded.line.is_derived(entry) and self._is_about_topics(entry.stream_id)
            if looked_at and not self._called_for(entry, event):
                self._outlook.undo({key_of(entry)})

    def _is_about_topics(self, memory_id: str) -> bool:
        said = [version.statement for version in self._recorded.state.memories[memory_id].versions]
        return any((statement.subject, statement.attribute) in self._topics for statement in said)

    def _called_for(self, entry: RecordedEvent, event: Superseded) -> bool:
        causes = [(ref.stream, ref.version) for ref in event.caused_by]
        if any((entry.stream_id, cause) in self._ending.wanted for cause in causes):
            return True
        after = self._outlook.after
        taken_over = without(after.memories[entry.stream_id], entry.stream_version)
        successor = after.memories.get(event.successor)
        if taken_over.current is None:
            return False
        if successor is None or successor.current is None:
            return True
        if _slot(after, taken_over) == _slot(after, successor):
            return True
        decided_anew = any(cause in self._ending.decided for cause in causes)
        return not decided_anew and not self._by_a_person(causes)

    def _by_a_person(self, causes: Sequence[Key]) -> bool:
        events = [self._recorded.event(cause).event for cause in causes]
        return any(
            isinstance(e, Created | Updated) and e.statement.provenance.turn_id is None for e in events
        )

    def _spoke(self, memory_id: str) -> Place:
        current = self._outlook.after.memories[memory_id].current
        assert current is not None
        return self._outlook.places[key_of(current.entry)]


def _slots(state: OwnerState) -> dict[str, list[str]]:
    slots: dict[str, list[str]] = {}
    for memory in state.active():
        slots.setdefault(_slot(state, memory), []).append(memory.memory_id)
    return slots


def _slot(state: OwnerState, memory: Memory) -> str:
    assert memory.current is not None
    return state.slot(memory.current.statement).key
