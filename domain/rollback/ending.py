"""What stands ends others than it did: those that came back in the meantime."""

from __future__ import annotations

from collections.abc import Sequence

from ..decision import ChangeProcess, Decision, EndMemory, SupersedeMemory
from ..events import Expired, ProcessChanged, Superseded
from ..plan import MoveOn
from ..stream import RecordedEvent
from ..timeline import Key, key_of
from .fitting import process_moved_since, spoke_since
from .outlook import Outlook, end_by
from .recorded import Recorded
from .struck import Struck


class Ending:
    """Ends memories, and moves processes on, by events that were recorded and stand."""

    def __init__(self, recorded: Recorded, struck: Struck, outlook: Outlook) -> None:
        self._recorded, self._struck, self._outlook = recorded, struck, outlook
        self.wanted: set[tuple[str, Key]] = set()
        """Memories that what was decided anew ends, each with the event that ends it."""
        self.decided: set[Key] = set()
        """The events of which it was decided anew what they end."""

    def again(self, entry: RecordedEvent, effect: RecordedEvent | None, decision: Decision) -> None:
        """Let the effect of a recorded proposal end what the decision, made anew, ends."""
        if effect is None:
            return
        self.decided.add(key_of(effect))
        self._move_again(entry, effect, [c for c in decision.commands if isinstance(c, ChangeProcess)])
        for command in decision.commands:
            if not isinstance(command, SupersedeMemory | EndMemory) or command.memory_id == entry.stream_id:
                continue
            self.wanted.add((command.memory_id, key_of(effect)))
            memory = self._outlook.after.memories.get(command.memory_id)
            if memory is None or memory.current is None or self._ended_by(command.memory_id, effect):
                continue
            if not spoke_since(self._outlook, memory, self._recorded.line.order[key_of(entry)]):
                self._outlook.add(entry, end_by(effect, command))

    def _move_again(
        self, entry: RecordedEvent, effect: RecordedEvent, wanted: Sequence[ChangeProcess]
    ) -> None:
        """Let a process move on by what stands, or take back that an earlier undo did so."""
        moves = [
            e
            for e in self._recorded.streams.get(self._recorded.state.ledger.ledger_id, ())
            if isinstance(e.event, ProcessChanged)
            and effect.ref in e.event.caused_by
            and not self._struck.is_undone(e)
        ]
        if moves and not wanted:
            self._outlook.undo({key_of(e) for e in moves if self._recorded.line.is_derived(e)})
        place = self._recorded.line.order[key_of(entry)]
        for command in wanted if not moves else ():
            if not process_moved_since(self._outlook, command.process, place):
                self._outlook.add(effect, MoveOn(command, effect))

    def _ended_by(self, memory_id: str, effect: RecordedEvent) -> bool:
        return any(
            isinstance(e.event, Superseded | Expired) and effect.ref in e.event.caused_by
            for e in self._recorded.streams.get(memory_id, ())
            if not self._struck.is_undone(e)
        )
