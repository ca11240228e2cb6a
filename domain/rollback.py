"""Undo, as a plan: what is struck, what comes back, and what is decided anew because of it.

An undo names events. What was based on them goes too, and so do the ends and confirmations that
they caused. Then every later candidate that the touched memories could have swayed is decided
again, without a model and under the policy recorded then; only what changes is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from .decision import Decision, EndMemory, SupersedeMemory
from .draft import UNRECORDED, Draft, Header
from .events import (
    BatchClosed,
    BatchOpened,
    Created,
    Event,
    Expired,
    Judged,
    ProcessChanged,
    Proposed,
    RolledBack,
    Superseded,
    TaskChanged,
    Updated,
)
from .history import struck_versions
from .ledger import Ledger
from .memory import Memory
from .owner_state import OwnerState
from .plan import Effect, Fate, Plan, Redo, ReEnd, Step, undoing
from .selector import Selector, select
from .stream import RecordedEvent
from .values import EventRef

Place = tuple[int, int]
"""Position at which an event counts, then where it was really written (0: there)."""

Key = tuple[str, int]
"""Stream and stream version: an event's name, hashable."""


class Redecide(Protocol):
    """Decides a recorded candidate again, under the policy recorded with it."""

    def __call__(self, proposal: Proposed, state: OwnerState) -> Decision:
        """The decision that this state would have led to."""


def plan_rollback(
    selector: Selector,
    state: OwnerState,
    events: Sequence[RecordedEvent],
    redecide: Redecide,
) -> Plan:
    """Work out what undoing the selected events comes to.

    Args:
        selector: What to undo; `Selector(batch=…)` undoes a batch, be it a rollback itself.
        state: The owner's present state.
        events: All the owner's events up to the state's position, ascending.
        redecide: Decides a recorded candidate again.

    Returns:
        The plan; `plan.empty` when the selector names nothing.
    """
    contexts = {e.stream_id: e.event.context for e in events if isinstance(e.event, Judged)}
    selected = select(selector, events, contexts)
    planner = _Planner(state, events, redecide, {_key(e) for e in selected})
    return planner.plan(selector, [e.ref for e in selected])


def plan_turn_revision(
    turn_id: str, state: OwnerState, events: Sequence[RecordedEvent], redecide: Redecide
) -> Plan:
    """Undo all that one turn produced, its judgement too, because its text was edited."""
    produced = [
        e
        for e in events
        if e.event.correlation_id == turn_id
        and not isinstance(e.event, RolledBack | BatchOpened | BatchClosed)
    ]
    planner = _Planner(state, events, redecide, {_key(e) for e in produced})
    return planner.plan(Selector(turn=turn_id), [e.ref for e in produced])


class _Planner:
    """Holds what one plan is worked out from; used once."""

    def __init__(
        self,
        state: OwnerState,
        events: Sequence[RecordedEvent],
        redecide: Redecide,
        named: set[Key],
    ) -> None:
        self.state = state
        self.events = events
        self.redecide = redecide
        self.named = set(named)
        self.streams: dict[str, list[RecordedEvent]] = {}
        for entry in events:
            self.streams.setdefault(entry.stream_id, []).append(entry)
        self.was_struck = self._struck(set())
        self.now_struck = self.was_struck
        self.order = _logical_order(events)
        self.steps: list[Step] = []
        self.added: list[tuple[Place, RecordedEvent]] = []
        """Events of the steps, with the place in the order at which they count."""

    def plan(self, selector: Selector, selected: Sequence[EventRef]) -> Plan:
        self._close()
        if selected:
            self._decide_anew()
        names = {
            stream: tuple(sorted(version for other, version in self.named if other == stream))
            for stream in dict.fromkeys(stream for stream, _ in self._in_order(self.named))
        }
        after = self._after()
        return Plan(
            selector=selector,
            selected=tuple(selected),
            struck=tuple(
                EventRef(stream=s, version=v)
                for s, v in self._in_order(self.now_struck - self.was_struck)
            ),
            effects=self._effects(after),
            tasks_reopened=tuple(
                task
                for task in self.state.ledger.tasks
                if self.state.ledger.task_finished(task) and not after.ledger.task_finished(task)
            ),
            steps=tuple(self.steps),
            names=names,
            turn_versions={
                stream: entries[-1].stream_version
                for stream, entries in self.streams.items()
                if stream not in self.state.memories and stream != self.state.ledger.ledger_id
            },
        )

    # --- what goes with it -----------------------------------------------------------------------

    def _struck(self, named: set[Key]) -> set[Key]:
        """All that is struck once one more rollback names these events."""
        struck: set[Key] = set()
        for stream, entries in self.streams.items():
            names = tuple(version for other, version in named if other == stream)
            undone = struck_versions([*entries, undoing(stream, entries, names)] if names else entries)
            struck.update((stream, version) for version in undone)
        return struck

    def _close(self) -> None:
        """Name what is based on struck events, and the ends and confirmations they caused."""
        while True:
            self.now_struck = self._struck(self.named)
            gone = self.now_struck - self.was_struck
            dependants = {
                _key(entry)
                for entry in self.events
                if _key(entry) not in self.now_struck and _falls_with(entry.event, gone, self.now_struck)
            }
            if not dependants:
                return
            self.named |= dependants

    # --- what is decided anew --------------------------------------------------------------------

    def _decide_anew(self) -> None:
        changed = self.now_struck ^ self.was_struck
        if not changed:
            return
        first = min(self.order[key] for key in changed)
        topics = self._touched_topics(changed)
        tasks = self._touched_tasks(changed)
        redone = self._redone()
        for entry in sorted(self.events, key=lambda e: self.order[_key(e)]):
            event = entry.event
            if not isinstance(event, Proposed) or self.order[_key(entry)] <= first:
                continue
            if event.candidate.channel == "person" or event.actor.startswith("operator:"):
                continue
            if _key(entry) in redone or self._withdrawn(entry, event):
                continue
            in_task = event.context.task_id in tasks
            if not in_task and not (_topics(event) & topics) and event.target not in self._touched(changed):
                continue
            self._decide_one(entry, event)

    def _decide_one(self, entry: RecordedEvent, event: Proposed) -> None:
        decision = self.redecide(event, self._state_before(self.order[_key(entry)]))
        if event.outcome == "accepted":
            if decision.outcome == "held" and self._is_promotion(entry):
                self._demote(entry, event, decision)
            elif decision.outcome == "accepted":
                self._end_again(entry, decision)
        elif decision.outcome == "accepted" or (event.outcome == "refused" and decision.outcome == "held"):
            self._add(entry, Redo(entry, event, decision))

    def _is_promotion(self, entry: RecordedEvent) -> bool:
        effect = self._effect_of(entry)
        return effect is not None and isinstance(effect.event, Created) and bool(effect.event.caused_by)

    def _demote(self, entry: RecordedEvent, event: Proposed, decision: Decision) -> None:
        effect = self._effect_of(entry)
        assert effect is not None
        self.named.add(_key(effect))
        self._close()
        self._add(entry, Redo(entry, event, replace(decision, target=entry.stream_id)))

    def _end_again(self, entry: RecordedEvent, decision: Decision) -> None:
        """What stands would have ended others than it did: those that came back in the meantime."""
        effect = self._effect_of(entry)
        if effect is None:
            return
        after = self._after()
        for command in decision.commands:
            if not isinstance(command, SupersedeMemory | EndMemory) or command.memory_id == entry.stream_id:
                continue
            memory = after.memories.get(command.memory_id)
            if memory is None or memory.current is None or self._ended_by(command.memory_id, effect):
                continue
            header = Header("system", "", effect.event.policy, effect.event.said_at, effect.event.simulated)
            ending: Superseded | Expired
            if isinstance(command, SupersedeMemory):
                ending = Superseded(
                    **header.fields(), successor=effect.stream_id, at=command.at, caused_by=(effect.ref,)
                )
            else:
                ending = Expired(
                    **header.fields(),
                    kind=command.kind,
                    at=command.at,
                    reason=command.reason,
                    caused_by=(effect.ref,),
                )
            self._add(entry, ReEnd(command.memory_id, ending))

    def _ended_by(self, memory_id: str, effect: RecordedEvent) -> bool:
        return any(
            isinstance(e.event, Superseded | Expired) and effect.ref in e.event.caused_by
            for e in self.streams.get(memory_id, ())
            if _key(e) not in self.now_struck
        )

    def _add(self, entry: RecordedEvent, step: Step) -> None:
        """Take a step, and let what it writes count from the place of the recorded candidate on."""
        self.steps.append(step)
        draft = Draft(self._after(), _PlanIds(len(self.steps)))
        before = len(draft.events)
        header = Header("system", "", entry.event.policy, entry.event.said_at, entry.event.simulated)
        step.write(draft, header)
        base = self.order[_key(entry)][0]
        for new in draft.events[before:]:
            recorded = RecordedEvent(entry.position, new.stream_id, new.stream_version, UNRECORDED, new.event)
            self.added.append(((base, self.state.position + 1 + len(self.added)), recorded))

    def _redone(self) -> set[Key]:
        """Recorded proposals that a later one in force decided anew."""
        return {
            (ref.stream, ref.version)
            for entry in self.events
            if isinstance(entry.event, Proposed) and _key(entry) not in self.now_struck
            for ref in entry.event.caused_by
        }

    def _withdrawn(self, entry: RecordedEvent, event: Proposed) -> bool:
        """Whether the proposal is undone itself, or was accepted and what it led to is undone."""
        if _key(entry) in self.now_struck:
            return True
        effect = self._effect_of(entry) if event.outcome == "accepted" else None
        return effect is not None and _key(effect) in self.now_struck

    def _effect_of(self, entry: RecordedEvent) -> RecordedEvent | None:
        """The event that an accepted proposal led to in its own stream."""
        for later in self.streams[entry.stream_id][entry.stream_version :]:
            if isinstance(later.event, Proposed) or later.event.correlation_id != entry.event.correlation_id:
                return None
            if isinstance(later.event, Created | Updated | Superseded | Expired):
                return later
        return None

    def _touched(self, changed: set[Key]) -> set[str]:
        return {stream for stream, _ in changed if stream in self.state.memories}

    def _touched_topics(self, changed: set[Key]) -> set[tuple[str, str]]:
        topics = set()
        for stream in self._touched(changed):
            for version in self.state.memories[stream].versions:
                topics.add((version.statement.subject, version.statement.attribute))
            for _, proposal in self.state.memories[stream].proposals:
                topics |= _topics(proposal)
        for entry in self.events:
            if _key(entry) in changed and isinstance(entry.event, Proposed):
                topics |= _topics(entry.event)
        return topics

    def _touched_tasks(self, changed: set[Key]) -> set[str]:
        return {
            entry.event.task_id
            for entry in self.events
            if _key(entry) in changed and isinstance(entry.event, TaskChanged)
        }

    # --- states ----------------------------------------------------------------------------------

    def _state_before(self, order: Place) -> OwnerState:
        """The state on which a candidate at that place is decided, without what is struck now.

        Recorded rollbacks are left out and what they struck is struck here directly: a candidate is
        decided on what stands, not on what was believed to stand at the time.
        """
        kept = [e for e in self.events if self.order[_key(e)] < order and not isinstance(e.event, RolledBack)]
        return self._fold(kept, [entry for place, entry in self.added if place < order])

    def _after(self) -> OwnerState:
        """The state once everything planned so far is written."""
        kept = [e for e in self.events if not isinstance(e.event, RolledBack)]
        return self._fold(kept, [entry for _, entry in self.added])

    def _fold(self, kept: Iterable[RecordedEvent], added: Iterable[RecordedEvent]) -> OwnerState:
        blank = OwnerState(self.state.registry, Ledger(self.state.ledger.ledger_id))
        state = blank.evolve(kept)
        undoings = [
            undoing(stream, entries, versions) for stream, entries, versions in self._undoings_for(state)
        ]
        state = state.evolve(undoings)
        return state.evolve(added)

    def _undoings_for(self, state: OwnerState) -> Iterable[tuple[str, list[RecordedEvent], tuple[int, ...]]]:
        present = {stream: memory.entries for stream, memory in state.memories.items()}
        present[state.ledger.ledger_id] = state.ledger.entries
        for stream, entries in present.items():
            there = {entry.stream_version for entry in entries}
            versions = tuple(sorted(v for s, v in self.now_struck if s == stream and v in there))
            if versions:
                yield stream, list(self.streams.get(stream, ())), versions

    def _in_order(self, keys: Iterable[Key]) -> list[Key]:
        return sorted(keys, key=lambda key: self.streams[key[0]][key[1] - 1].position)

    # --- what it comes to ------------------------------------------------------------------------

    def _effects(self, after: OwnerState) -> tuple[Effect, ...]:
        touched = dict.fromkeys(stream for stream, _ in self._in_order(self.now_struck ^ self.was_struck))
        touched.update(dict.fromkeys(entry.stream_id for _, entry in self.added))
        effects = []
        for memory_id in touched:
            before = self.state.memories.get(memory_id) or Memory(memory_id)
            then = after.memories.get(memory_id) or Memory(memory_id)
            if before.status == "none" and then.status == "none":
                continue
            effects.append(self._effect(memory_id, before, then))
        return tuple(effects)

    def _effect(self, memory_id: str, before: Memory, after: Memory) -> Effect:
        was = before.current.statement if before.current else None
        now = after.current.statement if after.current else None
        fate: Fate
        successor = None
        redone = any(
            isinstance(step, Redo) and step.decision.outcome == "accepted" for step in self.steps
        ) and any(e.stream_id == memory_id and isinstance(e.event, Created | Updated) for _, e in self.added)
        if any(isinstance(step, ReEnd) and step.memory_id == memory_id for step in self.steps):
            fate = "re-ended"
            successor = after.closing.successor if after.closing else None
        elif redone:
            fate = "reinstated"
        elif after.status == "held" and before.status != "held":
            fate = "held"
        elif now is None and was is not None:
            fate = "withdrawn"
        elif now is not None and was is None:
            fate = "revived"
        elif now != was:
            fate = "changed"
        else:
            fate = "withdrawn" if after.status == "withdrawn" and before.status != "withdrawn" else "survives"
        return Effect(memory_id, fate, was, now, successor)


class _PlanIds:
    """Ids for memories that a plan would open; the real ones are given when it is applied."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._given = 0

    def new_id(self) -> str:
        self._given += 1
        return f"{self._step:016x}{self._given:016x}"


def _key(entry: RecordedEvent) -> Key:
    return (entry.stream_id, entry.stream_version)


def _falls_with(event: Event, gone: set[Key], struck: set[Key]) -> bool:
    """Whether an event cannot stand once `gone` is undone."""
    if isinstance(event, Created | Updated):
        if any((ref.stream, ref.version) in gone for ref in event.based_on):
            return True
        support = [(ref.stream, ref.version) for ref in event.caused_by]
        return any(key in gone for key in support) and all(key in struck for key in support)
    causes: tuple[EventRef, ...] = ()
    if isinstance(event, Superseded | Expired | ProcessChanged) or (
        isinstance(event, Proposed) and event.outcome != "accepted"
    ):
        causes = event.caused_by
    return any((ref.stream, ref.version) in gone for ref in causes)


def _topics(proposal: Proposed) -> set[tuple[str, str]]:
    """Subject and attribute that a proposal is about, as observed and as decided."""
    topics = {(proposal.candidate.subject, proposal.candidate.attribute)}
    if proposal.statement is not None:
        topics.add((proposal.statement.subject, proposal.statement.attribute))
    return topics


def _logical_order(events: Sequence[RecordedEvent]) -> dict[Key, Place]:
    """The place of each event in the order of what it rests on.

    What a rollback decided anew counts from where the recorded candidate stood, not from where it
    was written: so that the next plan finds it where it belongs.
    """
    batches = {
        e.event.batch_id
        for e in events
        if isinstance(e.event, BatchOpened) and e.event.kind in ("rollback", "undo", "revise")
    }
    order: dict[Key, Place] = {}
    base: Place = (0, 0)
    for entry in events:
        event = entry.event
        place: Place = (entry.position, 0)
        if event.correlation_id in batches and isinstance(
            event, Proposed | Created | Updated | Superseded | Expired
        ):
            causes = [order[key] for ref in event.caused_by if (key := (ref.stream, ref.version)) in order]
            base = max(causes, default=base)
            place = (base[0], entry.position)
        order[_key(entry)] = place
    return order
