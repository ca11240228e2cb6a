"""Undo, as a plan: what is struck, what comes back, and what is decided anew because of it.

An undo names events. What was based on them goes too, and so do the ends and confirmations that
they caused. Then every later candidate that the touched memories could have swayed is decided
again, without a model and under the policy recorded then; only what changes is written. What an
earlier undo decided anew is looked at in the same way, and taken back where its ground is gone: so
the order in which undos are undone does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from .decision import (
    ChangeProcess,
    Command,
    Decision,
    EndMemory,
    SupersedeMemory,
    UpdateMemory,
)
from .draft import Draft, Header
from .effects import effects_of
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
from .history import KEEPS_PLACE
from .memory import Memory
from .owner_state import OwnerState
from .plan import ANEW, MoveOn, Plan, RealNames, Redo, ReEnd, Step
from .selector import Selector, select
from .stream import RecordedEvent
from .timeline import Key, Place, Timeline, key_of, undoing
from .values import EventRef


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
    return _Planner(state, events, redecide, selected).plan(selector)


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
    return _Planner(state, events, redecide, produced).plan(Selector(turn=turn_id))


class _Planner:
    """Holds what one plan is worked out from; used once."""

    def __init__(
        self,
        state: OwnerState,
        events: Sequence[RecordedEvent],
        redecide: Redecide,
        selected: Sequence[RecordedEvent],
    ) -> None:
        self.state = state
        self.events = events
        self.redecide = redecide
        self.selected = selected
        self.asked = frozenset(key_of(entry) for entry in selected)
        self.named = set(self.asked)
        self.undoes = any(isinstance(entry.event, RolledBack) for entry in selected)
        self.line = Timeline(state, events)
        self.places = dict(self.line.order)
        """Where events count, those of the steps too."""
        self.streams = self.line.streams
        self.turn_versions = {
            stream: entries[-1].stream_version
            for stream, entries in self.streams.items()
            if stream not in state.memories and stream != state.ledger.ledger_id
        }
        self.was_struck = self.line.struck
        self.now_struck = self.was_struck
        self.dependants = [e for e in events if _grounds(e.event)]
        self.strikes = [e for e in events if _is_strike(e.event)]
        self.redos = self._redos()
        self.steps: list[Step] = []
        self.added: list[RecordedEvent] = []
        """Events of the steps, under provisional names."""
        self.ended: set[tuple[str, Key]] = set()
        """Memories that what was decided anew ends, each with the event that ends it."""
        self.decided: set[Key] = set()
        self.put_off: list[tuple[RecordedEvent, Proposed, Decision]] = []
        """Candidates that would be let in, were it not for what came later."""
        self._after: OwnerState | None = None

    def plan(self, selector: Selector) -> Plan:
        self._close()
        if self.now_struck != self.was_struck:
            self._decide_anew()
            self._share_slots()
        main, fallen = self._undoings()
        after = self.after
        return Plan(
            selector=selector,
            selected=tuple(entry.ref for entry in self.selected),
            struck=self._refs(self.now_struck - self.was_struck),
            effects=effects_of(
                self.state,
                after,
                [stream for stream, _ in self.line.in_order(self.now_struck ^ self.was_struck)],
                self.added,
                self.steps,
            ),
            tasks_reopened=tuple(
                task
                for task in self.state.ledger.tasks
                if self.state.ledger.task_finished(task) and not after.ledger.task_finished(task)
            ),
            steps=tuple(self.steps),
            names=main,
            fallen=self._refs(fallen),
            turn_versions=self.turn_versions,
        )

    def _refs(self, keys: Iterable[Key]) -> tuple[EventRef, ...]:
        return tuple(EventRef(stream=s, version=v) for s, v in self.line.in_order(keys))

    # --- what goes with it -----------------------------------------------------------------------

    def _close(self) -> None:
        """Name what cannot stand on struck ground, and lift earlier strikes whose ground is back."""
        while True:
            self.now_struck = self.line.struck_by(self.named)
            # Grounds come back before it is asked what lacks one.
            more = {
                key_of(strike)
                for strike in self.strikes
                if key_of(strike) not in self.now_struck and self._can_stand(self._struck_alone(strike))
            } or {
                key_of(entry)
                for entry in self.dependants
                if key_of(entry) not in self.now_struck and _falls(entry.event, self.now_struck)
            }
            if not more:
                break
            self.named |= more
        self._after = None

    def _struck_alone(self, strike: RecordedEvent) -> RecordedEvent:
        assert isinstance(strike.event, RolledBack)
        return self.streams[strike.stream_id][strike.event.names[0] - 1]

    def _can_stand(self, entry: RecordedEvent) -> bool:
        """Whether what fell with its ground may stand again by that alone, without a decision."""
        if self.line.is_derived(entry) or not _grounds(entry.event):
            return False
        if _is_promotion(entry) or self._takes_back(entry):
            return False
        return not _falls(entry.event, self.now_struck)

    def _takes_back(self, entry: RecordedEvent) -> bool:
        """Whether somebody's words ended the memory, and not another event."""
        if not isinstance(entry.event, Expired):
            return False
        causes = [self.streams[ref.stream][ref.version - 1] for ref in entry.event.caused_by]
        return any(isinstance(cause.event, Proposed) for cause in causes)

    def _undoings(self) -> tuple[dict[str, tuple[int, ...]], list[Key]]:
        """What each stream's rollback names, and what an undo strikes besides what it was asked to."""
        apart = [
            key
            for key in self.named - self.asked
            if self.undoes and not isinstance(self.streams[key[0]][key[1] - 1].event, RolledBack)
        ]
        main = self.named - set(apart)
        names = {
            stream: tuple(sorted(version for other, version in main if other == stream))
            for stream in dict.fromkeys(stream for stream, _ in self.line.in_order(main))
        }
        return names, self.line.in_order(apart)

    # --- what is decided anew --------------------------------------------------------------------

    def _decide_anew(self) -> None:
        changed = self.now_struck ^ self.was_struck
        first: Place = (min(self._since(key) for key in changed), 0)
        tasks = self._touched_tasks(changed)
        self.topics = self._touched_topics(changed)
        self.touched = {stream for stream, _ in changed if stream in self.state.memories}
        self.walk = self.line.walk(self.now_struck)
        proposals = [
            (self.line.order[key_of(e)], e, e.event)
            for e in self.events
            if isinstance(e.event, Proposed) and not self.line.is_derived(e) and not _is_personal(e.event)
        ]
        for place, entry, event in sorted(proposals, key=lambda one: one[0]):
            if place < first or key_of(entry) in self.now_struck:
                continue
            in_reach = event.context.task_id in tasks or event.target in self.touched
            if in_reach or _topics(event) & self.topics:
                self._decide_one(entry, event)
        for entry, event, decision in self.put_off:  # what stood in their way may be gone by now
            fitted = self._fitted(decision, self.line.order[key_of(entry)])
            if fitted is not None:
                self._add(entry, Redo(entry, event, fitted))

    def _since(self, key: Key) -> int:
        """Position of the first candidate that may be decided otherwise because of the event."""
        entry = self.streams[key[0]][key[1] - 1]
        base = self.line.order[key][0]
        if not self.line.is_derived(entry):
            return base
        causes = [self.streams[ref.stream][ref.version - 1] for ref in _causes(entry.event)]
        return min([base, *(self._candidate_of(cause) for cause in causes)])

    def _candidate_of(self, entry: RecordedEvent) -> int:
        """Position of the proposal that led to an event, else its own."""
        for earlier in reversed(self.streams[entry.stream_id][: entry.stream_version]):
            if earlier.event.correlation_id != entry.event.correlation_id:
                break
            if isinstance(earlier.event, Proposed):
                return self.line.order[key_of(earlier)][0]
        return self.line.order[key_of(entry)][0]

    def _decide_one(self, entry: RecordedEvent, event: Proposed) -> None:
        effect = self._effect_of(entry) if event.outcome == "accepted" else None
        if effect is not None and self._takes_back(effect):
            self._taken_back_again(entry, event, effect)
            return
        fell = effect is not None and key_of(effect) in self.now_struck
        lift = self._strike_alone_on(effect) if fell and effect is not None else None
        if fell and lift is None and not self._lost_its_ground(entry, effect):
            return
        decision = self.redecide(event, self.walk.before(self.line.order[key_of(entry)]))
        if lift is not None and decision.outcome == "accepted" and _is_decided(effect, decision):
            self._name({key_of(lift)} | self._decided_anew(entry))
        elif lift is not None and _is_promotion(effect):
            return
        elif fell:
            again = _is_promotion(effect) and decision.outcome == "held"
            if again:
                decision = replace(decision, target=entry.stream_id)
            self._redecided(entry, event, decision, again or decision.outcome in ("accepted", "confirmed"))
        elif event.outcome == "accepted":
            self._name(self._decided_anew(entry))
            if decision.outcome == "held" and _is_promotion(effect):
                self._demote(entry, event, decision)
            elif decision.outcome == "accepted" and (
                self._covers_another(effect, decision) or self._came_to_nothing(effect)
            ):
                self._name({key_of(e) for e in (effect,) if e is not None})
                self._redo(entry, event, decision)
            elif decision.outcome == "accepted":
                self._end_again(entry, effect, decision)
        else:
            held = event.outcome == "refused" and decision.outcome == "held"
            self._redecided(entry, event, decision, held or decision.outcome == "accepted")

    def _covers_another(self, effect: RecordedEvent | None, decision: Decision) -> bool:
        """Whether a version stands on another thing's memory, which would be a memory of its own now."""
        if effect is None or not isinstance(effect.event, Updated) or decision.target == effect.stream_id:
            return False
        memory = self.after.memories[effect.stream_id]
        if memory.current is None or memory.current.entry.stream_version != effect.stream_version:
            return False
        undone = undoing(effect.stream_id, memory.entries, (effect.stream_version,))
        without = memory.evolve((undone,))
        return without.current is not None and self._slot(without) != self._slot(memory)

    def _came_to_nothing(self, effect: RecordedEvent | None) -> bool:
        """Whether a version took the place of one that is retracted now: as words, they came later."""
        if effect is None or not isinstance(effect.event, Updated):
            return False
        memory = self.after.memories[effect.stream_id]
        number = effect.stream_version
        return any(v.entry.stream_version == number and memory.is_void(v) for v in memory.versions)

    def _taken_back_again(self, entry: RecordedEvent, event: Proposed, effect: RecordedEvent) -> None:
        """Words that took something back take back what they would have met, and nothing else."""
        if key_of(effect) in self.now_struck and self._strike_alone_on(effect) is None:
            return
        decision = self.redecide(event, self.walk.before(self.line.order[key_of(entry)]))
        meant = {c.memory_id for c in decision.commands if isinstance(c, EndMemory)}
        for end in self.dependants:
            if not isinstance(end.event, Expired) or entry.ref not in end.event.caused_by:
                continue
            struck = key_of(end) in self.now_struck
            lift = self._strike_alone_on(end) if struck else None
            if lift is not None and end.stream_id in meant:
                self._name({key_of(lift)})
            elif not struck and end.stream_id not in meant:
                self._name({key_of(end)})
        if key_of(effect) not in self.now_struck:
            self._end_again(entry, effect, decision)

    def _lost_its_ground(self, entry: RecordedEvent, effect: RecordedEvent | None) -> bool:
        """Whether what was accepted fell only with what it was based on, and nobody asked for that."""
        if effect is None or key_of(effect) in self.asked:
            return False
        return key_of(effect) in self.named or bool(self._standing_redos(entry))

    def _redecided(self, entry: RecordedEvent, event: Proposed, decision: Decision, wanted: bool) -> None:
        """Let in what was not let in, hold what was refused; take back what an earlier undo let in."""
        redos = self._standing_redos(entry)
        good = [redo for redo in redos if wanted and _same(redo.event, decision)][:1]
        self._name({key for redo in redos if redo not in good for key in self._written_by(redo)})
        if good and decision.outcome == "accepted":
            self._end_again(entry, self._effect_of(good[0]), decision)
        elif wanted and not good and not self._lifted(entry, decision):
            self._redo(entry, event, decision)

    def _redo(self, entry: RecordedEvent, event: Proposed, decision: Decision) -> None:
        fitted = self._fitted(decision, self.line.order[key_of(entry)])
        if fitted is None:  # it stood for a while, and whatever was said meanwhile met it
            self.walk.add(self._drafted(entry, Redo(entry, event, decision)))
            self.put_off.append((entry, event, decision))
            return
        self._add(entry, Redo(entry, event, fitted), Redo(entry, event, decision))
        self.topics |= _topics(event)

    def _demote(self, entry: RecordedEvent, event: Proposed, decision: Decision) -> None:
        effect = self._effect_of(entry)
        assert effect is not None
        self._name({key_of(effect)})
        self._redo(entry, event, replace(decision, target=entry.stream_id))

    def _end_again(self, entry: RecordedEvent, effect: RecordedEvent | None, decision: Decision) -> None:
        """What stands would have ended others than it did: those that came back in the meantime."""
        if effect is None:
            return
        self.decided.add(key_of(effect))
        self._move_again(entry, effect, [c for c in decision.commands if isinstance(c, ChangeProcess)])
        for command in decision.commands:
            if not isinstance(command, SupersedeMemory | EndMemory) or command.memory_id == entry.stream_id:
                continue
            self.ended.add((command.memory_id, key_of(effect)))
            memory = self.after.memories.get(command.memory_id)
            if memory is None or memory.current is None or self._ended_by(command.memory_id, effect):
                continue
            if not self._later(memory, self.line.order[key_of(entry)]):
                self._add(entry, ReEnd(command.memory_id, _ending(command, effect)))

    def _move_again(
        self, entry: RecordedEvent, effect: RecordedEvent, wanted: Sequence[ChangeProcess]
    ) -> None:
        """Let a process move on by what stands, or take back that an earlier undo did so."""
        moves = [
            e
            for e in self.streams.get(self.state.ledger.ledger_id, ())
            if isinstance(e.event, ProcessChanged)
            and effect.ref in e.event.caused_by
            and key_of(e) not in self.now_struck
        ]
        if moves and not wanted:
            self._name({key_of(e) for e in moves if self.line.is_derived(e)})
        place = self.line.order[key_of(entry)]
        for command in wanted if not moves else ():
            if not self._process_moved(command.process, place):
                self._add(effect, MoveOn(command, effect))

    def _ended_by(self, memory_id: str, effect: RecordedEvent) -> bool:
        return any(
            isinstance(e.event, Superseded | Expired) and effect.ref in e.event.caused_by
            for e in self.streams.get(memory_id, ())
            if key_of(e) not in self.now_struck
        )

    # --- what came later has the last word -------------------------------------------------------

    def _fitted(self, decision: Decision, place: Place) -> Decision | None:
        """The decision as it can be written now, behind all that was said since; None: not at all.

        A value that another one followed gets its closed period and does not become current; what
        was opened or taken back since is not touched by an end that came before.
        """
        commands = [self._fitted_command(command, place) for command in decision.commands]
        kept = tuple(command for command in commands if command is not None)
        if decision.commands and not kept:
            return None
        return replace(decision, commands=kept)

    def _fitted_command(self, command: Command, place: Place) -> Command | None:
        if isinstance(command, ChangeProcess):
            return None if self._process_moved(command.process, place) else command
        memory = self.after.memories.get(command.memory_id) if command.memory_id is not None else None
        if memory is None or not self._later(memory, place):
            return command
        if isinstance(command, SupersedeMemory | EndMemory):
            return None
        if isinstance(command, UpdateMemory) and command.kind in KEEPS_PLACE:
            return command
        if memory.closing is not None and memory.closing.kind == "retracted":
            return None
        return UpdateMemory(memory.memory_id, "late", command.statement, based_on=command.based_on)

    def _later(self, memory: Memory, place: Place) -> bool:
        """Whether something that decides how the memory stands counts from after the place."""
        return any(
            self.places.get(key_of(e), place) > place for e in memory.in_force() if _has_a_say(e.event)
        )

    def _process_moved(self, process: str, place: Place) -> bool:
        struck = self.after.ledger.struck
        return any(
            isinstance(e.event, ProcessChanged)
            and e.event.process == process
            and e.stream_version not in struck
            and self.places.get(key_of(e), place) > place
            for e in self.after.ledger.entries
        )

    # --- one slot, one memory --------------------------------------------------------------------

    def _share_slots(self) -> None:
        """Of memories that come to stand in one slot, the one that spoke last takes over."""
        self._free_slots()
        present, slots = self._slots(self.state), self._slots(self.after)
        for key, ids in slots.items():
            if len(ids) < 2 or present.get(key) == ids:
                continue
            ordered = sorted(ids, key=self._spoke)
            successor = self.after.memories[ordered[-1]]
            assert successor.current is not None
            cause = successor.current.entry
            for memory_id in ordered[:-1]:
                ending = _ending(SupersedeMemory(memory_id, cause.event.said_at), cause)
                self._add(cause, ReEnd(memory_id, ending))

    def _free_slots(self) -> None:
        """Take back takeovers of earlier undos that nothing calls for any more."""
        for entry in self.events:
            event = entry.event
            if not isinstance(event, Superseded) or key_of(entry) in self.now_struck:
                continue
            looked_at = self.line.is_derived(entry) and self._in_topics(entry.stream_id)
            if looked_at and not self._called_for(entry, event):
                self._name({key_of(entry)})

    def _in_topics(self, memory_id: str) -> bool:
        said = [version.statement for version in self.state.memories[memory_id].versions]
        return any((statement.subject, statement.attribute) in self.topics for statement in said)

    def _called_for(self, entry: RecordedEvent, event: Superseded) -> bool:
        causes = [(ref.stream, ref.version) for ref in event.caused_by]
        if any((entry.stream_id, cause) in self.ended for cause in causes):
            return True
        entries = self.after.memories[entry.stream_id].entries
        without = Memory(
            entry.stream_id, (*entries, undoing(entry.stream_id, entries, (entry.stream_version,)))
        )
        successor = self.after.memories.get(event.successor)
        if without.current is None:
            return False
        if successor is None or successor.current is None:
            return True
        if self._slot(without) == self._slot(successor):
            return True
        decided_anew = any(cause in self.decided for cause in causes)
        return not decided_anew and not self._by_a_person(causes)

    def _by_a_person(self, causes: Sequence[Key]) -> bool:
        events = [self.streams[stream][version - 1].event for stream, version in causes]
        return any(
            isinstance(e, Created | Updated) and e.statement.provenance.turn_id is None for e in events
        )

    def _slots(self, state: OwnerState) -> dict[str, list[str]]:
        slots: dict[str, list[str]] = {}
        for memory in state.active():
            slots.setdefault(self._slot(memory), []).append(memory.memory_id)
        return slots

    def _slot(self, memory: Memory) -> str:
        assert memory.current is not None
        return self.state.slot(memory.current.statement).key

    def _spoke(self, memory_id: str) -> Place:
        current = self.after.memories[memory_id].current
        assert current is not None
        return self.places[key_of(current.entry)]

    # --- steps -----------------------------------------------------------------------------------

    def _name(self, keys: set[Key]) -> None:
        """Undo these as well."""
        if not keys:
            return
        before = self.now_struck
        self.named |= keys
        self._close()
        if self.now_struck != before:
            self.walk.strike(self.now_struck)

    def _add(self, entry: RecordedEvent, step: Step, logically: Step | None = None) -> None:
        """Take a step, and let what it writes count from the place of the recorded candidate on.

        `logically` is the step as it would have been taken then.
        """
        written = self._drafted(entry, step)
        base = self.places[key_of(entry)][0]
        for event in written:
            self.places[key_of(event)] = (base, self.state.position + 1 + len(self.added))
            self.added.append(event)
        if logically is not None:
            then = written if logically == step else self._drafted(entry, logically)
            self.walk.add(then)
        elif not isinstance(step, Redo):
            self.walk.add(written)
        planned = tuple(event.ref for event in written)
        self.steps.append(replace(step, planned=planned))
        self._after = self.after.evolve(written)

    def _drafted(self, entry: RecordedEvent, step: Step) -> list[RecordedEvent]:
        draft = Draft(self.after, _PlanIds(len(self.steps) + 1))
        draft.knows_turns(self.turn_versions)
        header = Header("system", "", entry.event.policy, entry.event.said_at, entry.event.simulated)
        step.write(draft, header, RealNames())
        return [
            RecordedEvent(
                self.state.position + 1, new.stream_id, new.stream_version, entry.recorded_at, new.event
            )
            for new in draft.events
        ]

    @property
    def after(self) -> OwnerState:
        """The state once everything planned so far is written."""
        if self._after is None:
            names, fallen = self._undoings()
            for stream, version in fallen:
                names[stream] = (*names.get(stream, ()), version)
            undoings = [undoing(s, self.streams[s], tuple(sorted(v))) for s, v in names.items()]
            self._after = self.state.evolve(undoings).evolve(self.added)
        return self._after

    # --- what was decided before -----------------------------------------------------------------

    def _redos(self) -> dict[Key, list[RecordedEvent]]:
        """By recorded proposal, those that decided it anew."""
        redos: dict[Key, list[RecordedEvent]] = {}
        for entry in self.dependants:
            if isinstance(entry.event, Proposed):
                for ref in entry.event.caused_by:
                    redos.setdefault((ref.stream, ref.version), []).append(entry)
        return redos

    def _standing_redos(self, entry: RecordedEvent) -> list[RecordedEvent]:
        """The proposals that decided the recorded one anew and stand, with what they led to."""
        standing = []
        for redo in self.redos.get(key_of(entry), []):
            assert isinstance(redo.event, Proposed)
            effect = self._effect_of(redo) if redo.event.outcome == "accepted" else None
            if not {key_of(e) for e in (redo, effect) if e is not None} & self.now_struck:
                standing.append(redo)
        return standing

    def _lifted(self, entry: RecordedEvent, decision: Decision) -> bool:
        """Let stand again what decided the same before and fell only with its ground; False: nothing did."""
        for redo in self.redos.get(key_of(entry), []):
            if not _same(redo.event, decision):
                continue
            struck = [e for e in self._family(redo) if key_of(e) in self.now_struck]
            strikes = [strike for e in struck if (strike := self._strike_alone_on(e)) is not None]
            if struck and len(strikes) == len(struck):
                self._name({key_of(strike) for strike in strikes})
                return True
        return False

    def _decided_anew(self, entry: RecordedEvent) -> set[Key]:
        return {key for redo in self._standing_redos(entry) for key in self._written_by(redo)}

    def _written_by(self, redo: RecordedEvent) -> set[Key]:
        """The events in force that a proposal decided anew led to, and itself."""
        return {key_of(e) for e in self._family(redo)} - self.now_struck

    def _family(self, redo: RecordedEvent) -> list[RecordedEvent]:
        """A proposal decided anew, and all that it led to in the same batch."""
        assert isinstance(redo.event, Proposed)
        grounds, family = {*redo.event.caused_by, redo.ref}, [redo]
        for e in self.dependants:
            same_batch = e.event.correlation_id == redo.event.correlation_id
            if same_batch and not isinstance(e.event, Proposed) and grounds & set(_causes(e.event)):
                family.append(e)
                grounds.add(e.ref)
        return family

    def _strike_alone_on(self, effect: RecordedEvent) -> RecordedEvent | None:
        """The strike of an earlier undo by which alone the event is undone; None when there is more."""
        mine = [
            s
            for s in self.strikes
            if s.stream_id == effect.stream_id
            and key_of(s) not in self.now_struck
            and self._struck_alone(s) is effect
        ]
        if not mine:
            return None
        without = self.line.struck_by(self.named | {key_of(s) for s in mine})
        return None if key_of(effect) in without else mine[-1]

    def _effect_of(self, entry: RecordedEvent) -> RecordedEvent | None:
        """The event that an accepted proposal led to in its own stream."""
        for later in self.streams[entry.stream_id][entry.stream_version :]:
            if isinstance(later.event, Proposed) or later.event.correlation_id != entry.event.correlation_id:
                return None
            if isinstance(later.event, Created | Updated | Superseded | Expired):
                return later
        return None

    def _touched_topics(self, changed: set[Key]) -> set[tuple[str, str]]:
        topics = set()
        for stream in {stream for stream, _ in changed if stream in self.state.memories}:
            for version in self.state.memories[stream].versions:
                topics.add((version.statement.subject, version.statement.attribute))
            for _, proposal in self.state.memories[stream].proposals:
                topics |= _topics(proposal)
        for stream, number in changed:
            event = self.streams[stream][number - 1].event
            if isinstance(event, Proposed):
                topics |= _topics(event)
        return topics

    def _touched_tasks(self, changed: set[Key]) -> set[str | None]:
        events = [self.streams[stream][version - 1].event for stream, version in changed]
        return {event.task_id for event in events if isinstance(event, TaskChanged)}


class _PlanIds:
    """Ids for memories that a plan would open; the real ones are given when it is applied."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._given = 0

    def new_id(self) -> str:
        self._given += 1
        return f"{self._step:016x}{self._given:016x}"


def _causes(event: Event) -> tuple[EventRef, ...]:
    causes: tuple[EventRef, ...] = getattr(event, "caused_by", ())
    return causes


def _grounds(event: Event) -> bool:
    """Whether the event rests on others."""
    return bool(_causes(event) or getattr(event, "based_on", ()))


def _falls(event: Event, struck: set[Key]) -> bool:
    """Whether an event cannot stand while those are struck."""
    causes = [(ref.stream, ref.version) in struck for ref in _causes(event)]
    if isinstance(event, Created | Updated):
        if any((ref.stream, ref.version) in struck for ref in event.based_on):
            return True
        return bool(causes) and all(causes)
    return any(causes)


def _is_strike(event: Event) -> bool:
    """Whether an undo struck something on its own account."""
    return isinstance(event, RolledBack) and (event.actor, event.reason) == (ANEW.actor, ANEW.reason)


def _has_a_say(event: Event) -> bool:
    """Whether the event decides what its memory says from then on; a past period does not."""
    if isinstance(event, Created | Updated):
        end = event.statement.end.at
        over = end is not None and end <= event.said_at
        return not over and not (isinstance(event, Updated) and event.kind == "late")
    return isinstance(event, Superseded | Expired)


def _is_personal(event: Proposed) -> bool:
    """Whether a person decided: such decisions are not taken again.

    An import is none. Somebody vouches for what it says, and that counts again where it is all that is left.
    """
    channel = event.candidate.channel
    return channel == "person" or (channel != "import" and event.actor.startswith("operator:"))


def _is_promotion(effect: RecordedEvent | None) -> bool:
    return effect is not None and isinstance(effect.event, Created) and bool(effect.event.caused_by)


def _is_decided(effect: RecordedEvent | None, decision: Decision) -> bool:
    """Whether only a decision struck the event, and this one lets it stand again."""
    if effect is None:
        return False
    rests_on_itself = not _grounds(effect.event) and decision.target == effect.stream_id
    return _is_promotion(effect) or rests_on_itself


def _same(redo: Event, decision: Decision) -> bool:
    """Whether a proposal says what the decision says."""
    assert isinstance(redo, Proposed)
    return (redo.action, redo.outcome, redo.reason, redo.statement) == (
        decision.action,
        decision.outcome,
        decision.reason,
        decision.statement,
    ) and (decision.target is None or redo.target == decision.target)


def _ending(command: SupersedeMemory | EndMemory, cause: RecordedEvent) -> Superseded | Expired:
    header = Header("system", "", cause.event.policy, cause.event.said_at, cause.event.simulated)
    fields = {**header.fields(), "caused_by": (cause.ref,), "at": command.at}
    if isinstance(command, SupersedeMemory):
        return Superseded(**fields, successor=cause.stream_id)
    return Expired(**fields, kind=command.kind, reason=command.reason)


def _topics(proposal: Proposed) -> set[tuple[str, str]]:
    """Subject and attribute that a proposal is about, as observed and as decided."""
    topics = {(proposal.candidate.subject, proposal.candidate.attribute)}
    if proposal.statement is not None:
        topics.add((proposal.statement.subject, proposal.statement.attribute))
    return topics
