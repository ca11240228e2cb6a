"""Hand-made histories: the events that a test is about, without the pipeline that would decide them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from memstrata.domain.candidate import Candidate
from memstrata.domain.events import (
    BatchClosed,
    BatchOpened,
    Created,
    Endorsed,
    Erased,
    Expired,
    Judged,
    Proposed,
    RolledBack,
    Superseded,
    TaskChanged,
    Updated,
)
from memstrata.domain.evidence import Evidence
from memstrata.domain.expiry import NEVER, End
from memstrata.domain.judgement import Judgement
from memstrata.domain.scope import GLOBAL, Scope
from memstrata.domain.statement import Provenance, Statement
from memstrata.domain.turn import TurnContext
from memstrata.domain.values import EventRef, Outcome, UpdateKind

NOON = datetime(2026, 10, 8, 12, tzinfo=UTC)


def stream(number: int) -> str:
    """The id of a test's n-th stream: the digits come first, so that prefixes tell them apart."""
    return f"{number:02x}{'0' * 28}{number:02x}"


def header(said_at: datetime, correlation: str = "c1") -> dict[str, Any]:
    return {"actor": "user", "correlation_id": correlation, "policy": "p1", "said_at": said_at}


def statement(
    content: str,
    valid_from: datetime = NOON,
    *,
    said_at: datetime | None = None,
    attribute: str = "expected_salary",
    scope: Scope = GLOBAL,
    confidence: float = 0.92,
    until: datetime | None = None,
    session: str = "s1",
) -> Statement:
    said_at = said_at or valid_from
    return Statement(
        attribute=attribute,
        type="important_fact",
        content=content,
        value=content,
        scope=scope,
        confidence=confidence,
        importance=4,
        valid_from=valid_from,
        end=NEVER if until is None else End(kind="date", at=until),
        evidence=(Evidence(kind="person", attested_by="test", quotes=(content,)),),
        provenance=Provenance(
            session=session,
            said_at=said_at,
            zone="UTC",
            channel="rule",
            extractor="rules/1",
            rule="r1",
            source="explicit_user_statement",
        ),
    )


def context(
    turn_id: str, said_at: datetime = NOON, session: str = "s1", task: str | None = None
) -> TurnContext:
    return TurnContext(
        turn_id=turn_id, session=session, message_id="m1", said_at=said_at, zone="UTC", task_id=task
    )


def candidate(content: str, attribute: str = "expected_salary") -> Candidate:
    return Candidate(
        kind="fact",
        attribute=attribute,
        content=content,
        extractor="rules/1",
        rule="r1",
        category="important_fact",
    )


def judged(turn_id: str, text: str = "hello", said_at: datetime = NOON, session: str = "s1") -> Judged:
    return Judged(
        **header(said_at, turn_id),
        context=context(turn_id, said_at, session),
        judgement=Judgement(
            should_extract=True,
            confidence=0.9,
            category="important_fact",
            stability="stable",
            importance=4,
            reason="says a fact",
            route="rules",
            rule="g1",
        ),
        text_digest=f"{hash_free(text):064x}",
        text=text,
    )


def hash_free(text: str) -> int:
    """Any number that differs for different short texts and is the same in every process."""
    return int.from_bytes(text.encode()[:32], "big")


def proposed(
    turn_id: str,
    content: str,
    outcome: Outcome,
    *,
    target: str | None = None,
    said_at: datetime = NOON,
    stated: Statement | None = None,
    session: str = "s1",
    task: str | None = None,
) -> Proposed:
    return Proposed(
        **header(said_at, turn_id),
        candidate=candidate(content),
        context=context(turn_id, said_at, session, task),
        action="HOLD" if outcome == "held" else "WRITE",
        outcome=outcome,
        reason="because",
        rule="r7",
        target=target,
        statement=stated,
    )


def created(said: Statement) -> Created:
    return Created(**header(said.provenance.said_at), statement=said)


def updated(kind: UpdateKind, said: Statement, of: int | None = None) -> Updated:
    return Updated(**header(said.provenance.said_at), kind=kind, statement=said, of=of)


def superseded(successor: str, at: datetime) -> Superseded:
    cause = EventRef(stream=successor, version=1)
    return Superseded(**header(at), successor=successor, at=at, caused_by=(cause,))


def expired(kind: Literal["ended", "retracted"], at: datetime) -> Expired:
    return Expired(**header(at), kind=kind, at=at, reason="user_retracted")


def rolled_back(*names: int, batch: str = "b1", at: datetime = NOON) -> RolledBack:
    return RolledBack(**header(at, batch), names=names, batch_id=batch, reason="wrong")


def endorsed(verdict: Literal["confirmed", "rejected", "pinned", "unpinned", "wrong"]) -> Endorsed:
    return Endorsed(**header(NOON), verdict=verdict)


def erased() -> Erased:
    return Erased(**header(NOON), reason="requested")


def batch_opened(batch_id: str, undoes: str | None = None) -> BatchOpened:
    fields = header(NOON, batch_id)
    return BatchOpened(**fields, batch_id=batch_id, kind="rollback", reason="wrong", undoes=undoes)


def batch_closed(batch_id: str, written: int = 1) -> BatchClosed:
    return BatchClosed(**header(NOON, batch_id), batch_id=batch_id, written=written)


def task_changed(change: Literal["started", "finished"]) -> TaskChanged:
    return TaskChanged(**header(NOON), task_id="t1", change=change, at=NOON)


def day(month: int, number: int, hour: int = 0) -> datetime:
    """A moment of the scenario's autumn, at +08:00 as people say it."""
    return datetime(2026, month, number, hour, tzinfo=UTC) - timedelta(hours=8)
