"""Every later candidate that the touched memories could have swayed is decided again."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from ..decision import CreateMemory, Decision, EndMemory
from ..events import Expired, Proposed, Updated
from ..owner_state import OwnerState
from ..plan import Redo
from ..stream import RecordedEvent
from ..timeline import Place, key_of, without
from .earlier import Earlier, says_the_same
from .ending import Ending
from .fitting import fitted
from .grounds import is_personal, is_promotion, rests_on_others, topics_of
from .outlook import Outlook
from .recorded import Recorded
from .struck import Struck


class Redecide(Protocol):
    """Decides a recorded candidate again, under the policy recorded with it."""

    def __call__(self, proposal: Proposed, state: OwnerState) -> Decision:
        """The decision that this state would have led to."""


class Redeciding:
    """Goes through the recorded candidates in their order, and takes the steps that follow."""

    def __init__(
        self, recorded: Recorded, struck: Struck, outlook: Outlook, ending: Ending, redecide: Redecide
    ) -> None:
        self._recorded, self._struck, self._outlook = recorded, struck, outlook
        self._ending, self._redecide = ending, redecide
        self._earlier = Earlier(recorded, struck, outlook)
        self.topics = recorded.topics(struck.changed)
        """What is touched, by subject and attribute; what is let in adds to it."""
        self._put_off: list[tuple[RecordedEvent, Proposed, Decision, OwnerState]] = []
        """Candidates that would be let in, were it not for what came later."""

    def decide_all(self) -> None:
        """Decide again what may come out differently."""
        changed = self._struck.changed
        first: Place = (min(self._recorded.since(key) for key in changed), 0)
        tasks = self._recorded.tasks(changed)
        touched = {stream for stream, _ in changed if stream in self._recorded.state.memories}
        # An end kept out what was said before it, too: that comes back where nothing else says it any more.
        ended = {key[0] for key in changed if isinstance(self._recorded.event(key).event, Expired)}
        for place, entry, event in self._candidates():
            if self._struck.is_undone(entry):
                self._outlook.undo(self._earlier.promotions_left_by(entry))
                continue
            if place < first and event.target not in ended:
                continue
            in_reach = event.context.task_id in tasks or event.target in touched
            if in_reach or topics_of(event) & self.topics:
                self._decide(entry, event)
        for entry, event, decision, before in self._put_off:  # what stood in their way may be gone by now
            possible = fitted(self._outlook, decision, self._place(entry), before)
            if possible is not None:
                self._outlook.add(entry, Redo(entry, event, possible))

    def _candidates(self) -> list[tuple[Place, RecordedEvent, Proposed]]:
        """What was put forward by itself and not decided by a person, in the order of places."""
        line = self._recorded.line
        candidates = [
            (self._place(e), e, e.event)
            for e in self._recorded.events
            if isinstance(e.event, Proposed)
            and e.stream_id not in line.erased
            and not line.is_derived(e)
            and not is_personal(e.event)
        ]
        return sorted(candidates, key=lambda one: one[0])

    def _place(self, entry: RecordedEvent) -> Place:
        return self._recorded.line.order[key_of(entry)]

    def _decide(self, entry: RecordedEvent, event: Proposed) -> None:
        if event.outcome != "accepted":
            self._decide_what_was_kept_out(entry, event)
            return
        effect = self._recorded.effect_of(entry)
        if effect is not None and self._recorded.takes_back(effect):
            self._take_back_again(entry, event, effect)
        elif effect is not None and self._struck.is_undone(effect):
            self._decide_what_fell(entry, event, effect)
        else:
            self._decide_what_stands(entry, event, effect)

    def _decision(self, entry: RecordedEvent, event: Proposed) -> Decision:
        return self._redecide(event, self._outlook.before(entry))

    def _decide_what_was_kept_out(self, entry: RecordedEvent, event: Proposed) -> None:
        """What was refused or held may be let in now; what was refused may be held."""
        decision = self._decision(entry, event)
        held = event.outcome == "refused" and decision.outcome == "held"
        self._let_in(entry, event, decision, wanted=held or decision.outcome == "accepted")

    def _decide_what_fell(self, entry: RecordedEvent, event: Proposed, effect: RecordedEvent) -> None:
        """What was let in is undone: it may stand by a decision of its own, if nobody asked for that."""
        lift = self._struck.strike_alone_on(effect)
        if lift is None and not self._lost_its_ground(entry, effect):
            return
        decision = self._decision(entry, event)
        if lift is not None:
            if decision.outcome == "accepted" and _stands_by(decision, effect):
                self._outlook.undo({key_of(lift)} | self._earlier.all_written_for(entry))
                return
            if is_promotion(effect):
                return
        held_again = is_promotion(effect) and decision.outcome == "held"
        if held_again:
            decision = replace(decision, target=entry.stream_id)
        wanted = held_again or decision.outcome in ("accepted", "confirmed")
        self._let_in(entry, event, decision, wanted=wanted)

    def _decide_what_stands(
        self, entry: RecordedEvent, event: Proposed, effect: RecordedEvent | None
    ) -> None:
        """What was let in stands: elsewhere, as a hint again, or where it is, with other ends."""
        decision = self._decision(entry, event)
        self._outlook.undo(self._earlier.all_written_for(entry))
        if effect is None:
            return
        if decision.outcome == "held" and is_promotion(effect):
            self._outlook.undo({key_of(effect)})
            self._redo(entry, event, replace(decision, target=entry.stream_id))
        elif decision.outcome == "accepted":
            moved = self._covers_another(effect, decision) or self._counts_others(effect, decision)
            if moved or self._came_to_nothing(effect):
                self._outlook.undo({key_of(effect)})
                self._redo(entry, event, decision)
            else:
                self._ending.again(entry, effect, decision)
        elif self._lost_a_sighting(effect):
            self._outlook.undo({key_of(effect)})

    def _covers_another(self, effect: RecordedEvent, decision: Decision) -> bool:
        """Whether a version stands on another thing's memory, which would be a memory of its own now."""
        if not isinstance(effect.event, Updated) or decision.target == effect.stream_id:
            return False
        memory = self._outlook.after.memories[effect.stream_id]
        if memory.current is None or memory.current.entry.stream_version != effect.stream_version:
            return False
        others = without(memory, effect.stream_version).current
        slot = self._recorded.state.slot
        return others is not None and slot(others.statement).key != slot(memory.current.statement).key

    def _counts_others(self, effect: RecordedEvent, decision: Decision) -> bool:
        """Whether hints became a memory of which one is undone, and another one is counted in its stead."""
        if not self._lost_a_sighting(effect):
            return False
        standing = {cause.ref for cause in self._recorded.causes(effect) if not self._struck.is_undone(cause)}
        counted = {ref for c in decision.commands if isinstance(c, CreateMemory) for ref in c.caused_by}
        return not counted <= standing

    def _lost_a_sighting(self, effect: RecordedEvent) -> bool:
        """Whether hints became a memory of which one is undone: it stands only by another decision."""
        causes = self._recorded.causes(effect) if is_promotion(effect) else []
        return any(self._struck.is_undone(cause) for cause in causes)

    def _came_to_nothing(self, effect: RecordedEvent) -> bool:
        """Whether a version took the place of one that is retracted now: as words, they came later."""
        if not isinstance(effect.event, Updated):
            return False
        memory = self._outlook.after.memories[effect.stream_id]
        number = effect.stream_version
        return any(v.entry.stream_version == number and memory.is_void(v) for v in memory.versions)

    def _take_back_again(self, entry: RecordedEvent, event: Proposed, effect: RecordedEvent) -> None:
        """Words that took something back take back what they would have met, and nothing else."""
        if self._struck.is_undone(effect) and self._struck.strike_alone_on(effect) is None:
            return
        decision = self._decision(entry, event)
        meant = {c.memory_id for c in decision.commands if isinstance(c, EndMemory)}
        for end in self._recorded.dependants:
            if not isinstance(end.event, Expired) or entry.ref not in end.event.caused_by:
                continue
            struck = self._struck.is_undone(end)
            lift = self._struck.strike_alone_on(end) if struck else None
            if lift is not None and end.stream_id in meant:
                self._outlook.undo({key_of(lift)})
            elif not struck and end.stream_id not in meant:
                self._outlook.undo({key_of(end)})
        if not self._struck.is_undone(effect):
            self._ending.again(entry, effect, decision)

    def _lost_its_ground(self, entry: RecordedEvent, effect: RecordedEvent) -> bool:
        """Whether what was accepted fell only with what it was based on, and nobody asked for that."""
        if self._struck.is_asked(effect):
            return False
        return self._struck.is_named(effect) or bool(self._earlier.standing(entry))

    def _let_in(self, entry: RecordedEvent, event: Proposed, decision: Decision, *, wanted: bool) -> None:
        """Write the decision where it is wanted and nothing says it yet; take back other ones."""
        redos = self._earlier.standing(entry)
        good = [redo for redo in redos if wanted and says_the_same(redo.event, decision)][:1]
        others = [redo for redo in redos if redo not in good]
        self._outlook.undo({key for redo in others for key in self._earlier.written_by(redo)})
        if good and decision.outcome == "accepted":
            self._ending.again(entry, self._recorded.effect_of(good[0]), decision)
        elif wanted and not good and not self._earlier.lift(entry, decision):
            self._redo(entry, event, decision)

    def _redo(self, entry: RecordedEvent, event: Proposed, decision: Decision) -> None:
        before = self._outlook.before(entry)
        possible = fitted(self._outlook, decision, self._place(entry), before)
        if possible is None:  # it stood for a while, and whatever was said meanwhile met it
            self._outlook.suppose(entry, Redo(entry, event, decision))
            self._put_off.append((entry, event, decision, before))
            return
        self._outlook.add(entry, Redo(entry, event, possible), Redo(entry, event, decision))
        self.topics |= topics_of(event)


def _stands_by(decision: Decision, effect: RecordedEvent) -> bool:
    """Whether only a decision struck the event, and this one lets it stand again."""
    rests_on_itself = not rests_on_others(effect.event) and decision.target == effect.stream_id
    return is_promotion(effect) or rests_on_itself
