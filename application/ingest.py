"""Turns go in: each is judged once, decided on the owner's present state, and written whole."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock

from ..domain.draft import Draft, Header
from ..domain.errors import InvalidInputError, MemstrataError, TurnEditedError
from ..domain.events import BatchClosed, BatchOpened, Judged, Proposed
from ..domain.history import struck_versions
from ..domain.owner import Owner
from ..domain.owner_state import OwnerState
from ..domain.plan import Plan
from ..domain.ports import Clock, EventStore
from ..domain.stream import RecordedEvent
from ..domain.turn import Turn
from ..pipeline.controller import Analysis, Decided, Judging
from ..pipeline.prepare import Arrived, arrive, check_turn
from ..projections.ports import DecisionQuery, Views
from .owners import Part, Writer
from .reports import CandidateReport, IngestReport, TurnReport

GROUP = 64
"""Turns that are committed at once; a turn is acknowledged when its group is durable."""

HISTORY = 6
"""Turns of a session that later turns may refer to."""

REFERABLE = 4_000
"""Code points of a former turn that later turns may refer to: a pasted document is not looked through
again with each message that follows it."""

SESSIONS = 1_024
"""Live sessions whose last turns are kept at hand, the least recently used goes first."""

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


class RecentTurns:
    """The last turns of live sessions: context for the turns that follow, and no event."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._kept: OrderedDict[tuple[Owner, str], deque[tuple[str, str]]] = OrderedDict()
        self._lock = Lock()

    def of(self, owner: Owner, session: str) -> Sequence[tuple[str, str]]:
        """Pairs of turn id and masked user text, oldest first."""
        with self._lock:
            kept = self._kept.get((owner, session))
            if kept is not None:
                return tuple(kept)
        rows = self._views.turns(owner, session=session, limit=HISTORY)
        found = deque(((row.turn_id, row.text[:REFERABLE]) for row in rows if row.text), maxlen=HISTORY)
        with self._lock:
            return tuple(self._kept.setdefault((owner, session), found))

    def add(self, owner: Owner, session: str, turn_id: str, text: str) -> None:
        """Remember a turn as the session's last."""
        self.of(owner, session)
        with self._lock:
            kept = self._kept.setdefault((owner, session), deque(maxlen=HISTORY))
            if turn_id not in [known for known, _ in kept]:
                kept.append((turn_id, text[:REFERABLE]))
            self._kept.move_to_end((owner, session))
            while len(self._kept) > SESSIONS:
                self._kept.popitem(last=False)

    def purge(self, owner: Owner) -> None:
        """Forget what is kept of an owner's sessions."""
        with self._lock:
            for key in [key for key in self._kept if key[0] == owner]:
                del self._kept[key]


class Ingest:
    """Takes turns in."""

    def __init__(
        self,
        store: EventStore,
        views: Views,
        writer: Writer,
        judging: Judging,
        clock: Clock,
        plan_revision: PlanRevision,
    ) -> None:
        self._store, self._writer, self._judging, self._clock = store, writer, judging, clock
        self._views, self._plan_revision = views, plan_revision
        self._recent = RecentTurns(views)
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
        reports: dict[int, TurnReport] = {}
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
                reports[place] = _failed(turn, error)
            else:
                good.append((place, turn))
        arrived = arrive([turn for _, turn in good], now)
        numbered = [(place, one) for (place, _), one in zip(good, arrived, strict=True)]
        for start in range(0, len(numbered), GROUP):
            group = numbered[start : start + GROUP]
            self._ingest_group(owner, group, reports, actor, revise, simulated, strict)
            if progress is not None:
                progress(len(group))
        return IngestReport([reports[place] for place in sorted(reports)])

    def _ingest_group(
        self,
        owner: Owner,
        group: Sequence[tuple[int, Arrived]],
        reports: dict[int, TurnReport],
        actor: str,
        revise: bool,
        simulated: bool,
        strict: bool,
    ) -> None:
        waiting: list[Waiting] = []
        ids = {place: self._store.turn_id(owner, one.key) for place, one in group}
        recorded = self._store.read_streams(owner, list(ids.values()))
        queued: dict[str, str] = {}
        for place, one in group:
            turn_id, digest = ids[place], self._store.digest(owner, one.text)
            entries = recorded.get(turn_id, [])
            before = _digest_in_force(entries) or queued.get(turn_id)
            if before == digest:
                reports[place] = self._known(owner, turn_id, one, entries)
            elif before is not None and not (revise and entries):
                error = TurnEditedError(one.turn.session, one.turn.message_id)
                if strict:
                    raise error
                reports[place] = _failed(one.turn, error, turn_id)
            else:
                prepared = one.prepare(turn_id, self._recent.of(owner, one.turn.session))
                analysis = self._judging.gate.analyse(prepared)
                new = Waiting(place, one, turn_id, digest, len(entries), before is not None, analysis)
                if new.revises:  # planned on what is recorded, so what waits goes first and it goes alone
                    self._write_group(owner, waiting, reports, actor, revise, simulated, strict)
                    self._write_group(owner, [new], reports, actor, revise, simulated, strict)
                    waiting = []
                else:
                    waiting.append(new)
                    queued[turn_id] = digest
            self._recent.add(owner, one.turn.session, turn_id, one.text)
        self._write_group(owner, waiting, reports, actor, revise, simulated, strict)

    def _write_group(
        self,
        owner: Owner,
        waiting: Sequence[Waiting],
        reports: dict[int, TurnReport],
        actor: str,
        revise: bool,
        simulated: bool,
        strict: bool,
    ) -> None:
        if not waiting:
            return
        if simulated:
            self._check_simulation(owner, waiting[0].arrived.said_at)
        attempts = 0

        def decide(draft: Draft) -> tuple[Settled, Sequence[Part]]:
            nonlocal attempts
            attempts += 1
            settled = Settled()
            parts: list[Part] = []
            present = waiting if attempts == 1 else self._look_again(owner, waiting, settled, revise)
            if strict and settled.edited:
                turn = settled.edited[0].arrived.turn
                raise TurnEditedError(turn.session, turn.message_id)
            for one in present:
                before = len(draft.events)
                revision = self._plan_revision(owner, draft.state, one.turn_id) if one.revises else None
                decided = self._decide(draft, one, revision, actor, simulated)
                settled.reports[one.place] = _reported(one, decided)
                clock = one.arrived.said_at if simulated else None
                parts.append(Part(draft.events[before:], clock))
            return settled, parts if simulated else [Part(draft.events)]

        settled, _ = self._writer.write(owner, decide)
        for one in settled.alone:
            self._write_group(owner, [one], reports, actor, revise, simulated, strict)
        reports.update(settled.reports)
        for one in waiting:
            turn = one.arrived.turn
            if one.place in settled.known:
                entries = settled.known[one.place]
                reports[one.place] = self._known(owner, one.turn_id, one.arrived, entries)
            elif one in settled.edited:
                error = TurnEditedError(turn.session, turn.message_id)
                reports[one.place] = _failed(turn, error, one.turn_id)

    def _look_again(
        self, owner: Owner, waiting: Sequence[Waiting], settled: Settled, revise: bool
    ) -> list[Waiting]:
        """The turns that still wait after another writer was faster; it may have brought the same ones."""
        recorded = self._store.read_streams(owner, [one.turn_id for one in waiting])
        still: list[Waiting] = []
        for one in waiting:
            entries = recorded.get(one.turn_id, [])
            before = _digest_in_force(entries)
            if before == one.digest:
                settled.known[one.place] = entries
            elif before is not None and not revise:
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
        draft.knows_turn(one.turn_id, one.stream_version)
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
        one.arrived.masked,
    )


def _failed(turn: Turn, error: MemstrataError, turn_id: str = "") -> TurnReport:
    return TurnReport("failed", turn_id, turn.session, turn.message_id, turn.at, error=error)


def _digest_in_force(entries: Sequence[RecordedEvent]) -> str | None:
    struck = struck_versions(entries)
    digests = [
        e.event.text_digest for e in entries if isinstance(e.event, Judged) and e.stream_version not in struck
    ]
    return digests[-1] if digests else None
