"""An undo as a plan: what it would do to each memory, and the events that do it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from .decision import (
    ChangeProcess,
    Command,
    CreateMemory,
    Decision,
    EndMemory,
    SupersedeMemory,
    UpdateMemory,
)
from .draft import Draft, Header
from .events import Expired, Proposed, RolledBack, Superseded
from .owner_state import OwnerState
from .selector import Selector
from .statement import Statement
from .stream import NewEvent, RecordedEvent
from .timeline import without
from .values import EventRef

PROVISIONAL = "0" * 8
"""Ids of memories that a plan would open begin with it; ids that were given never do."""

Fate = Literal["withdrawn", "revived", "reinstated", "re-ended", "held", "changed", "survives"]


@dataclass(frozen=True, slots=True)
class Effect:
    """One memory that the plan touches, before and after."""

    memory_id: str
    fate: Fate
    before: Statement | None
    after: Statement | None
    successor: str | None = None
    """For `re-ended`: the memory that takes over."""


@dataclass(frozen=True)
class Plan:
    """What an undo would do. Nothing is written until it is applied.

    `selected` are the events that the selector named, `struck` all that is undone in the end.
    `effects` are in the order in which the memories were opened.
    """

    selector: Selector
    selected: tuple[EventRef, ...]
    struck: tuple[EventRef, ...]
    effects: tuple[Effect, ...]
    tasks_reopened: tuple[str, ...] = ()
    steps: tuple[Step, ...] = field(default=(), repr=False)
    names: Mapping[str, tuple[int, ...]] = field(default_factory=dict, repr=False)
    """By stream, the stream versions that its `RolledBack` will name."""
    fallen: Sequence[EventRef] = field(default=(), repr=False)
    """What an undo cannot let stand, because what it rests on stays undone; one `RolledBack` each, so
    that each can be lifted for itself once its ground is back."""
    turn_versions: Mapping[str, int] = field(default_factory=dict, repr=False)

    @cached_property
    def token(self) -> str:
        """Equal tokens mean the same plan: the same events undone, with the same effects.

        Traffic elsewhere does not change it; anything that happens to a touched memory does.
        """
        what = [
            [f"{ref.stream}@{ref.version}" for ref in (*self.selected, *self.struck)],
            [[stream, *names] for stream, names in sorted(self.names.items())],
            [f"{ref.stream}@{ref.version}" for ref in self.fallen],
            [
                [effect.memory_id, effect.fate, _said(effect.before), _said(effect.after)]
                for effect in self.effects
                if not effect.memory_id.startswith(PROVISIONAL)
            ],
        ]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]

    @property
    def empty(self) -> bool:
        """Whether the selector named nothing."""
        return not self.selected

    def draft(self, draft: Draft, header: Header, batch_id: str, reason: str) -> None:
        """Write the plan's events onto a draft of the same owner's present state."""
        draft.knows_turns(self.turn_versions)
        undoings = [(stream_id, versions, header, reason) for stream_id, versions in self.names.items()]
        anew = replace(header, actor=ANEW.actor)
        undoings += [(ref.stream, (ref.version,), anew, ANEW.reason) for ref in self.fallen]
        for stream_id, versions, said, why in undoings:
            draft.add(
                stream_id,
                RolledBack(
                    **said.fields(),
                    names=versions,
                    batch_id=batch_id,
                    reason=why,
                    witness=_standing(draft.state, stream_id, versions),
                ),
            )
        names = RealNames()
        for step in self.steps:
            before = len(draft.events)
            step.write(draft, header, names)
            names.learn(step.planned, draft.events[before:])


@dataclass(frozen=True, slots=True)
class _Anew:
    """How an undo signs what it strikes on its own account."""

    actor: str = "system"
    reason: str = "decided_anew"


ANEW = _Anew()


@dataclass(slots=True)
class RealNames:
    """The real names of what a plan named provisionally, as its steps are written."""

    ids: dict[str, str] = field(default_factory=dict)
    refs: dict[EventRef, EventRef] = field(default_factory=dict)

    def learn(self, planned: Sequence[EventRef], written: Sequence[NewEvent]) -> None:
        """Take note of the names that a step's events got."""
        for ref, new in zip(planned, written, strict=True):
            self.ids[ref.stream] = new.stream_id
            self.refs[ref] = new.ref

    def named(self, memory_id: str) -> str:
        """The memory's real id."""
        return self.ids.get(memory_id, memory_id)

    def all(self, refs: Iterable[EventRef]) -> tuple[EventRef, ...]:
        """The events' real names."""
        return tuple(self.refs.get(ref, ref) for ref in refs)

    def decision(self, decision: Decision) -> Decision:
        """The decision about what has its real names."""
        target = None if decision.target is None else self.named(decision.target)
        return replace(decision, target=target, commands=tuple(self._command(c) for c in decision.commands))

    def _command(self, command: Command) -> Command:
        match command:
            case CreateMemory():
                return replace(
                    command,
                    memory_id=None if command.memory_id is None else self.named(command.memory_id),
                    based_on=self.all(command.based_on),
                    caused_by=self.all(command.caused_by),
                )
            case UpdateMemory():
                memory_id = self.named(command.memory_id)
                return replace(command, memory_id=memory_id, based_on=self.all(command.based_on))
            case SupersedeMemory() | EndMemory():
                return replace(command, memory_id=self.named(command.memory_id))
            case ChangeProcess():
                return command


@dataclass(frozen=True, slots=True)
class Redo:
    """A recorded proposal that is decided anew with another outcome.

    `planned` are the provisional names of what it will write.
    """

    recorded: RecordedEvent
    proposal: Proposed
    decision: Decision
    planned: tuple[EventRef, ...] = ()

    def write(self, draft: Draft, header: Header, names: RealNames) -> None:
        """Add the new proposal and what follows from it, under the policy recorded then.

        The batch says who asked for the undo; what is decided anew is nobody's personal decision.
        """
        draft.carry_out(
            self.proposal.candidate,
            self.proposal.context,
            names.decision(self.decision),
            replace(header, actor=ANEW.actor, policy=self.recorded.event.policy),
            caused_by=(self.recorded.ref,),
        )


@dataclass(frozen=True, slots=True)
class ReEnd:
    """A memory that another one ends now, because the one that ended it is gone."""

    memory_id: str
    event: Superseded | Expired
    planned: tuple[EventRef, ...] = ()

    def write(self, draft: Draft, header: Header, names: RealNames) -> None:
        """Add the end."""
        update: dict[str, object] = dict(replace(header, actor=ANEW.actor).fields())
        update["caused_by"] = names.all(self.event.caused_by)
        if isinstance(self.event, Superseded):
            update["successor"] = names.named(self.event.successor)
        draft.add(names.named(self.memory_id), self.event.model_copy(update=update))


@dataclass(frozen=True, slots=True)
class MoveOn:
    """A long process that moves on by what stands, because the one that moved it is gone."""

    command: ChangeProcess
    cause: RecordedEvent
    planned: tuple[EventRef, ...] = ()

    def write(self, draft: Draft, header: Header, names: RealNames) -> None:
        """Add the transition, and the ends that come with a final one."""
        draft.perform([self.command], None, self.cause.ref, replace(header, actor=ANEW.actor))


Step = Redo | ReEnd | MoveOn


def _said(statement: Statement | None) -> str | None:
    return None if statement is None else statement.model_dump_json()


def _standing(state: OwnerState, stream_id: str, names: tuple[int, ...]) -> Statement | None:
    """What stands in a memory once these events are undone."""
    memory = state.memories.get(stream_id)
    if memory is None:
        return None
    standing = without(memory, *names).current
    return standing.statement if standing is not None else None
