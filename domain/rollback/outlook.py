"""What a plan has come to so far: the undoings and steps, and the state once they are written."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import cached_property

from ..decision import EndMemory, SupersedeMemory
from ..draft import Draft, Header
from ..events import Expired, Superseded
from ..owner_state import OwnerState
from ..plan import RealNames, Redo, ReEnd, Step
from ..stream import RecordedEvent
from ..timeline import Key, Place, Walk, key_of, undoing
from .recorded import Recorded
from .struck import Struck


class Outlook:
    """The owner's state once everything planned so far is written, and the steps that lead to it."""

    def __init__(self, recorded: Recorded, struck: Struck) -> None:
        self._recorded, self._struck = recorded, struck
        self.places = dict(recorded.line.order)
        """Where events count, those of the steps too."""
        self.steps: list[Step] = []
        self.added: list[RecordedEvent] = []
        """Events of the steps, under provisional names."""
        self.turn_versions = recorded.turn_versions
        self._after: OwnerState | None = None

    @property
    def after(self) -> OwnerState:
        """The state."""
        if self._after is None:
            names, fallen = self._struck.undoings()
            for stream, version in fallen:
                names[stream] = (*names.get(stream, ()), version)
            streams = self._recorded.streams
            undoings = [undoing(s, streams[s], tuple(sorted(v))) for s, v in names.items()]
            self._after = self._recorded.state.evolve(undoings).evolve(self.added)
        return self._after

    @cached_property
    def _walk(self) -> Walk:
        return self._recorded.line.walk(self._struck.now)

    def before(self, entry: RecordedEvent) -> OwnerState:
        """The state on which a recorded candidate is decided again; they are asked for in their order."""
        return self._walk.before(self._recorded.line.order[key_of(entry)])

    def undo(self, keys: Set[Key]) -> None:
        """Undo these as well."""
        if not keys:
            return
        changed = self._struck.add(keys)
        self._after = None
        if changed:
            self._walk.strike(self._struck.now)

    def add(self, entry: RecordedEvent, step: Step, logically: Step | None = None) -> None:
        """Take a step, and let what it writes count from the place of the recorded candidate on.

        `logically` is the step as it would have been taken then.
        """
        written = self._drafted(entry, step)
        base = self.places[key_of(entry)][0]
        for event in written:
            place: Place = (base, self._recorded.state.position + 1 + len(self.added))
            self.places[key_of(event)] = place
            self.added.append(event)
        if logically is not None:
            self._walk.add(written if logically == step else self._drafted(entry, logically))
        elif not isinstance(step, Redo):
            self._walk.add(written)
        self.steps.append(replace(step, planned=tuple(event.ref for event in written)))
        self._after = self.after.evolve(written)

    def suppose(self, entry: RecordedEvent, step: Step) -> None:
        """Let later candidates be decided as if the step had been taken then; nothing of it is written."""
        self._walk.add(self._drafted(entry, step))

    def _drafted(self, entry: RecordedEvent, step: Step) -> Sequence[RecordedEvent]:
        draft = Draft(self.after, _PlanIds(len(self.steps) + 1))
        draft.knows_turns(self.turn_versions)
        header = Header("system", "", entry.event.policy, entry.event.said_at, entry.event.simulated)
        step.write(draft, header, RealNames())
        position = self._recorded.state.position + 1
        return [
            RecordedEvent(position, new.stream_id, new.stream_version, entry.recorded_at, new.event)
            for new in draft.events
        ]


class _PlanIds:
    """Ids for memories that a plan would open; the real ones are given when it is applied."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._given = 0

    def new_id(self) -> str:
        self._given += 1
        return f"{self._step:016x}{self._given:016x}"


def end_by(cause: RecordedEvent, command: SupersedeMemory | EndMemory) -> ReEnd:
    """The step that ends a memory because of an event that stands."""
    header = Header("system", "", cause.event.policy, cause.event.said_at, cause.event.simulated)
    fields = {**header.fields(), "caused_by": (cause.ref,), "at": command.at}
    if isinstance(command, SupersedeMemory):
        return ReEnd(command.memory_id, Superseded(**fields, successor=cause.stream_id))
    return ReEnd(command.memory_id, Expired(**fields, kind=command.kind, reason=command.reason))
