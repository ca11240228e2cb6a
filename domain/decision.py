"""What the policy decides about a candidate, and the commands that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from .candidate import Candidate, SignalKind
from .owner_state import OwnerState
from .statement import Statement
from .turn import TurnContext
from .values import Action, EventRef, Outcome, UpdateKind


@dataclass(frozen=True, slots=True)
class CreateMemory:
    """Let a version become active where none is.

    `memory_id` is the memory that has none (held, ended, withdrawn); None opens a new memory.
    """

    statement: Statement
    memory_id: str | None = None
    based_on: tuple[EventRef, ...] = ()
    caused_by: tuple[EventRef, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateMemory:
    """Give a memory its next version. `of` is the chain version that it is about."""

    memory_id: str
    kind: UpdateKind
    statement: Statement
    of: int | None = None
    based_on: tuple[EventRef, ...] = ()


@dataclass(frozen=True, slots=True)
class SupersedeMemory:
    """End a memory because the one that this decision creates or updates says it better."""

    memory_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EndMemory:
    """End a memory at a time, or take it back."""

    memory_id: str
    kind: Literal["ended", "retracted"]
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class ChangeProcess:
    """A long process of the owner's moved on; `final` ends what hangs on it."""

    process: str
    stage: str
    final: bool
    at: datetime


Command = CreateMemory | UpdateMemory | SupersedeMemory | EndMemory | ChangeProcess


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a candidate.

    `target` is the memory that it concerns; for a held candidate None opens the memory that its
    promotion will fill. `commands` are carried out in order, in the same append; there are none
    unless the outcome is `accepted`. `statement` is what would stand, None where the policy refused
    before computing it. `rule` is the policy's rule that decided, `reason` a stable code.
    """

    action: Action
    outcome: Outcome
    reason: str
    rule: str
    target: str | None = None
    statement: Statement | None = None
    commands: tuple[Command, ...] = ()


REACHING: tuple[SignalKind, ...] = ("limiting", "exception", "passing", "everything", "lasting", "family")
"""Signals of words that reach over the values of an attribute, for a while or for good."""


RelationKind = Literal["same", "paraphrase", "opposite", "named", "better", "covers"]


@dataclass(frozen=True, slots=True)
class Relation:
    """How an existing memory relates to a candidate.

    `same`: says it already. `paraphrase`: says it in other words. `opposite`: the same thing with
    the other polarity. `named`: the memory that the candidate's words point at (for a change,
    correction or retraction). `better`: free text that the candidate says better. `covers`: same
    subject and attribute in a scope that covers the turn; where the attribute has many values and no
    word is shared, only for a candidate with a `REACHING` signal, since there may be very many.
    """

    kind: RelationKind
    memory_id: str
    score: float
    """0..1, how sure the relation is; ties are broken by the later memory."""
    wording: tuple[str, str | None] | None = None
    """For `named`: content and value of the memory with the candidate's contrast carried into them."""


class RelationFinder(Protocol):
    """Finds the memories that a candidate is about. Pure: the same state gives the same answer."""

    def relations(
        self, candidate: Candidate, statement: Statement | None, context: TurnContext, state: OwnerState
    ) -> Sequence[Relation]:
        """Relations, surest first; empty when the candidate is about nothing that is remembered."""
