"""The one façade: everything that Memstrata does for one owner, by name.

`MemoryService` knows ports only; `bootstrap` builds one on a real store. It is safe for threads.
Every call names the owner, as an `Owner` or as `TENANT/USER`; without one it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from .application.given import check_moments, check_not_ahead, check_texts, clean
from .application.owners import OwnerStates, Writer
from .domain.errors import AmbiguousIdError, NotFoundError, OwnerRequiredError
from .domain.owner import Owner
from .projections.ports import Counts, DecisionQuery, Kind, Listed, Views

if TYPE_CHECKING:  # loaded where it is used: who only reads needs neither the gate nor the planner
    from .application.explain import Why
    from .application.importing import ImportedMemory, Importing
    from .application.ingest import Ingest, Progress
    from .application.people import People, ValueOf
    from .application.recall import Line, Recall
    from .application.reports import BatchReport, IngestReport, TurnReport
    from .application.undo import PolicyOf, Undo
    from .domain.ledger import Batch
    from .domain.memory import Memory, Status
    from .domain.plan import Plan
    from .domain.policy import Policy
    from .domain.ports import Clock, EventStore, IdSource
    from .domain.scope import ScopeKind
    from .domain.selector import Selector
    from .domain.stream import RecordedEvent
    from .domain.turn import Turn
    from .pipeline.anatomy import Anatomy
    from .pipeline.controller import Gate, Judging
    from .projections.rows import DecisionRow, MemoryRow, PeriodRow, VersionRow

OwnerName = Owner | str


@dataclass(frozen=True, slots=True)
class Parts:
    """What a service is built from."""

    store: EventStore
    views: Views
    policy: Policy
    policy_of: PolicyOf
    build_gate: Callable[[], Gate]
    clock: Clock
    ids: IdSource
    value_of: ValueOf


class MemoryService:
    """The memories of many owners in one store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store, self._views, self._clock = parts.store, parts.views, parts.clock
        self._states = OwnerStates(parts.store, parts.policy.registry)
        self.policy = parts.policy

    # --- turns in --------------------------------------------------------------------------------

    def ingest(
        self,
        owner: OwnerName,
        turns: Sequence[Turn],
        *,
        revise: bool = False,
        simulated_clock: bool = False,
        strict: bool = True,
        actor: str = "user",
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take the turns of one history in, in their order.

        A turn that came before with the same content is not judged again; its report is that of the
        first time. Each turn is written whole or not at all; turns are committed in groups of 64.

        Args:
            owner: Whose turns they are.
            turns: One history. Turns without a message id are told apart by session, time, words and
                their place among identical ones, so a trimmed history may be sent again.
            revise: A turn that came with another text takes back what the former text produced.
            simulated_clock: Record as of the turns' own times, not of now; the store's last event
                must be earlier. Such events are marked.
            strict: Raise the first error, before anything is written where a turn is invalid. Else
                the report of the turn carries the error, and the others go on.
            actor: Who put them in.
            progress: Called with the number of turns that became durable.

        Raises:
            InvalidInputError: a turn cannot be judged: lone surrogate, NUL, unknown zone, a time
                ahead of the clock.
            TurnEditedError: the same turn came before with another text; pass `revise`.
            StoreUnavailableError: what was acknowledged stands, the rest is not written.
        """
        named = self._owner(owner)
        check_texts(actor=actor)
        return self._ingest.ingest(
            named,
            turns,
            actor=actor,
            revise=revise,
            simulated=simulated_clock,
            strict=strict,
            progress=progress,
        )

    def rehearse(self, owner: OwnerName, turn: Turn) -> tuple[TurnReport, Anatomy]:
        """What would be decided about a turn if it came now, and what the gate sees of it.

        Nothing is written. The ids of memories that would be new are made up.

        Raises:
            InvalidInputError: the turn cannot be judged, as for `ingest`.
        """
        from .pipeline.anatomy import anatomy

        report, prepared = self._ingest.rehearse(self._owner(owner), turn, self._parts.ids)
        return report, anatomy(prepared)

    def import_memories(
        self,
        owner: OwnerName,
        memories: Sequence[ImportedMemory],
        *,
        actor: str = "operator:import",
        reason: str = "import",
    ) -> BatchReport:
        """Take memories over that somebody vouches for, in one batch that can be undone.

        They rest on the attestation of `actor` and not on words of a turn. One that falls into the
        slot of an active memory replaces what that says, or counts as a repetition of it.

        Returns:
            The batch; its `memories` are, in the order given, the ids of the memories that say what
            was imported. No memories write nothing.

        Raises:
            InvalidInputError: a content is empty, a placeholder, no valid text, or holds a secret;
                nothing is written.
        """
        named = self._owner(owner)
        check_texts(actor=actor)
        return self._importing.take_over(named, memories, actor=actor, reason=clean("reason", reason))

    # --- reading ---------------------------------------------------------------------------------

    def memories(
        self,
        owner: OwnerName,
        *,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        scope: ScopeKind | None = None,
        limit: int | None = None,
    ) -> Sequence[Listed]:
        """The memories that hold, oldest first.

        Args:
            owner: Whose memories.
            as_of: What was known then: a position, or a recorded time. None is now.
            valid_at: What held in the world then. None is now; with `as_of` a time, None is that time.
            scope: Only memories of that scope.
            limit: At most so many.
        """
        named = self._owner(owner)
        check_moments(valid_at=valid_at)
        moment = valid_at or (as_of if isinstance(as_of, datetime) else None) or self._clock.now()
        return self._views.memories(
            named, valid_at=moment, as_of=self._position(named, as_of), scope=scope, limit=limit
        )

    def by_status(self, owner: OwnerName, status: Status | Collection[Status]) -> Sequence[Listed]:
        """Memories that have one of the statuses, oldest first, whatever the time."""
        return self._views.memories(self._owner(owner), status=status)

    def held(self, owner: OwnerName) -> Sequence[MemoryRow]:
        """What was proposed and waits for repetition or for a person, oldest first."""
        return [listed.memory for listed in self.by_status(owner, "held")]

    def memory(self, owner: OwnerName, memory_id: str, *, as_of: int | datetime | None = None) -> MemoryRow:
        """One memory, whatever its status.

        Raises:
            NotFoundError, AmbiguousIdError: no memory, or several, by that (shortened) id.
        """
        named = self._owner(owner)
        full = self.resolve(named, memory_id)
        row = self._views.memory(named, full, as_of=self._position(named, as_of))
        if row is None or row.status == "none":
            raise NotFoundError("memory", memory_id)
        return row

    def history(
        self, owner: OwnerName, memory_id: str, *, as_of: int | datetime | None = None
    ) -> Sequence[VersionRow]:
        """Every version, undone ones too, by number from 1."""
        named = self._owner(owner)
        full = self.resolve(named, memory_id)
        return self._views.versions(named, full, as_of=self._position(named, as_of))

    def periods(
        self, owner: OwnerName, memory_id: str, *, as_of: int | datetime | None = None
    ) -> Sequence[PeriodRow]:
        """When which version held in the world, ascending."""
        named = self._owner(owner)
        full = self.resolve(named, memory_id)
        return self._views.periods(named, full, as_of=self._position(named, as_of))

    def folded(self, owner: OwnerName, memory_id: str) -> Memory:
        """One memory as folded from its events."""
        from .application.people import memory_in

        named = self._owner(owner)
        return memory_in(self._states.load(named), self.resolve(named, memory_id))

    def why(self, owner: OwnerName, memory_id: str, version: int | None = None) -> Why:
        """Why a memory is remembered: back to the judgement and the user's own words.

        Raises:
            NotFoundError: no such memory, or no such version of it.
        """
        from .application.explain import explain
        from .domain.memory import Memory

        named = self._owner(owner)
        full = self.resolve(named, memory_id)
        with self._store.one_view():
            memory = Memory(full, tuple(self._store.read_stream(named, full)))
            return explain(self._store, self._views, named, memory, version)

    def log(
        self, owner: OwnerName, *, after_position: int = 0, topics: Sequence[str] | None = None
    ) -> Iterator[RecordedEvent]:
        """The owner's events, ascending by position."""
        return self._store.read_owner(self._owner(owner), after_position=after_position, topics=topics)

    def decisions(self, owner: OwnerName, query: DecisionQuery | None = None) -> Sequence[DecisionRow]:
        """Judgements and proposals, refused ones too, ascending by position."""
        return self._views.decisions(self._owner(owner), query or DecisionQuery())

    def batches(self, owner: OwnerName) -> Sequence[Batch]:
        """Rollbacks, undos, task ends and other batches, in the order in which they were opened."""
        return list(self._states.load(self._owner(owner)).ledger.batches.values())

    def counts(self, owner: OwnerName) -> Counts:
        """How much there is of the owner's."""
        return self._views.counts(self._owner(owner))

    def search(self, owner: OwnerName, query: str, *, limit: int = 10) -> Sequence[Line]:
        """The memories that hold now and share words with the query, best first."""
        return self._recall.search(self._owner(owner), query, limit=limit)

    def context(
        self,
        owner: OwnerName,
        query: str,
        *,
        task: str | None = None,
        project: str | None = None,
        session: str | None = None,
        families: Sequence[str] = (),
        budget: int = 800,
    ) -> Sequence[Line]:
        """What an agent should know for a question: memories whose scope covers it, best first.

        `budget` is in tokens, estimated; a narrower memory stands in for a wider one it excepts.
        """
        return self._recall.context(
            self._owner(owner),
            query,
            task=task,
            project=project,
            session=session,
            families=tuple(families),
            budget=budget,
        )

    def resolve(self, owner: OwnerName, short_id: str, kind: Kind = "memory") -> str:
        """The full id of a memory, turn or batch whose id begins with these digits.

        Raises:
            NotFoundError, AmbiguousIdError: none, or several.
        """
        digits = short_id.strip().lower().replace("-", "")
        found = sorted({found.id for found in self._views.resolve(self._owner(owner), digits, kind)})
        if not digits or not found:
            raise NotFoundError(kind, short_id)
        if len(found) > 1:
            raise AmbiguousIdError(short_id, tuple(found))
        return found[0]

    def purge_recent_turns(self, owner: OwnerName) -> None:
        """Empty the buffer of the owner's last turns, which is context for later ones and no event."""
        self._store.purge_recent_turns(self._owner(owner))

    # --- people and tasks ------------------------------------------------------------------------

    def confirm(
        self, owner: OwnerName, memory_id: str, *, actor: str = "operator:api", note: str = ""
    ) -> BatchReport:
        """A person says that it is right: what is held becomes active."""
        named = self._owner(owner)
        check_texts(actor=actor)
        full, said = self.resolve(named, memory_id), clean("note", note)
        return self._people.confirm(named, full, actor=actor, note=said)

    def reject(
        self, owner: OwnerName, memory_id: str, *, actor: str = "operator:api", note: str = ""
    ) -> BatchReport:
        """A person turns down what is held."""
        named = self._owner(owner)
        check_texts(actor=actor)
        full, said = self.resolve(named, memory_id), clean("note", note)
        return self._people.reject(named, full, actor=actor, note=said)

    def correct(
        self, owner: OwnerName, memory_id: str, content: str, *, actor: str = "operator:api"
    ) -> BatchReport:
        """A person says what is right: it never was as remembered."""
        named = self._owner(owner)
        check_texts(actor=actor)
        full, said = self.resolve(named, memory_id), clean("content", content)
        return self._people.correct(named, full, said, actor=actor)

    def forget(
        self, owner: OwnerName, memory_id: str, *, actor: str = "operator:api", note: str = ""
    ) -> BatchReport:
        """A person ends a memory from now on; its history stays."""
        named = self._owner(owner)
        check_texts(actor=actor)
        full, said = self.resolve(named, memory_id), clean("note", note)
        return self._people.forget(named, full, actor=actor, note=said)

    def pin(
        self, owner: OwnerName, memory_id: str, *, pinned: bool = True, actor: str = "operator:api"
    ) -> BatchReport:
        """A person keeps a memory in front, or no longer."""
        named = self._owner(owner)
        check_texts(actor=actor)
        return self._people.pin(named, self.resolve(named, memory_id), actor=actor, pinned=pinned)

    def finish_task(
        self, owner: OwnerName, task_id: str, *, actor: str = "user", at: datetime | None = None
    ) -> BatchReport:
        """A task is over: what held for it only ends. Finishing twice writes nothing."""
        named = self._owner(owner)
        check_texts(actor=actor, task_id=task_id)
        check_not_ahead("at", at, self._clock.now())
        return self._people.finish_task(named, task_id, actor=actor, at=at)

    def start_task(
        self, owner: OwnerName, task_id: str, *, actor: str = "user", at: datetime | None = None
    ) -> BatchReport:
        """A task begins, or begins again. Starting twice writes nothing."""
        named = self._owner(owner)
        check_texts(actor=actor, task_id=task_id)
        check_not_ahead("at", at, self._clock.now())
        return self._people.start_task(named, task_id, actor=actor, at=at)

    # --- undo ------------------------------------------------------------------------------------

    def plan_rollback(self, owner: OwnerName, selector: Selector) -> Plan:
        """What rolling back the selected events would do; nothing is written."""
        return self._undo.plan(self._owner(owner), selector)

    def plan_undo(self, owner: OwnerName, batch_id: str) -> Plan:
        """What undoing a batch would do; nothing is written.

        Raises:
            BatchStateError: there is no such batch, or it is undone already.
        """
        named = self._owner(owner)
        return self._undo.plan_undo(named, self.resolve(named, batch_id, "batch"))

    def apply(
        self, owner: OwnerName, plan: Plan, *, actor: str = "operator:api", reason: str = ""
    ) -> BatchReport:
        """Carry out a plan in one append, if it still is what was planned.

        Raises:
            ConflictError: what it would do has changed since; plan it again.
        """
        check_texts(actor=actor)
        return self._undo.apply(self._owner(owner), plan, actor=actor, reason=clean("reason", reason))

    # --- parts, each made for the first call that needs it ----------------------------------------

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self._store, self._states, self._parts.ids)

    @cached_property
    def _judging(self) -> Judging:
        from .pipeline.controller import Judging

        return Judging(self._parts.build_gate, self.policy)

    @cached_property
    def _ingest(self) -> Ingest:
        from .application.ingest import Ingest

        return Ingest(
            self._store,
            self._views,
            self._states,
            self._writer,
            self._judging,
            self._clock,
            self._undo.plan_revision,
        )

    @cached_property
    def _importing(self) -> Importing:
        from .application.importing import Importing

        return Importing(self._writer, self._clock, self.policy, self._parts.value_of)

    @cached_property
    def _people(self) -> People:
        from .application.people import People

        return People(self._writer, self._clock, self.policy.fingerprint, self._parts.value_of)

    @cached_property
    def _recall(self) -> Recall:
        from .application.recall import Recall
        from .pipeline.narrowing import Narrowing

        return Recall(self._views, self._clock, Narrowing(self.policy))

    @cached_property
    def _undo(self) -> Undo:
        from .application.undo import Undo

        return Undo(
            self._store, self._states, self._writer, self._judging, self._parts.policy_of, self._clock
        )

    # --- inside ----------------------------------------------------------------------------------

    def _owner(self, owner: OwnerName | None) -> Owner:
        if isinstance(owner, Owner):
            return owner
        if not isinstance(owner, str):
            raise OwnerRequiredError
        return Owner.parse(owner)

    def _position(self, owner: Owner, as_of: int | datetime | None) -> int | None:
        check_moments(as_of=as_of)
        return self._store.position_at(owner, as_of) if isinstance(as_of, datetime) else as_of
