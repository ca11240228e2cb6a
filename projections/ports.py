"""What readers of the projections are promised, whichever database keeps the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from ..domain.memory import Status
from ..domain.owner import Owner
from ..domain.scope import ScopeKind
from ..domain.statement import Statement
from ..domain.values import EventRef, Outcome
from .rows import BatchRow, DecisionRow, HeldRow, MemoryRow, PeriodRow, TurnRow, VersionRow


@dataclass(frozen=True, slots=True)
class Listed:
    """A memory in a list, with the version that the list is about.

    `memory` is as known at the `as_of` of the question. `period` says which version holds at its
    `valid_at`, which need not be the current one, and since when; it is None where the list asked for
    statuses and not for what holds.
    """

    memory: MemoryRow
    period: PeriodRow | None = None
    read: Callable[[int], Statement] | None = field(default=None, repr=False, compare=False)
    """Reads the statement of the event at a position."""

    @property
    def memory_id(self) -> str:
        """The memory's full id."""
        return self.memory.memory_id

    @property
    def said_pos(self) -> int | None:
        """Position of the event that has the statement; None where there is none."""
        return self.memory.said_pos if self.period is None else self.period.said_pos

    @property
    def shows_memory(self) -> bool:
        """Whether the list is about the version that the memory's row shows."""
        return self.period is None or self.period.said_pos == self.memory.said_pos

    @property
    def statement(self) -> Statement | None:
        """What holds at the time that the list is about; read from its event."""
        if self.shows_memory or self.period is None or self.read is None:
            return self.memory.statement
        return self.read(self.period.said_pos)

    @property
    def content(self) -> str:
        """What it says, at the time that the list is about."""
        if self.shows_memory or self.statement is None:
            return self.memory.content
        return self.statement.content


Kind = Literal["memory", "turn", "batch"]


@dataclass(frozen=True, slots=True)
class Found:
    """Something whose id begins with the digits that were given."""

    kind: Kind
    id: str


@dataclass(frozen=True, slots=True)
class DecisionQuery:
    """Which decisions are wanted; everything that is None does not restrict.

    `since` and `until` are about when the words were said: `[since, until)`. `limit` keeps the last
    ones. `in_force` false asks for those that were undone.
    """

    session: str | None = None
    outcome: Outcome | None = None
    kind: Literal["judged", "proposed"] | None = None
    since: datetime | None = None
    until: datetime | None = None
    turn_id: str | None = None
    memory_id: str | None = None
    correlation_id: str | None = None
    in_force: bool | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is of one owner's. Statuses and outcomes that do not occur are left out."""

    memories: dict[Status, int]
    decisions: dict[Outcome, int]
    turns: int


class Views(Protocol):
    """One owner's rows. Every call names the owner; nothing is ever read across owners.

    `as_of` is a position of the owner's partition, None for the present; an answer as of a position
    is the answer that was given when that position was the last one. `valid_at` is a time in the
    world. An unknown owner has no rows.
    """

    def memories(
        self,
        owner: Owner,
        *,
        valid_at: datetime | None = None,
        status: Status | Collection[Status] | None = None,
        as_of: int | None = None,
        scope: ScopeKind | None = None,
        limit: int | None = None,
    ) -> Sequence[Listed]:
        """Memories, oldest first; `limit` keeps the first ones.

        With `valid_at` those that hold at that moment: what ended before is not among them, whether
        or not anything recorded the end, nor what begins later. With `status` those that have one of
        these. With both, what holds at the moment and has the status. With neither, all of them.
        """

    def held(self, owner: Owner, valid_at: datetime) -> Sequence[HeldRow]:
        """What holds at a moment as far as is known now, in no order: for whoever has to choose among it.

        The same versions as of `memories(owner, valid_at=…)`, in half the time.
        """

    def said(self, owner: Owner, positions: Sequence[int]) -> Mapping[int, Statement]:
        """The statements of the owner's events at these positions; those that have none are left out."""

    def memory(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> MemoryRow | None:
        """One memory by its full id; None when the owner has none by that id."""

    def versions(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> Sequence[VersionRow]:
        """Every version, undone ones too, by number; empty for an unknown memory."""

    def periods(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> Sequence[PeriodRow]:
        """What is known to hold when, disjoint, ascending by `valid_from`; `known_to` is None."""

    def known_periods(self, owner: Owner, memory_id: str) -> Sequence[PeriodRow]:
        """All that ever was known to hold, ascending by `known_from`, then `valid_from`."""

    def decisions(self, owner: Owner, query: DecisionQuery) -> Sequence[DecisionRow]:
        """The decisions that fit, ascending by position."""

    def decision(self, owner: Owner, ref: EventRef) -> DecisionRow | None:
        """The judgement or proposal that an event recorded, None when it was neither."""

    def turn(self, owner: Owner, turn_id: str) -> TurnRow | None:
        """One turn by its full id, None when it was never judged."""

    def turns(
        self, owner: Owner, *, session: str | None = None, limit: int | None = None
    ) -> Sequence[TurnRow]:
        """Turns, ascending by position of their last judgement; `limit` keeps the last ones."""

    def batches(self, owner: Owner) -> Sequence[BatchRow]:
        """Batches in the order in which they were opened."""

    def resolve(self, owner: Owner, prefix: str, kind: Kind | None = None) -> Sequence[Found]:
        """What of the owner's has an id that begins with these hex digits; empty for other text.

        With a `kind` only what is of it.
        """

    def counts(self, owner: Owner) -> Counts:
        """How many memories of each status, decisions of each outcome in force, and turns."""
