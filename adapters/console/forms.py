"""The JSON of every result. Names of fields are kept; docs/reference/json.md lists them.

Times are ISO 8601 with offset, ids are whole. `expires` is `never`, `task_finished`, the last day on
which it holds (ISO date, in the zone of the turn), or `process:NAME`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...domain.events import Erased, Proposed

if TYPE_CHECKING:  # a list needs none of the reports and plans
    from ...application.explain import Link, Why
    from ...application.recall import Line
    from ...application.reports import BatchReport, CandidateReport, TurnReport
    from ...domain.ledger import Batch
    from ...domain.plan import Effect, Plan
    from ...domain.statement import Statement
    from ...domain.stream import RecordedEvent
    from ...projections.ports import Listed
    from ...projections.rows import DecisionRow, MemoryRow, PeriodRow, VersionRow

Form = dict[str, Any]


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 with offset, None for None."""
    return None if moment is None else moment.isoformat()


def expires(statement: Statement | None) -> str | None:
    """How a statement ends, in one word."""
    if statement is None:
        return None
    end = statement.end
    match end.kind:
        case "date":
            return end.last_day(statement.provenance.zone)
        case "process":
            return f"process:{end.process}"
        case _:
            return end.kind


def scope_name(kind: str | None, anchor: str) -> str | None:
    """`current_task`, `project`, `<family>_tasks` or `global`; None where there is no scope."""
    return f"{anchor}_tasks" if kind == "family" else kind


def quotes_of(statement: Statement | None) -> list[str]:
    """The words that a statement rests on."""
    return [quote for evidence in (statement.evidence if statement else ()) for quote in evidence.quotes]


def statement_form(statement: Statement | None) -> Form | None:
    """What one version says."""
    if statement is None:
        return None
    source = statement.provenance
    return {
        "subject": statement.subject,
        "attribute": statement.attribute,
        "type": statement.type,
        "content": statement.content,
        "value": statement.value,
        "polarity": statement.polarity,
        "certainty": statement.certainty,
        "scope": statement.scope.name,
        "scope_anchor": statement.scope.anchor,
        "confidence": statement.confidence,
        "importance": statement.importance,
        "valid_from": iso(statement.valid_from),
        "expires": expires(statement),
        "quotes": quotes_of(statement),
        "said_at": iso(source.said_at),
        "session": source.session,
        "turn_id": source.turn_id,
        "channel": source.channel,
        "extractor": source.extractor,
        "rule": source.rule,
        "source": source.source,
    }


def memory_form(
    memory: MemoryRow, statement: Statement | None = None, period: PeriodRow | None = None
) -> Form:
    """One memory; with a statement, what it says is what that one says."""
    shown = statement or memory.statement
    scope = memory.scope_kind and scope_name(memory.scope_kind, memory.scope_anchor)
    return {
        "id": memory.memory_id,
        "status": memory.status,
        "content": shown.content if shown else memory.content,
        "subject": memory.subject,
        "attribute": memory.attribute,
        "value": shown.value if shown else memory.value,
        "polarity": shown.polarity if shown else memory.polarity,
        "certainty": shown.certainty if shown else memory.certainty,
        "type": shown.type if shown else memory.type,
        "scope": shown.scope.name if shown else scope,
        "scope_anchor": shown.scope.anchor if shown else memory.scope_anchor,
        "confidence": shown.confidence if shown else memory.confidence,
        "importance": shown.importance if shown else memory.importance,
        "version": period.number if period else memory.chain_version,
        "versions": memory.versions,
        "valid_from": iso(period.valid_from if period else memory.valid_from),
        "valid_to": iso(period.valid_to) if period else iso(memory.closed_at or memory.ends_at),
        "expires": expires(shown),
        "quotes": quotes_of(shown),
        "said_at": iso(shown.provenance.said_at if shown else memory.said_at),
        "session": shown.provenance.session if shown else memory.session,
        "turn_id": shown.provenance.turn_id if shown else memory.turn_id,
        "agent": memory.agent,
        "pinned": memory.pinned,
        "confirmations": memory.confirmations,
        "confirmed_at": iso(memory.confirmed_at),
        "hints": memory.hints,
        "occasions": memory.occasions,
        "closing": memory.closing,
        "closing_reason": memory.closing_reason,
        "closed_at": iso(memory.closed_at),
        "successor": memory.successor,
        "recorded_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "position": memory.updated_pos,
    }


def listed_form(listed: Listed) -> Form:
    """One memory of a list, as of the list's moments."""
    return memory_form(listed.memory, listed.statement, listed.period)


def version_form(row: VersionRow, periods: Iterable[PeriodRow] = ()) -> Form:
    """One version of a history; `periods` are those of the whole memory."""
    return {
        "id": row.memory_id,
        "version": row.number,
        "kind": row.kind,
        "of": row.of,
        "in_force": row.in_force,
        "undone_by": row.struck_by,
        "periods": [
            {"valid_from": iso(p.valid_from), "valid_to": iso(p.valid_to)}
            for p in periods
            if p.number == row.number
        ],
        "recorded_at": iso(row.recorded_at),
        "position": row.position,
        "stream_version": row.stream_version,
        "actor": row.actor,
        "correlation_id": row.correlation_id,
        "policy": row.policy,
        "statement": statement_form(row.statement),
    }


def candidate_form(candidate: CandidateReport) -> Form:
    """What was decided about one candidate of a turn."""
    found, statement = candidate.candidate, candidate.statement
    return {
        "action": candidate.action,
        "outcome": candidate.outcome,
        "reason": candidate.reason,
        "rule": candidate.rule,
        "content": found.content,
        "kind": found.kind,
        "intent": found.intent,
        "attribute": found.attribute,
        "value": found.value,
        "type": statement.type if statement else None,
        "scope": statement.scope.name if statement else None,
        "scope_anchor": statement.scope.anchor if statement else None,
        "confidence": statement.confidence if statement else None,
        "importance": found.importance,
        "expires": expires(statement),
        "quotes": [quote for evidence in found.evidence for quote in evidence.quotes],
        "memory_id": candidate.memory_id,
        "channel": found.channel,
        "extractor": found.extractor,
        "extractor_rule": found.rule,
    }


def turn_form(turn: TurnReport, *, file: str | None = None, line: int | None = None) -> Form:
    """What became of one turn."""
    return {
        "status": turn.status,
        "turn_id": turn.turn_id or None,
        "session": turn.session,
        "message_id": turn.message_id,
        "said_at": iso(turn.said_at),
        "action": turn.action,
        "judgement": turn.judgement.model_dump(mode="json") if turn.judgement else None,
        "candidates": [candidate_form(candidate) for candidate in turn.candidates],
        "masked": list(turn.masked),
        "error": str(turn.error) if turn.error else None,
        "file": file,
        "line": line,
    }


def decision_form(row: DecisionRow) -> Form:
    """One judgement or proposal."""
    return {
        "position": row.position,
        "kind": row.kind,
        "action": row.action,
        "outcome": row.outcome,
        "reason": row.reason,
        "rule": row.rule,
        "content": row.content,
        "attribute": row.attribute,
        "category": row.category,
        "confidence": row.confidence,
        "quotes": [q for e in (row.candidate.evidence if row.candidate else ()) for q in e.quotes],
        "memory_id": row.memory_id,
        "turn_id": row.turn_id,
        "session": row.session,
        "agent": row.agent,
        "said_at": iso(row.said_at),
        "recorded_at": iso(row.recorded_at),
        "actor": row.actor,
        "correlation_id": row.correlation_id,
        "policy": row.policy,
        "channel": row.channel,
        "extractor": row.extractor,
        "extractor_rule": row.candidate.rule if row.candidate else None,
        "in_force": row.in_force,
        "undone_by": row.struck_by,
    }


def is_hidden(entry: RecordedEvent, erased: Collection[str]) -> bool:
    """Whether what an event says is no longer told: all of an erased memory's but the tombstone."""
    return entry.stream_id in erased and not isinstance(entry.event, Erased)


def event_form(entry: RecordedEvent, session: str | None, erased: Collection[str]) -> Form:
    """One event in its envelope; `payload` is what the event says, None for those of erased memories."""
    return {
        "position": entry.position,
        "type": type(entry.event).__name__,
        "topic": entry.event.TOPIC,
        "schema_version": entry.event.SCHEMA_VERSION,
        "stream_id": entry.stream_id,
        "stream_version": entry.stream_version,
        "recorded_at": iso(entry.recorded_at),
        "session": session,
        "payload": None if is_hidden(entry, erased) else entry.event.model_dump(mode="json"),
    }


def proposal_form(entry: RecordedEvent, event: Proposed) -> Form:
    """One proposal of a memory's history."""
    return {
        "position": entry.position,
        "recorded_at": iso(entry.recorded_at),
        "said_at": iso(event.said_at),
        "action": event.action,
        "outcome": event.outcome,
        "reason": event.reason,
        "rule": event.rule,
        "turn_id": event.context.turn_id,
        "session": event.context.session,
        "candidate": event.candidate.model_dump(mode="json", exclude_none=True),
    }


def batch_form(batch: Batch) -> Form:
    """One batch of the owner's."""
    return {
        "batch_id": batch.batch_id,
        "kind": batch.kind,
        "reason": batch.reason,
        "undoes": batch.undoes,
        "undone_by": batch.undone_by,
        "closed": batch.closed,
        "actor": batch.opened.event.actor,
        "recorded_at": iso(batch.opened.recorded_at),
    }


def why_form(why: Why) -> Form:
    """Why a memory stands, back to the words."""
    memory = why.memory
    return {
        "id": memory.memory_id,
        "status": memory.status,
        "version": memory.current.number if memory.current else None,
        "links": [_link_form(link, why) for link in why.links],
        "confirmations": [proposal_form(*pair) for pair in why.confirmations],
        "held": [proposal_form(*pair) for pair in why.held],
        "refusals": [proposal_form(*pair) for pair in why.refusals],
        "verdicts": [
            {"verdict": e.verdict, "note": e.note, "actor": e.actor, "recorded_at": iso(entry.recorded_at)}
            for entry, e in why.verdicts
        ],
        "closing": memory.closing
        and {
            "kind": memory.closing.kind,
            "at": iso(memory.closing.at),
            "reason": memory.closing.reason,
            "successor": memory.closing.successor,
        },
        "replaces": list(why.replaces),
        "batches": [batch_form(batch) for batch in why.batches],
    }


def _link_form(link: Link, why: Why) -> Form:
    version = link.version
    proposed = link.proposal.event if link.proposal else None
    judged = link.judged.event if link.judged else None
    return {
        "version": version.number,
        "kind": version.kind,
        "in_force": version.in_force,
        "undone_by": link.undone_by,
        "recorded_at": iso(version.entry.recorded_at),
        "position": version.entry.position,
        "actor": version.entry.event.actor,
        "policy": version.entry.event.policy,
        "statement": statement_form(version.statement),
        "decision": proposal_form(link.proposal, proposed)
        if link.proposal and isinstance(proposed, Proposed)
        else None,
        "judgement": judged.model_dump(mode="json")["judgement"] if judged else None,
        "words": why.words.get(version.statement.provenance.turn_id or ""),
    }


def effect_form(effect: Effect) -> Form:
    """What a plan does to one memory."""
    return {
        "id": effect.memory_id,
        "fate": effect.fate,
        "before": statement_form(effect.before),
        "after": statement_form(effect.after),
        "successor": effect.successor,
    }


def plan_form(plan: Plan, report: BatchReport | None) -> Form:
    """A rollback as it is planned, and, where it was applied, the batch that it became."""
    return {
        "token": plan.token,
        "selector": plan.selector.criteria(),
        "selected": [{"stream_id": ref.stream, "stream_version": ref.version} for ref in plan.selected],
        "undone": [{"stream_id": ref.stream, "stream_version": ref.version} for ref in plan.struck],
        "effects": [effect_form(effect) for effect in plan.effects],
        "tasks_reopened": list(plan.tasks_reopened),
        "applied": report is not None and report.batch_id is not None,
        "batch_id": report.batch_id if report else None,
        "written": report.written if report else 0,
    }


def report_form(report: BatchReport) -> Form:
    """What a command of a person's wrote."""
    return {"batch_id": report.batch_id, "written": report.written, "memories": list(report.memories)}


def line_form(line: Line) -> Form:
    """One memory that was found for a question."""
    return {
        "id": line.memory_id,
        "version": line.chain_version,
        "text": line.text,
        "content": line.statement.content,
        "scope": line.statement.scope.name,
        "score": round(line.score, 4),
        "tokens": line.cost,
        "said_at": iso(line.statement.provenance.said_at),
        "expires": expires(line.statement),
    }
