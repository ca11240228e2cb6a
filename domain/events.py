"""The events: what was decided about memory, stated as facts that never change.

Each class has an explicit topic, kept for ever, and the version of its payload's shape. The envelope
(stream, versions, position, `recorded_at`) belongs to the store and is not repeated in the payload.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from .candidate import Candidate
from .judgement import Judgement
from .statement import Statement
from .turn import TurnContext
from .values import Action, EventRef, Moment, Outcome, StreamId, UpdateKind, Value


class Event(Value):
    """What every event says: who acted, in which turn, job or batch, and under which policy."""

    TOPIC: ClassVar[str]
    SCHEMA_VERSION: ClassVar[int] = 1

    actor: str
    """`user`, `operator:NAME`, `job:NAME` or `system`."""
    correlation_id: str
    """The turn's, job's or batch's id."""
    policy: str
    """Fingerprint of the policy in force."""
    said_at: Moment
    simulated: bool = False
    """Recorded under a clock that follows the turns, not under the real one."""

    @property
    def is_by_person(self) -> bool:
        """Whether a named person acted, and neither the user in the conversation nor the program."""
        return self.actor.startswith("operator:")


# --- of a memory (`Proposed` also of a turn) -----------------------------------------------------


class Proposed(Event):
    """A candidate was put forward, and this is what became of it. Refusals are events too."""

    TOPIC = "memory.proposed"

    candidate: Candidate
    context: TurnContext
    action: Action
    outcome: Outcome
    reason: str
    """Stable code."""
    rule: str
    """The policy's rule that decided."""
    target: StreamId | None = None
    """The memory that it concerns, None when there is none."""
    statement: Statement | None = None
    """What would stand, or stands, by this decision; None where the policy refused before it."""
    caused_by: tuple[EventRef, ...] = ()
    """For a decision made anew: the recorded proposals that support it."""


class Created(Event):
    """A version became active where none was."""

    TOPIC = "memory.created"

    statement: Statement
    based_on: tuple[EventRef, ...] = ()
    """Events whose content was taken over."""
    caused_by: tuple[EventRef, ...] = ()
    """The proposals that lent support (for a promotion: every hint)."""


class Updated(Event):
    """The chain got a new version."""

    TOPIC = "memory.updated"

    kind: UpdateKind
    of: int | None = None
    """The chain version that a correction, refinement or change of weight is about."""
    statement: Statement
    based_on: tuple[EventRef, ...] = ()
    caused_by: tuple[EventRef, ...] = ()


class Superseded(Event):
    """Another memory now says it better."""

    TOPIC = "memory.superseded"

    successor: StreamId
    at: Moment
    """When the successor took over."""
    caused_by: tuple[EventRef, ...]


class Expired(Event):
    """It ended at a time, or the user took it back."""

    TOPIC = "memory.expired"

    kind: Literal["ended", "retracted"]
    at: Moment
    """For `ended`: the first instant at which it no longer holds."""
    reason: str
    """Stable code: `task_finished`, `date_reached`, `process_moved_on`, `user_retracted` …"""
    quote: str | None = None
    caused_by: tuple[EventRef, ...] = ()


class RolledBack(Event):
    """Earlier events of this stream are undone; naming another `RolledBack` undoes an undo."""

    TOPIC = "stream.rolled_back"

    names: tuple[int, ...] = Field(min_length=1)
    """Stream versions of the events that are undone, ascending."""
    batch_id: str
    reason: str
    witness: Statement | None = None
    """The statement that stands again; only for verification, never folded."""


class Endorsed(Event):
    """A person confirmed, rejected, pinned or marked a memory wrong."""

    TOPIC = "memory.endorsed"

    verdict: Literal["confirmed", "rejected", "pinned", "unpinned", "wrong"]
    note: str = ""


class Erased(Event):
    """Tombstone: the content is destroyed, the fact of the erasure is not."""

    TOPIC = "memory.erased"

    reason: str


# --- of a turn -----------------------------------------------------------------------------------


class Judged(Event):
    """The gate's whole answer about a turn, and how it was reached."""

    TOPIC = "turn.judged"

    context: TurnContext
    judgement: Judgement
    text_digest: str
    """Keyed digest of the masked turn; equal digests mean the same turn came again."""
    text: str | None = None
    """The user's words, secrets masked; kept where the turn yielded a candidate."""
    masked: tuple[str, ...] = ()
    """Kinds of the secrets that were masked, in order of their place."""


# --- of an owner's ledger ------------------------------------------------------------------------


class TaskChanged(Event):
    """A task of the owner's started or finished."""

    TOPIC = "ledger.task_changed"

    task_id: str
    change: Literal["started", "finished"]
    at: Moment


class ProcessChanged(Event):
    """A long process of the owner's (a job search) moved from one stage to the next."""

    TOPIC = "ledger.process_changed"

    process: str
    stage: str
    final: bool
    at: Moment
    caused_by: tuple[EventRef, ...] = ()


class BatchOpened(Event):
    """Work that writes to several streams begins; it can be undone by its id."""

    TOPIC = "ledger.batch_opened"

    batch_id: str
    kind: Literal["rollback", "undo", "revise", "task_end", "process_end", "replay", "job", "import"]
    reason: str
    selector: dict[str, str] = Field(default_factory=dict)
    undoes: str | None = None
    """For `undo`: the id of the batch that is undone."""


class BatchClosed(Event):
    """The batch is complete."""

    TOPIC = "ledger.batch_closed"

    batch_id: str
    written: int = Field(ge=0)
    """How many events the batch wrote, its own two not counted."""


EVENT_TYPES: dict[str, type[Event]] = {
    event.TOPIC: event
    for event in (
        Proposed,
        Created,
        Updated,
        Superseded,
        Expired,
        RolledBack,
        Endorsed,
        Erased,
        Judged,
        TaskChanged,
        ProcessChanged,
        BatchOpened,
        BatchClosed,
    )
}

Payload = dict[str, Any]
"""An event's fields as they are stored, in the shape of some schema version."""
