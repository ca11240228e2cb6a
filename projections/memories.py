"""`active_memories`: one row for each memory, whatever became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..domain.events import Proposed
from ..domain.memory import Memory, Status
from ..domain.statement import Statement
from ..domain.stream import RecordedEvent
from .rows import MemoryRow


@dataclass(frozen=True, slots=True)
class Shaping:
    """What rows depend on besides the events: rows are rebuilt when it changes.

    `slot_key` names the slot of a statement; `tokens` cuts a content into search tokens. Equal
    fingerprints are of shapings that give equal rows.
    """

    slot_key: Callable[[Statement], str]
    tokens: Callable[[str], Iterable[str]]
    fingerprint: str = ""


def memory_row(memory: Memory, shaping: Shaping) -> MemoryRow | None:
    """The row of a memory with at least one event; None for a stream that is no memory."""
    status = memory.status
    if status == "none" or not memory.entries:
        return None
    said = memory.said
    if said is not None:
        content = _stated(memory, *said, shaping)
    else:
        content = _NOTHING if status == "erased" else _proposed(memory, shaping)
    return MemoryRow.of({**_standing(memory, status), **content})


def _standing(memory: Memory, status: Status) -> dict[str, Any]:
    """What the row has besides what the memory says."""
    first, last = memory.entries[0], memory.entries[-1]
    erased, confirmations = status == "erased", memory.confirmations
    closing = None if erased else memory.closing
    return {
        "memory_id": memory.memory_id,
        "status": status,
        "chain_version": _number(memory),
        "versions": len(memory.versions),
        "stream_version": memory.stream_version,
        "confirmations": len(confirmations),
        "confirmed_at": None if erased or not confirmations else confirmations[-1][1].said_at,
        "hints": len(memory.hints),
        "occasions": len(memory.occasions),
        "pinned": memory.pinned,
        "created_pos": first.position,
        "updated_pos": last.position,
        "created_at": first.recorded_at,
        "updated_at": last.recorded_at,
        "closing": closing and closing.kind,
        "closed_at": closing and closing.at,
        "closing_reason": closing and closing.reason,
        "successor": closing and closing.successor,
    }


def _number(memory: Memory) -> int:
    """Number of the version that is shown."""
    if memory.latest is not None:
        return memory.latest.number
    # Hints after everything was rolled back are newer than the struck versions.
    return 0 if memory.hints and not memory.erased else len(memory.versions)


def _stated(memory: Memory, entry: RecordedEvent, statement: Statement, shaping: Shaping) -> dict[str, Any]:
    said, scope = statement.provenance, statement.scope
    return {
        "subject": statement.subject,
        "attribute": statement.attribute,
        "type": statement.type,
        "content": statement.content,
        "value": statement.value,
        "polarity": statement.polarity,
        "certainty": statement.certainty,
        "scope_kind": scope.kind,
        "scope_anchor": scope.anchor,
        "scope_rank": scope.rank,
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
        "said_pos": entry.position,
        "statement": statement,
    }


_NOTHING: dict[str, Any] = {
    "subject": "",
    "attribute": "",
    "type": None,
    "content": "",
    "value": None,
    "polarity": "positive",
    "certainty": "certain",
    "scope_kind": None,
    "scope_anchor": "",
    "scope_rank": None,
    "confidence": None,
    "importance": 0,
    "source": None,
    "slot_key": "",
    "valid_from": None,
    "ends_at": None,
    "session": None,
    "agent": None,
    "turn_id": None,
    "said_at": None,
    "tokens": "",
    "said_pos": None,
    "statement": None,
}
"""What an erased memory says."""


def _proposed(memory: Memory, shaping: Shaping) -> dict[str, Any]:
    """What a memory without any statement is about: the last candidate that did not become a version."""
    events = (entry.event for entry in memory.entries)
    proposals = [e for e in events if isinstance(e, Proposed) and e.outcome != "accepted"]
    if not proposals:
        return _NOTHING
    candidate, context = proposals[-1].candidate, proposals[-1].context
    return {
        **_NOTHING,
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
