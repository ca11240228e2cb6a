"""Events in the making: decisions become events of the right streams, in the right order.

A draft carries the owner's state along, so that the second candidate of a turn sees what the first
one did. Nothing is written until the whole draft is appended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .candidate import Candidate
from .decision import (
    ChangeProcess,
    Command,
    CreateMemory,
    Decision,
    EndMemory,
    SupersedeMemory,
    UpdateMemory,
)
from .events import Created, Event, Expired, ProcessChanged, Proposed, Superseded, Updated
from .memory import Memory
from .owner_state import OwnerState
from .ports import IdSource
from .stream import NewEvent, RecordedEvent
from .turn import TurnContext
from .values import EventRef

UNRECORDED = datetime.max.replace(tzinfo=UTC)
"""Stands for `recorded_at` until the store has given the real one."""


@dataclass(frozen=True, slots=True)
class Header:
    """What every event of a draft says of itself."""

    actor: str
    correlation_id: str
    policy: str
    said_at: datetime
    simulated: bool = False

    def fields(self) -> dict[str, Any]:
        """As arguments for an event's constructor."""
        return {
            "actor": self.actor,
            "correlation_id": self.correlation_id,
            "policy": self.policy,
            "said_at": self.said_at,
            "simulated": self.simulated,
        }


class Draft:
    """Collects the events of one append on top of an owner's state."""

    def __init__(self, state: OwnerState, ids: IdSource) -> None:
        self.state = state
        self.ids = ids
        self._before = state
        self.events: list[NewEvent] = []
        self._turn_versions: dict[str, int] = {}

    def knows_turns(self, stream_versions: Mapping[str, int]) -> None:
        """Tell how many events the streams of turns hold already, by turn."""
        self._turn_versions = {**stream_versions, **self._turn_versions}

    def add(self, stream_id: str, event: Event) -> EventRef:
        """Let an event become the next of its stream."""
        version = self._stream_version(stream_id) + 1
        if stream_id in self._turn_versions:
            self._turn_versions[stream_id] = version
        self.events.append(NewEvent(stream_id, version, event))
        provisional = RecordedEvent(self.state.position + 1, stream_id, version, UNRECORDED, event)
        self.state = self.state.evolve((provisional,))
        return EventRef(stream=stream_id, version=version)

    def recorded(self, events: Sequence[RecordedEvent]) -> OwnerState:
        """The state once the draft's events are recorded, as the store gave them back."""
        return self._before.evolve(events).found_like(self.state)

    def carry_out(
        self,
        candidate: Candidate,
        context: TurnContext,
        decision: Decision,
        header: Header,
        *,
        caused_by: tuple[EventRef, ...] = (),
    ) -> tuple[EventRef, str | None]:
        """Write a decision down: the proposal, and the events of its commands.

        `caused_by` names recorded proposals when this one is decided anew.

        Returns:
            The proposal's reference, and the memory it went to (None: it stays with its turn).
        """
        memory_id = self._home(decision)
        proposal = self.add(
            memory_id or context.turn_id,
            Proposed(
                **header.fields(),
                candidate=candidate,
                context=context,
                action=decision.action,
                outcome=decision.outcome,
                reason=decision.reason,
                rule=decision.rule,
                target=memory_id,
                statement=decision.statement,
                caused_by=caused_by,
            ),
        )
        self.perform(decision.commands, memory_id, proposal, header, candidate, support=caused_by)
        return proposal, memory_id

    def perform(
        self,
        commands: Sequence[Command],
        memory_id: str | None,
        proposal: EventRef,
        header: Header,
        candidate: Candidate | None = None,
        *,
        support: tuple[EventRef, ...] = (),
    ) -> None:
        """Write the events of the commands, in their order.

        `memory_id` is where a new version goes; `support` are recorded proposals that this decision,
        made anew, rests on.
        """
        cause, target = proposal, memory_id
        for command in commands:
            match command:
                case CreateMemory():
                    target = command.memory_id or target or self.ids.new_id()
                    cause = self.add(target, _created(command, proposal, header, support))
                case UpdateMemory():
                    ref = self.add(command.memory_id, _updated(command, header, support))
                    cause = ref if command.memory_id == memory_id else cause
                case SupersedeMemory():
                    assert target is not None, "a supersession follows what supersedes"
                    self.add(command.memory_id, _superseded(command, target, cause, header))
                case EndMemory():
                    self.add(command.memory_id, _expired(command, candidate, (proposal, *support), header))
                case ChangeProcess():
                    self._change_process(command, header, cause)

    def _change_process(self, command: ChangeProcess, header: Header, cause: EventRef) -> None:
        """Record the transition; a final one ends every memory that hangs on the process."""
        moved = self.add(
            self.state.ledger.ledger_id,
            ProcessChanged(
                **header.fields(),
                process=command.process,
                stage=command.stage,
                final=command.final,
                at=command.at,
                caused_by=(cause,),
            ),
        )
        if command.final:
            self.end_all(
                [m.memory_id for m in self.state.active() if _ends_with_process(m, command.process)],
                header,
                at=command.at,
                reason="process_moved_on",
                cause=moved,
            )

    def end_all(
        self, memory_ids: Sequence[str], header: Header, *, at: datetime, reason: str, cause: EventRef
    ) -> None:
        """End several memories for one cause."""
        for memory_id in memory_ids:
            self.add(
                memory_id,
                Expired(**header.fields(), kind="ended", at=at, reason=reason, caused_by=(cause,)),
            )

    def _home(self, decision: Decision) -> str | None:
        """The memory that the proposal goes to; a new id where the decision opens one."""
        for command in decision.commands:
            if isinstance(command, CreateMemory):
                return command.memory_id or self.ids.new_id()
        if decision.target is not None:
            return decision.target
        return self.ids.new_id() if decision.outcome == "held" else None

    def _stream_version(self, stream_id: str) -> int:
        if stream_id == self.state.ledger.ledger_id:
            return self.state.ledger.stream_version
        memory = self.state.memories.get(stream_id)
        if memory is not None:
            return memory.stream_version
        return self._turn_versions.get(stream_id, 0)


def _ends_with_process(memory: Memory, process: str) -> bool:
    end = memory.current.statement.end if memory.current else None
    return end is not None and end.kind == "process" and end.process == process


def _created(
    command: CreateMemory, proposal: EventRef, header: Header, support: tuple[EventRef, ...]
) -> Created:
    """A promotion names every sighting it rests on, the present one too."""
    legs = (*command.caused_by, proposal) if command.caused_by else ()
    return Created(
        **header.fields(),
        statement=command.statement,
        based_on=command.based_on,
        caused_by=(*legs, *support),
    )


def _updated(command: UpdateMemory, header: Header, support: tuple[EventRef, ...]) -> Updated:
    return Updated(
        **header.fields(),
        kind=command.kind,
        of=command.of,
        statement=command.statement,
        based_on=command.based_on,
        caused_by=support,
    )


def _superseded(command: SupersedeMemory, successor: str, cause: EventRef, header: Header) -> Superseded:
    return Superseded(**header.fields(), successor=successor, at=command.at, caused_by=(cause,))


def _expired(
    command: EndMemory, candidate: Candidate | None, causes: tuple[EventRef, ...], header: Header
) -> Expired:
    quotes = [quote for item in candidate.evidence for quote in item.quotes] if candidate else []
    return Expired(
        **header.fields(),
        kind=command.kind,
        at=command.at,
        reason=command.reason,
        quote=quotes[0] if quotes else None,
        caused_by=causes,
    )
