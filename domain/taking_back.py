"""Ends and retractions: the user says that something is no longer so, or never was to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .case import Case
from .decision import Decision, EndMemory
from .memory import Memory

PREVIOUS_TURN = "previous_turn"


def take_back(case: Case) -> Decision | None:
    """End what the words name: retracted, or ended from the time they say."""
    candidate = case.candidate
    if candidate.kind != "retraction" and candidate.intent not in ("retract", "end"):
        return None
    meant = _meant(case)
    if not meant:
        return case.skip("nothing_to_retract", "retract.nothing")
    kind = "ended" if candidate.intent == "end" else "retracted"
    commands = [
        EndMemory(memory.memory_id, "ended", _end(case, memory), "user_ended")
        if kind == "ended"
        else EndMemory(memory.memory_id, "retracted", case.context.said_at, "user_retracted")
        for memory in meant
    ]
    return case.accept("DELETE", f"user_{kind}", f"retract.{kind}", commands, target=meant[0].memory_id)


def _meant(case: Case) -> Sequence[Memory]:
    if any(s.kind == "retraction" and s.value == PREVIOUS_TURN for s in case.candidate.signals):
        return _of_previous_turn(case)
    if case.candidate.target_id is not None:
        memory = case.state.memories.get(case.candidate.target_id)
        return [memory] if memory is not None and case.stands(memory) else []
    named = [
        case.state.memories[relation.memory_id]
        for relation in case.relations
        if relation.kind in ("named", "same", "opposite", "paraphrase")
    ]
    standing = [memory for memory in named if case.stands(memory)]
    return standing if case.candidate.has("everything") else standing[:1]


def _of_previous_turn(case: Case) -> Sequence[Memory]:
    """What the newest earlier turn of this session that left something standing has left."""
    latest: dict[str, list[Memory]] = {}
    newest: tuple[datetime, int] | None = None
    turn: str | None = None
    for memory in case.state.active():
        version = memory.current
        if version is None:
            continue
        source = version.statement.provenance
        if source.session != case.context.session or source.turn_id in (None, case.context.turn_id):
            continue
        latest.setdefault(source.turn_id or "", []).append(memory)
        moment = (source.said_at, version.entry.position)
        if newest is None or moment > newest:
            newest, turn = moment, source.turn_id
    return latest[turn] if turn is not None else []


def _end(case: Case, memory: Memory) -> datetime:
    """From when it holds no more: the time that the words name, unless it lies before its start."""
    named = case.candidate.time.start if case.candidate.time else None
    began = memory.current.statement.valid_from if memory.current else case.context.said_at
    return named if named is not None and named > began else max(case.context.said_at, began)
