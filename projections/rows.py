"""The rows of the projections, as values.

All moments are aware. Positions are places in the log of the owner's partition. A row belongs to one
owner; whoever stores rows puts the owner before each key.

Stored are keys, what is searched and sorted by, and what lists show. What one event says in full is read
from that event: `said_pos` and the positions of decisions name it (docs/decisions/0010).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Self

from ..domain.candidate import Candidate
from ..domain.judgement import Category, Judgement
from ..domain.memory import Status
from ..domain.scope import Scope, ScopeKind
from ..domain.statement import Statement
from ..domain.values import (
    Action,
    Certainty,
    Channel,
    EventRef,
    MemoryType,
    Outcome,
    Polarity,
    Source,
    UpdateKind,
)

VersionKind = Literal["create"] | UpdateKind

PROJECTIONS: dict[str, int] = {
    "active_memories": 2,
    "memory_versions": 2,
    "decisions": 2,
    "batches": 1,
}
"""Every projection with the version of its rows; another version means that they are rebuilt."""


class _Many:
    """Rows that are made by the thousand."""

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """The row with these values, one for each field, in a fifth of the time that its class takes.

        The dict belongs to the row afterwards.
        """
        row = object.__new__(cls)
        object.__setattr__(row, "__dict__", values)
        return row


@dataclass(frozen=True, eq=False)
class MemoryRow(_Many):
    """One memory as it stands: key `memory_id`.

    What it says comes from the version that stands, else from the last one that stood, else from its
    last hint. `type`, scope and statement are None where a held candidate has no statement yet;
    an erased memory keeps nothing but its id, status and positions.
    """

    memory_id: str
    status: Status
    subject: str
    attribute: str
    type: MemoryType | None
    content: str
    value: str | None
    polarity: Polarity
    certainty: Certainty
    scope_kind: ScopeKind | None
    scope_anchor: str
    scope_rank: int | None
    """0 is the narrowest."""
    confidence: float | None
    importance: int
    source: Source | None
    slot_key: str
    """Equal keys are about the same thing; empty where there is no statement."""
    valid_from: datetime | None
    ends_at: datetime | None
    """The dated end that the statement names, exclusive; None for any other end."""
    chain_version: int
    """Number of the version that is shown; 0 where only hints exist."""
    versions: int
    """How many versions there ever were, struck ones too."""
    stream_version: int
    session: str | None
    agent: str | None
    turn_id: str | None
    said_at: datetime | None
    confirmations: int
    confirmed_at: datetime | None
    """When it was last said again; None while it never was."""
    hints: int
    """Held proposals in force."""
    occasions: int
    """Different tasks, else sessions, in which the hints were seen."""
    pinned: bool
    created_pos: int
    updated_pos: int
    created_at: datetime
    """When its first event was recorded."""
    updated_at: datetime
    closing: Literal["ended", "retracted", "superseded"] | None
    closed_at: datetime | None
    """The time in the world at which it closed, exclusive."""
    closing_reason: str | None
    successor: str | None
    """The memory that superseded it."""
    tokens: str
    """Search tokens of the content, in its order, separated by spaces."""
    said_pos: int | None
    """Position of the event that has the statement; None where there is no statement."""
    statement: Statement | None
    """Whoever stores rows leaves it in its event, and reads it when it is asked for."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryRow) and _of_memory(self) == _of_memory(other)

    def __hash__(self) -> int:
        return hash((self.memory_id, self.updated_pos))


_of_memory = attrgetter(*(field.name for field in fields(MemoryRow)))


@dataclass(frozen=True, eq=False)
class PeriodRow(_Many):
    """When a version was known to hold: key `memory_id, known_from, valid_from`.

    Both stretches are half-open; None is an open end. `known_from` and `known_to` are positions. The
    rows of one memory that are known at a position are disjoint in valid time.
    """

    memory_id: str
    number: int
    kind: VersionKind
    status: Status
    """Of the memory while this was known: a period that has ended belongs to an `ended` memory."""
    scope_kind: ScopeKind
    scope_anchor: str
    valid_from: datetime
    valid_to: datetime | None
    known_from: int
    known_to: int | None
    said_pos: int
    """Position of the event that made the version."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PeriodRow) and _of_period(self) == _of_period(other)

    def __hash__(self) -> int:
        return hash((self.memory_id, self.known_from, self.valid_from))


_of_period = attrgetter(*(field.name for field in fields(PeriodRow)))


class HeldRow(NamedTuple):
    """What is needed to choose among memories that hold at some moment, of the version that holds then."""

    memory_id: str
    number: int
    """Of the version, in its memory."""
    said_pos: int
    """Position of the event that made the version."""
    scope: Scope
    subject: str
    attribute: str
    value: str | None
    content: str
    certainty: Certainty
    confidence: float
    importance: int
    source: Source
    said_at: datetime
    pinned: bool
    tokens: str
    """Search tokens of the content, in its order, separated by spaces."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version that a memory ever had: key `memory_id, number`."""

    memory_id: str
    number: int
    """Chain version, from 1."""
    stream_version: int
    position: int
    recorded_at: datetime
    kind: VersionKind
    of: int | None
    """The chain version that an update is about, where the event names one."""
    in_force: bool
    struck_by: str | None
    """The batch that undid it; None while it is in force."""
    actor: str
    correlation_id: str
    policy: str
    based_on: tuple[EventRef, ...]
    caused_by: tuple[EventRef, ...]
    statement: Statement | None
    """None once the memory is erased."""

    @property
    def ref(self) -> EventRef:
        """The event that made it."""
        return EventRef(stream=self.memory_id, version=self.stream_version)


class DecisionKeys(NamedTuple):
    """What is stored of a `DecisionRow`: where it stands, and what it is found by.

    A judgement has no outcome and no memory.
    """

    position: int
    outcome: Outcome | None
    turn_id: str
    session: str
    memory_id: str | None
    correlation_id: str
    said_at: datetime
    struck_by: str | None


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One judgement or proposal, refused ones too: key `position`.

    A judgement has no action, outcome, candidate or memory. `turn_id` is the turn it is about.
    """

    position: int
    stream_id: str
    stream_version: int
    kind: Literal["judged", "proposed"]
    turn_id: str
    session: str
    agent: str | None
    said_at: datetime
    recorded_at: datetime
    actor: str
    correlation_id: str
    policy: str
    channel: Channel | None
    extractor: str | None
    action: Action | None
    outcome: Outcome | None
    reason: str
    rule: str
    category: Category | None
    attribute: str | None
    content: str
    confidence: float | None
    """Of the statement that was or would be made; of the judgement. None where there was neither."""
    memory_id: str | None
    """The memory that the proposal went to; None where it stayed with its turn."""
    in_force: bool
    struck_by: str | None
    caused_by: tuple[EventRef, ...]
    """For a decision made anew: the proposals that support it."""
    candidate: Candidate | None
    judgement: Judgement | None

    @property
    def ref(self) -> EventRef:
        """The event that recorded it."""
        return EventRef(stream=self.stream_id, version=self.stream_version)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn as last judged: key `turn_id`."""

    turn_id: str
    session: str
    message_id: str | None
    agent: str | None
    task_id: str | None
    project: str | None
    said_at: datetime
    digest: str
    """Keyed digest of the masked turn."""
    text: str | None
    """The user's words, secrets masked; None where they were not kept."""
    revisions: int
    """How often it was judged again; 0 for a turn that came once."""
    in_force: bool
    """Whether the last judgement stands."""
    position: int
    recorded_at: datetime
    stream_version: int


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One batch of the owner's: key `batch_id`."""

    batch_id: str
    kind: str
    reason: str
    undoes: str | None
    actor: str
    position: int
    recorded_at: datetime
    closed_pos: int | None
    """None while it is not complete."""
    written: int | None
    """How many events it wrote."""
