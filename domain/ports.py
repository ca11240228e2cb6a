"""What the domain needs from outside: roles, not technologies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from .candidate import Candidate
from .judgement import Judgement
from .owner import Owner
from .stream import NewEvent, RecordedEvent
from .turn import Turn, TurnContext


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present, aware, UTC."""


class IdSource(Protocol):
    """Gives out ids that have never been given before."""

    def new_id(self) -> str:
        """32 lower-case hex digits, the random half first."""


RECENT_TURNS = 6
"""Turns of a session that later turns may refer to."""

RECENT_LENGTH = 4_000
"""Code points of each of them: enough for what a later turn refers to."""


@dataclass(frozen=True, slots=True)
class Append:
    """What one owner wants written, whole or not at all.

    `expected_owner_position` is the position at which the decision was read (0 for a new owner);
    None advances the owner's position without comparing it: for long jobs, which rely on the
    stream versions alone. `clock` is the present of a simulated clock, None for the real one.
    """

    owner: Owner
    events: Sequence[NewEvent]
    expected_owner_position: int | None
    clock: datetime | None = None
    recent: Mapping[str, str] = field(default_factory=dict)
    """Masked texts by turn id, to be kept in the buffer of recent turns."""


class EventStore(Protocol):
    """Append-only log of streams, safe for concurrent writers. Owner is in every call."""

    def append(self, batch: Append) -> Sequence[RecordedEvent]:
        """Write the events of one owner in order, all or none, and the inline projections with them.

        Returns:
            The recorded events in order; no events write nothing and return `[]`.

        Raises:
            OwnerPositionConflictError: the owner moved on; reload, decide again.
            WrongExpectedVersionError: a stream moved on; reload, decide again.
            StoreUnavailableError: nothing was acknowledged; the outcome is unknown when the
                connection broke during commit. Retry as it is: versions keep it from writing twice.
        """

    def append_many(self, batches: Sequence[Append]) -> Sequence[Sequence[RecordedEvent]]:
        """Write several appends in one transaction: all of them, or none.

        An append of an owner who stands earlier in the list expects the position that the earlier
        one leaves. Raises as `append`.
        """

    def alone(self, owner: Owner) -> AbstractContextManager[object]:
        """Nobody else appends to the owner's streams while this is open; reads show all that they did.

        What is appended meanwhile is durable, and shown to others, when it ends; after an error it is
        undone. Others wait, of other owners too: for a moment, when a decision must not be overtaken.

        Raises:
            StoreUnavailableError: others would not let us; nothing was written.
        """

    def one_view(self) -> AbstractContextManager[object]:
        """Whatever this thread reads while this is open, it reads from one state, whoever writes meanwhile.

        For answers that are put together from several reads; nothing is to be written in it.
        """

    def read_stream(self, owner: Owner, stream_id: str) -> Sequence[RecordedEvent]:
        """Every event of the stream in order; empty when the owner has no such stream."""

    def read_streams(self, owner: Owner, stream_ids: Sequence[str]) -> dict[str, list[RecordedEvent]]:
        """Several streams at once, each in order; streams that do not exist are left out."""

    def read_owner(
        self,
        owner: Owner,
        *,
        after_position: int = 0,
        topics: Sequence[str] | None = None,
        correlation_id: str | None = None,
    ) -> Iterator[RecordedEvent]:
        """The owner's events with `position > after_position`, ascending."""

    def owner_position(self, owner: Owner) -> int:
        """Position of the owner's last event; 0 for an owner without any."""

    def position_at(self, owner: Owner, moment: datetime) -> int:
        """The last position of the owner's partition with `recorded_at <= moment`; 0 before all."""

    def recent_turns(self, owner: Owner, sessions: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """Turn ids and masked texts of each session's last turns, at most 6, oldest first.

        A session without any is left out.
        """

    def purge_recent_turns(self, owner: Owner) -> None:
        """Empty the buffer of the owner's recent turns; no event says so."""

    def head_time(self, owner: Owner) -> datetime | None:
        """`recorded_at` of the last event in the owner's partition; None while it is empty."""

    def digest(self, owner: Owner, text: str) -> str:
        """Keyed digest of a text for this owner, 64 hex digits: equal texts, equal digests."""

    def turn_id(self, owner: Owner, key: str) -> str:
        """The stream id of a turn: a keyed hash of owner and key (session, message …)."""

    def ledger_id(self, owner: Owner) -> str:
        """The stream id of the owner's ledger."""

    def keep_policy(self, fingerprint: str, document: str) -> None:
        """Keep a policy's document for ever under its fingerprint; keeping it twice is no error."""

    def policy_document(self, fingerprint: str) -> str | None:
        """A document that was kept, None when it never was."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn as the pipeline sees it: secrets masked, zone resolved, context at hand.

    `text` is the masked user text, the only text that evidence may point into. `history` are the
    former turns of the session, oldest first, masked likewise. `known` are the contents of the
    owner's active memories, at most 50, the most relevant first.
    """

    turn: Turn
    text: str
    context: TurnContext
    history: tuple[tuple[str, str], ...] = ()
    """Pairs of turn id and masked user text."""
    known: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()


class Judge(Protocol):
    """Answers whether a turn deserves extraction."""

    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement | None:
        """The judgement; None when the judge could not reach one (the keyword fallback follows)."""


class Extractor(Protocol):
    """Finds candidates in a turn."""

    def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
        """Candidates in the order of the words they rest on; empty when there is none."""


class Reviewer(Protocol):
    """Has a second opinion on a turn, in view of what the extractors found."""

    def review(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The candidates with more behind them; it neither takes one away nor changes one."""


class ActionClassifier(Protocol):
    """Has an opinion on how a candidate relates to what is remembered."""

    def classify(self, prepared: Prepared, candidate: Candidate) -> Candidate:
        """The candidate with an opinion attached, or as it came. Never decides."""
