"""`active_memories`: one row for each memory, whatever became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..domain.events import Proposed
from ..domain.memory import Memory, Status
from ..domain.owner_state import statement_of
from ..domain.statement import Statement
from .rows import MemoryRow


@dataclass(frozen=True, slots=True)
class Shaping:
    """What rows depend on besides the events: rows are rebuilt when it changes.

    `slot_key` names the slot of a statement; `tokens` cuts a content into search tokens.
    """

    slot_key: Callable[[Statement], str]
    tokens: Callable[[str], Iterable[str]]


def memory_row(memory: Memory, shaping: Shaping) -> MemoryRow | None:
    """The row of a memory with at least one event; None for a stream that is no memory."""
    status = memory.status
    if status == "none" or not memory.entries:
        return None
    row = _blank(memory, status)
    if status == "erased":
        return row
    statement = statement_of(memory)
    if statement is not None:
        return replace(row, **_stated(memory, statement, shaping))
    return replace(row, **_proposed(memory, shaping))


def _blank(memory: Memory, status: Status) -> MemoryRow:
    """The row without what the memory says."""
    first, last, closing = memory.entries[0], memory.entries[-1], memory.closing
    shown, erased = memory.latest, status == "erased"
    return MemoryRow(
        memory_id=memory.memory_id,
        status=status,
        subject="",
        attribute="",
        type=None,
        content="",
        value=None,
        polarity="positive",
        certainty="certain",
        scope_kind=None,
        scope_anchor="",
        scope_rank=None,
        confidence=None,
        importance=0,
        source=None,
        slot_key="",
        valid_from=None,
        ends_at=None,
        chain_version=shown.number if shown else len(memory.versions),
        versions=len(memory.versions),
        stream_version=memory.stream_version,
        session=None,
        agent=None,
        turn_id=None,
        said_at=None,
        confirmations=len(memory.confirmations),
        confirmed_at=None if erased or not memory.confirmations else memory.confirmations[-1][1].said_at,
        hints=len(memory.hints),
        occasions=len(memory.occasions),
        pinned=memory.pinned,
        created_pos=first.position,
        updated_pos=last.position,
        created_at=first.recorded_at,
        updated_at=last.recorded_at,
        closing=None if closing is None or erased else closing.kind,
        closed_at=None if closing is None or erased else closing.at,
        closing_reason=None if closing is None or erased else closing.reason,
        successor=None if closing is None or erased else closing.successor,
        tokens="",
        statement=None,
    )


def _stated(memory: Memory, statement: Statement, shaping: Shaping) -> dict[str, Any]:
    said = statement.provenance
    return {
        # Hints after everything was rolled back are newer than the struck versions.
        "chain_version": 0 if memory.latest is None and memory.hints else _number(memory),
        "subject": statement.subject,
        "attribute": statement.attribute,
        "type": statement.type,
        "content": statement.content,
        "value": statement.value,
        "polarity": statement.polarity,
        "certainty": statement.certainty,
        "scope_kind": statement.scope.kind,
        "scope_anchor": statement.scope.anchor,
        "scope_rank": statement.scope.rank,
        "confidence": statement.confidence,
        "importance": statement.importance,
        "source": said.source,
        "slot_key": shaping.slot_key(statement),
        "valid_from": statement.valid_from,
        "ends_at": statement.end.at,
        "session": said.session,
        "agent": said.agent,
        "turn_id": said.turn_id,
        "said_at": said.said_at,
        "tokens": " ".join(shaping.tokens(statement.content)),
        "statement": statement,
    }


def _number(memory: Memory) -> int:
    return memory.latest.number if memory.latest else len(memory.versions)


def _proposed(memory: Memory, shaping: Shaping) -> dict[str, Any]:
    """What a memory without any statement is about: its last proposal's candidate."""
    proposals = [e.event for e in memory.entries if isinstance(e.event, Proposed)]
    if not proposals:
        return {}
    candidate, context = proposals[-1].candidate, proposals[-1].context
    return {
        "subject": candidate.subject,
        "attribute": candidate.attribute,
        "content": candidate.content,
        "value": candidate.value,
        "polarity": candidate.polarity,
        "certainty": candidate.certainty,
        "importance": candidate.importance,
        "source": candidate.source,
        "session": context.session,
        "agent": context.agent,
        "turn_id": context.turn_id,
        "said_at": context.said_at,
        "tokens": " ".join(shaping.tokens(candidate.content)),
    }
