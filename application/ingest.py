"""Turns go in: each is judged once, decided on the owner's present state, and written whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from ..domain.draft import Draft, Header
from ..domain.errors import InvalidInputError, MemstrataError, TurnEditedError
from ..domain.events import BatchClosed, BatchOpened, Judged, Proposed
from ..domain.history import struck_versions
from ..domain.owner import Owner
from ..domain.owner_state import OwnerState
from ..domain.plan import Plan
from ..domain.ports import RECENT_LENGTH, RECENT_TURNS, Clock, EventStore, IdSource, Prepared
from ..domain.stream import RecordedEvent
from ..domain.turn import Turn
from ..pipeline.controller import Analysis, Decided, Judging
from ..pipeline.prepare import Arrived, arrive, check_turn
from ..pipeline.secrets import speaks_of_secret
from ..projections.ports import DecisionQuery, Views
from .owners import OwnerStates, Part, Writer
from .reports import CandidateReport, IngestReport, TurnReport

GROUP = 64
"""Turns that are committed at once; a turn is acknowledged when its group is durable."""

KNOWN = 50
"""Memories whose contents the gate is told: enough to know whom and what the talk is about."""

PlanRevision = Callable[[Owner, OwnerState, str], Plan]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A turn that is not recorded yet, or with another text."""

    place: int
    arrived: Arrived
    turn_id: str
    digest: str
    stream_version: int
    revises: bool
    recent: str | None
    """Its words as context for later turns; None where they may not be kept for that."""
    analysis: Analysis


@dataclass
class Settled:
    """What one attempt at writing a group came to, by the place of each turn.

    `reports` are of the turns that it writes. `known` and `edited` are turns that another writer
    recorded while this one analysed them: with the same content, or with another one.
    """

    reports: dict[int, TurnReport] = field(default_factory=dict)
    known: dict[int, Sequence[RecordedEvent]] = field(default_factory=dict)
    edited: list[Waiting] = field(default_factory=list)
    alone: list[Waiting] = field(default_factory=list)
    """Turns that turned out to revise others; a revision is planned on what is recorded."""


@dataclass
class Call:
    """One call of `ingest`: what it was asked for, and what came of it so far by each turn's place."""

    owner: Owner
    actor: str
    revise: bool
    simulated: bool
    strict: bool
    recent: RecentTurns
    reports: dict[int, TurnReport] = field(default_factory=dict)


class RecentTurns:
    """The last turns of the sessions that one call is about: context, and no event.

    Turns from which nothing may be extracted are left out: later turns must not refer to them. So are
    turns that tell a secret which could not be masked.
    """

    def __init__(self, store: EventStore, owner: Owner) -> None:
        self._store, self._owner = store, owner
        self._sessions: dict[str, deque[tuple[str, str]]] = {}

    def look_up(self, sessions: Iterable[str]) -> None:
        """Read what is kept of these sessions, all at once; the other methods ask for no other."""
        new = [session for session in dict.fromkeys(sessions) if session not in self._sessions]
        found = self._store.recent_turns(self._owner, new) if new else {}
        self._sessions.update((one, deque(found.get(one, ()), maxlen=RECENT_TURNS)) for one in new)

    def of(self, session: str) -> Sequence[tuple[str, str]]:
        """Pairs of turn id and masked user text, oldest first."""
        return tuple(self._sessions[session])

    def add(self, session: str, turn_id: str, text: str) -> None:
        """Let a turn be the session's last."""
        kept = self._sessions[session]
        if turn_id not in [known for known, _ in kept]:
            kept.append((turn_id, text[:RECENT_LENGTH]))


class Ingest:
    """Takes turns in."""

    def __init__(
        self,
        store: EventStore,
        views: Views,
        states: OwnerStates,
        writer: Writer,
        judging: Judging,
        clock: Clock,
        plan_revision: PlanRevision,
    ) -> None:
        self._store, self._writer, self._judging, self._clock = store, writer, judging, clock
        self._views, self._states, self._plan_revision = views, states, plan_revision
        self._simulated: set[Owner] = set()
        """Owners whose simulated clock is running."""

    def ingest(
        self,
        owner: Owner,
        turns: Sequence[Turn],
        *,
        actor: str,
        revise: bool,
        simulated: bool,
        strict: bool,
        progress: Progress | None,
    ) -> IngestReport:
        """Take the turns of one history in, in their order. See the façade."""
        now = self._clock.now()
        call = Call(owner, actor, revise, simulated, strict, RecentTurns(self._store, owner))
        good: list[tuple[int, Turn]] = []
        for place, turn in enumerate(turns):
            if not isinstance(turn, Turn):
                raise InvalidInputError(
                    f"turns[{place}]", "is no Turn", "build it with `Turn(user=…, session=…)`"
                )
            try:
                check_turn(turn, now, simulated=simulated)
            except MemstrataError as error:
                if strict:
                    raise
                call.reports[place] = _failed(turn, error)
            else:
                good.append((place, turn))
        arrived = arrive([turn for _, turn in good], now)
        numbered = [(place, one) for (place, _), one in zip(good, arrived, strict=True)]
        for start in range(0, len(numbered), GROUP):
            group = numbered[start : start + GROUP]
            self._ingest_group(call, group)
            if progress is not None:
                progress(len(group))
        return IngestReport([call.reports[place] for place in sorted(call.reports)])

    def rehearse(self, owner: Owner, turn: Turn, ids: IdSource) -> tuple[TurnReport, Prepared]:
        """What would be decided about a turn now, and the turn as the gate sees it. Writes nothing.

        Raises:
            InvalidInputError, UnknownZoneError: the turn cannot be judged.
        """
        now = self._clock.now()
        check_turn(turn, now)
        (one,) = arrive([turn], now)
        recent = RecentTurns(self._store, owner)
        recent.look_up([turn.session])
        state = self._states.load(owner)
        turn_id, digest = self._store.turn_id(owner, one.key), self._store.digest(owner, one.text)
        prepared = one.prepare(turn_id, recent.of(turn.session), _known(state))
        analysis = self._judging.gate.analyse(prepared)
        waiting = Waiting(0, one, turn_id, digest, 0, False, None, analysis)
        decided = self._decide(Draft(state, ids), waiting, None, "rehearsal", False)
        return _reported(waiting, decided), prepared

    def _ingest_group(self, call: Call, group: Sequence[tuple[int, Arrived]]) -> None:
        waiting: list[Waiting] = []
        ids = {place: self._store.turn_id(call.owner, one.key) for place, one in group}
        recorded = self._store.read_streams(call.owner, list(ids.values()))
        queued: dict[str, str] = {}
        known = _known(self._states.load(call.owner))
        call.recent.look_up(one.turn.session for _, one in group)
        for place, one in group:
            recent = one.text if _may_be_kept(one) else None
            turn_id, digest = ids[place], self._store.digest(call.owner, one.text)
            entries = recorded.get(turn_id, [])
            before = _digest_in_force(entries) or queued.get(turn_id)
            if before == digest:
                call.reports[place] = self._known(call.owner, turn_id, one, entries)
            elif before is not None and not (call.revise and entries):
                error = TurnEditedError(one.turn.session, one.turn.message_id)
                if call.strict:
                    raise error
                call.reports[place] = _failed(one.turn, error, turn_id)
            else:
                prepared = one.prepare(turn_id, call.recent.of(one.turn.session), known)
                analysis = self._judging.gate.analyse(prepared)
                revises = before is not None
                new = Waiting(place, one, turn_id, digest, len(entries), revises, recent, analysis)
                if new.revises:  # planned on what is recorded, so what waits goes first and it goes alone
                    self._write_group(call, waiting)
                    self._write_group(call, [new])
                    waiting = []
                else:
                    waiting.append(new)
                    queued[turn_id] = digest
            if recent is not None:
                call.recent.add(one.turn.session, turn_id, recent)
        self._write_group(call, waiting)

    def _write_group(self, call: Call, waiting: Sequence[Waiting]) -> None:
        if not waiting:
            return
        if call.simulated:
            self._check_simulation(call.owner, waiting[0].arrived.said_at)
        attempts = 0

        def decide(draft: Draft) -> tuple[Settled, Sequence[Part]]:
            nonlocal attempts
            attempts += 1
            settled = Settled()
            present = waiting if attempts == 1 else self._look_again(call, waiting, settled)
            if call.strict and settled.edited:
                turn = settled.edited[0].arrived.turn
                raise TurnEditedError(turn.session, turn.message_id)
            return settled, self._decide_all(call, draft, present, settled)

        settled, _ = self._writer.write(call.owner, decide)
        for one in settled.alone:
            self._write_group(call, [one])
        call.reports.update(settled.reports)
        for one in waiting:
            turn = one.arrived.turn
            if one.place in settled.known:
                entries = settled.known[one.place]
                call.reports[one.place] = self._known(call.owner, one.turn_id, one.arrived, entries)
            elif one in settled.edited:
                error = TurnEditedError(turn.session, turn.message_id)
                call.reports[one.place] = _failed(turn, error, one.turn_id)

    def _decide_all(
        self, call: Call, draft: Draft, present: Sequence[Waiting], settled: Settled
    ) -> Sequence[Part]:
        """Decide the turns in their order; under a simulated clock each is recorded at its own time."""
        parts: list[Part] = []
        texts: dict[str, str] = {}
        for one in present:
            before = len(draft.events)
            revision = self._plan_revision(call.owner, draft.state, one.turn_id) if one.revises else None
            decided = self._decide(draft, one, revision, call.actor, call.simulated)
            settled.reports[one.place] = _reported(one, decided)
            if one.recent is not None:
                texts[one.turn_id] = one.recent
            parts.append(Part(draft.events[before:], one.arrived.said_at, texts))
        return parts if call.simulated else [Part(draft.events, None, texts)]

    def _look_again(self, call: Call, waiting: Sequence[Waiting], settled: Settled) -> list[Waiting]:
        """The turns that still wait after another writer was faster; it may have brought the same ones."""
        recorded = self._store.read_streams(call.owner, [one.turn_id for one in waiting])
        still: list[Waiting] = []
        for one in waiting:
            entries = recorded.get(one.turn_id, [])
            before = _digest_in_force(entries)
            if before == one.digest:
                settled.known[one.place] = entries
            elif before is not None and not call.revise:
                settled.edited.append(one)
            else:
                now = replace(one, stream_version=len(entries), revises=before is not None)
                (settled.alone if now.revises and len(waiting) > 1 else still).append(now)
        return still

    def _check_simulation(self, owner: Owner, first: datetime) -> None:
        """A simulated clock may not run before what the partition has recorded already."""
        head = self._store.head_time(owner)
        if head is not None and first < head and owner not in self._simulated:
            raise InvalidInputError(
                "--clock turns",
                f"the turns begin at {first.isoformat()}, the store's last event is of {head.isoformat()}",
                "use a fresh store, or leave the real clock in place",
            )
        self._simulated.add(owner)

    def _decide(
        self, draft: Draft, one: Waiting, revision: Plan | None, actor: str, simulated: bool
    ) -> list[Decided]:
        header = Header(actor, one.turn_id, self._judging.policy.fingerprint, one.arrived.said_at, simulated)
        draft.knows_turns({one.turn_id: one.stream_version})
        if revision is None:
            return self._judging.decide_turn(draft, one.analysis, header, one.digest)
        batch_id = draft.ids.new_id()
        batch = replace(header, correlation_id=batch_id)
        ledger = draft.state.ledger.ledger_id
        draft.add(
            ledger,
            BatchOpened(
                **batch.fields(),
                batch_id=batch_id,
                kind="revise",
                reason="turn_edited",
                selector={"turn": one.turn_id},
            ),
        )
        before = len(draft.events)
        revision.draft(draft, batch, batch_id, "turn_edited")
        decided = self._judging.decide_turn(draft, one.analysis, header, one.digest)
        draft.add(
            ledger, BatchClosed(**batch.fields(), batch_id=batch_id, written=len(draft.events) - before)
        )
        return decided

    def _known(
        self, owner: Owner, turn_id: str, one: Arrived, entries: Sequence[RecordedEvent]
    ) -> TurnReport:
        """The report of the first time, read back from the events."""
        if not entries:  # an identical turn earlier in the same group
            return TurnReport("known", turn_id, one.turn.session, one.turn.message_id, one.said_at)
        rows = self._views.decisions(owner, DecisionQuery(turn_id=turn_id, correlation_id=turn_id))
        places = {(row.stream_id, row.stream_version) for row in rows}
        streams = self._store.read_streams(owner, [stream for stream, _ in sorted(places)])
        events = [
            e for stream in streams.values() for e in stream if (e.stream_id, e.stream_version) in places
        ]
        return _read_back(sorted(events, key=lambda event: event.position), entries)


def _may_be_kept(one: Arrived) -> bool:
    """Whether a turn's words may wait in the buffer of recent turns."""
    return one.turn.allow_extraction and not speaks_of_secret(one.text)


def _read_back(events: Sequence[RecordedEvent], stream: Sequence[RecordedEvent]) -> TurnReport:
    """A known turn's report: the judgement in force and the proposals that followed it."""
    struck = struck_versions(stream)
    judged = [e for e in stream if isinstance(e.event, Judged) and e.stream_version not in struck][-1]
    assert isinstance(judged.event, Judged)
    context = judged.event.context
    return TurnReport(
        "known",
        context.turn_id,
        context.session,
        context.message_id,
        context.said_at,
        judged.event.judgement,
        [
            _candidate_report(e.event)
            for e in events
            if isinstance(e.event, Proposed) and e.position > judged.position
        ],
        judged.event.masked,
    )


def _candidate_report(event: Proposed) -> CandidateReport:
    return CandidateReport(
        event.candidate, event.action, event.outcome, event.reason, event.rule, event.statement, event.target
    )


def _reported(one: Waiting, decided: Sequence[Decided]) -> TurnReport:
    return TurnReport(
        "revised" if one.revises else "new",
        one.turn_id,
        one.arrived.turn.session,
        one.arrived.turn.message_id,
        one.arrived.said_at,
        one.analysis.judgement,
        [
            CandidateReport(
                d.candidate,
                d.decision.action,
                d.decision.outcome,
                d.decision.reason,
                d.decision.rule,
                d.decision.statement,
                d.memory_id,
            )
            for d in decided
        ],
        one.arrived.masked.kinds,
    )


def _failed(turn: Turn, error: MemstrataError, turn_id: str = "") -> TurnReport:
    return TurnReport("failed", turn_id, turn.session, turn.message_id, turn.at, error=error)


def _digest_in_force(entries: Sequence[RecordedEvent]) -> str | None:
    struck = struck_versions(entries)
    digests = [
        e.event.text_digest for e in entries if isinstance(e.event, Judged) and e.stream_version not in struck
    ]
    return digests[-1] if digests else None


def _known(state: OwnerState) -> tuple[str, ...]:
    """Contents of the memories that were changed last, at most `KNOWN`, newest first."""
    newest = islice(state.latest(), KNOWN)
    return tuple(memory.current.statement.content for memory in newest if memory.current is not None)
