"""An undo as a plan: what it would do to each memory, and the events that do it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from .decision import Decision
from .draft import UNRECORDED, Draft, Header
from .events import Expired, Proposed, RolledBack, Superseded
from .owner_state import OwnerState
from .selector import Selector
from .statement import Statement
from .stream import RecordedEvent
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
    turn_versions: Mapping[str, int] = field(default_factory=dict, repr=False)

    @cached_property
    def token(self) -> str:
        """Equal tokens mean the same plan: the same events undone, with the same effects.

        Traffic elsewhere does not change it; anything that happens to a touched memory does.
        """
        what = [
            [f"{ref.stream}@{ref.version}" for ref in (*self.selected, *self.struck)],
            [[stream, *names] for stream, names in sorted(self.names.items())],
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
        for turn_id, stream_version in self.turn_versions.items():
            draft.knows_turn(turn_id, stream_version)
        for stream_id, versions in self.names.items():
            draft.add(
                stream_id,
                RolledBack(
                    **header.fields(),
                    names=versions,
                    batch_id=batch_id,
                    reason=reason,
                    witness=_standing(draft.state, stream_id, versions),
                ),
            )
        for step in self.steps:
            step.write(draft, header)


@dataclass(frozen=True, slots=True)
class Redo:
    """A recorded proposal that is decided anew with another outcome."""

    recorded: RecordedEvent
    proposal: Proposed
    decision: Decision

    def write(self, draft: Draft, header: Header) -> None:
        """Add the new proposal and what follows from it, under the policy recorded then.

        The batch says who asked for the undo; what is decided anew is nobody's personal decision.
        """
        draft.carry_out(
            self.proposal.candidate,
            self.proposal.context,
            self.decision,
            replace(header, actor="system", policy=self.recorded.event.policy),
            caused_by=(self.recorded.ref,),
        )


@dataclass(frozen=True, slots=True)
class ReEnd:
    """A memory that another one ends now, because the one that ended it is gone."""

    memory_id: str
    event: Superseded | Expired

    def write(self, draft: Draft, header: Header) -> None:
        """Add the end."""
        draft.add(self.memory_id, self.event.model_copy(update=replace(header, actor="system").fields()))


Step = Redo | ReEnd


def undoing(stream: str, entries: Sequence[RecordedEvent], names: tuple[int, ...]) -> RecordedEvent:
    """A rollback that only a fold sees; it is never written."""
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


def _said(statement: Statement | None) -> str | None:
    return None if statement is None else statement.model_dump_json()


def _standing(state: OwnerState, stream_id: str, names: tuple[int, ...]) -> Statement | None:
    """What stands in a memory once these events are undone."""
    memory = state.memories.get(stream_id)
    if memory is None:
        return None
    undone = memory.evolve((undoing(stream_id, memory.entries, names),))
    return undone.current.statement if undone.current else None
