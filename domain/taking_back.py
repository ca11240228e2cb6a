"""Ends and retractions: the user says that something is no longer so, or never was to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .case import Case
from .decision import Command, Decision, EndMemory, SupersedeMemory, UpdateMemory
from .memory import Memory
from .statement import Statement

PREVIOUS_TURN = "previous_turn"


def take_back(case: Case) -> Decision | None:
    """End what the words name: retracted, or ended from the time they say."""
    candidate = case.candidate
    if candidate.kind != "retraction" and candidate.intent not in ("retract", "end"):
        return None
    meant = _meant(case)
    if not meant:
        return case.skip("nothing_to_retract", "retract.nothing")
    restored = [_restore(case, memory, meant) for memory in meant] if _is_previous_turn(case) else []
    if any(restored):
        return _back_to_former(case, meant, restored)
    kind = "ended" if candidate.intent == "end" else "retracted"
    commands = [
        EndMemory(memory.memory_id, "ended", _end(case, memory), "user_ended")
        if kind == "ended"
        else EndMemory(memory.memory_id, "retracted", case.context.said_at, "user_retracted")
        for memory in meant
    ]
    return case.accept("DELETE", f"user_{kind}", f"retract.{kind}", commands, target=meant[0].memory_id)


def _meant(case: Case) -> Sequence[Memory]:
    if _is_previous_turn(case):
        return _of_previous_turn(case)
    if case.candidate.target_id is not None:
        memory = case.state.memories.get(case.candidate.target_id)
        return [memory] if memory is not None and case.stands(memory) else []
    standing = [memory for memory, _ in case.all_related("named", "same", "opposite", "paraphrase")]
    return standing if case.candidate.has("everything") else standing[:1]


def _is_previous_turn(case: Case) -> bool:
    return any(s.kind == "retraction" and s.value == PREVIOUS_TURN for s in case.candidate.signals)


def _restore(case: Case, memory: Memory, meant: Sequence[Memory]) -> UpdateMemory | None:
    """For a turn that only gave a memory another version: what it said before, in that place.

    None where there is nothing to go back to, or another memory has come to say it since.
    """
    version = memory.current
    if version is None:
        return None
    turn = version.statement.provenance.turn_id
    former = [v for v in memory.versions[: version.number - 1] if v.in_force and not v.late]
    former = [v for v in former if v.statement.provenance.turn_id != turn]
    if not former:
        return None
    before = former[-1].statement.model_copy(update={"valid_from": version.statement.valid_from})
    if any(case.stands(other) for other in _others_there(case, before, meant)):
        return None
    return UpdateMemory(memory.memory_id, "correct", before, version.number, (former[-1].entry.ref,))


def _back_to_former(case: Case, meant: Sequence[Memory], restored: Sequence[UpdateMemory | None]) -> Decision:
    at = case.context.said_at
    commands: list[Command] = [
        update or EndMemory(memory.memory_id, "retracted", at, "user_retracted")
        for memory, update in zip(meant, restored, strict=True)
    ]
    for update in filter(None, restored):  # what is over by its date leaves the place to what comes back
        over = _others_there(case, update.statement, meant)
        commands += [SupersedeMemory(other.memory_id, at) for other in over]
    target = meant[0].memory_id
    return case.accept("DELETE", "user_retracted", "retract.former_value", commands, target=target)


def _others_there(case: Case, said: Statement, meant: Sequence[Memory]) -> Sequence[Memory]:
    """The memories in the slot of a statement, apart from those that the turn left."""
    leaving = {memory.memory_id for memory in meant}
    return [m for m in case.state.standing_in(case.state.slot(said)) if m.memory_id not in leaving]


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
