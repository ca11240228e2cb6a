"""`decisions` and `turns`: what was judged and proposed, refused things too, and in which words."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.events import BatchClosed, BatchOpened, Judged, Proposed
from ..domain.history import struck_versions
from ..domain.stream import RecordedEvent
from .rows import BatchRow, DecisionKeys, DecisionRow, TurnRow


def decision_keys(entry: RecordedEvent, struck_by: str | None) -> DecisionKeys | None:
    """What a judgement or proposal is found by, None for any other event.

    `struck_by` is the batch that undid it; None while it is in force.
    """
    event = entry.event
    if isinstance(event, Judged):
        outcome = target = None
    elif isinstance(event, Proposed):
        outcome, target = event.outcome, event.target
    else:
        return None
    context = event.context
    return DecisionKeys(
        entry.position,
        outcome,
        context.turn_id,
        context.session,
        target,
        event.correlation_id,
        context.said_at,
        struck_by,
    )


def decision_row(entry: RecordedEvent, struck_by: str | None, *, erased: bool = False) -> DecisionRow | None:
    """The row of a judgement or proposal, None for any other event.

    Args:
        entry: The recorded event.
        struck_by: The batch that undid it; None while it is in force.
        erased: What the proposal says is no longer to be read.
    """
    event = entry.event
    if isinstance(event, Judged):
        return _judged(entry, event, struck_by)
    if isinstance(event, Proposed):
        return _proposed(entry, event, struck_by, erased=erased)
    return None


def _judged(entry: RecordedEvent, event: Judged, struck_by: str | None) -> DecisionRow:
    context, judgement = event.context, event.judgement
    return DecisionRow(
        position=entry.position,
        stream_id=entry.stream_id,
        stream_version=entry.stream_version,
        kind="judged",
        turn_id=context.turn_id,
        session=context.session,
        agent=context.agent,
        said_at=context.said_at,
        recorded_at=entry.recorded_at,
        actor=event.actor,
        correlation_id=event.correlation_id,
        policy=event.policy,
        channel=None,
        extractor=None,
        action=None,
        outcome=None,
        reason=judgement.reason,
        rule=judgement.rule,
        category=judgement.category,
        attribute=None,
        content="",
        confidence=judgement.confidence,
        memory_id=None,
        in_force=struck_by is None,
        struck_by=struck_by,
        caused_by=(),
        candidate=None,
        judgement=judgement,
    )


def _proposed(entry: RecordedEvent, event: Proposed, struck_by: str | None, *, erased: bool) -> DecisionRow:
    candidate, context = event.candidate, event.context
    return DecisionRow(
        position=entry.position,
        stream_id=entry.stream_id,
        stream_version=entry.stream_version,
        kind="proposed",
        turn_id=context.turn_id,
        session=context.session,
        agent=context.agent,
        said_at=context.said_at,
        recorded_at=entry.recorded_at,
        actor=event.actor,
        correlation_id=event.correlation_id,
        policy=event.policy,
        channel=candidate.channel,
        extractor=candidate.extractor,
        action=event.action,
        outcome=event.outcome,
        reason=event.reason,
        rule=event.rule,
        category=candidate.category,
        attribute=None if erased else candidate.attribute,
        content="" if erased else candidate.content,
        confidence=event.statement.confidence if event.statement else None,
        memory_id=event.target,
        in_force=struck_by is None,
        struck_by=struck_by,
        caused_by=event.caused_by,
        candidate=None if erased else candidate,
        judgement=None,
    )


def turn_row(entries: Sequence[RecordedEvent]) -> TurnRow | None:
    """The row of a turn from its whole stream; None where it was never judged."""
    judged = [(entry, entry.event) for entry in entries if isinstance(entry.event, Judged)]
    if not judged:
        return None
    entry, event = judged[-1]
    context = event.context
    return TurnRow(
        turn_id=entry.stream_id,
        session=context.session,
        message_id=context.message_id,
        agent=context.agent,
        task_id=context.task_id,
        project=context.project,
        said_at=context.said_at,
        digest=event.text_digest,
        text=event.text,
        revisions=len(judged) - 1,
        in_force=entry.stream_version not in struck_versions(entries),
        position=entry.position,
        recorded_at=entry.recorded_at,
        stream_version=entries[-1].stream_version,
    )


def batch_row(entry: RecordedEvent) -> BatchRow | None:
    """The row of a batch that opens, None for any other event."""
    event = entry.event
    if not isinstance(event, BatchOpened):
        return None
    return BatchRow(
        batch_id=event.batch_id,
        kind=event.kind,
        reason=event.reason,
        undoes=event.undoes,
        actor=event.actor,
        position=entry.position,
        recorded_at=entry.recorded_at,
        closed_pos=None,
        written=None,
    )


def closes(entry: RecordedEvent) -> BatchClosed | None:
    """The event if it closes a batch."""
    return entry.event if isinstance(entry.event, BatchClosed) else None
