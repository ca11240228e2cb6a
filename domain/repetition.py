"""Hints: what one task may reveal of a habit, counted once for each occasion."""

from __future__ import annotations

from .case import Case
from .decision import CreateMemory, Decision
from .memory import Memory
from .scope import Scope
from .slot import fold_value
from .statement import Statement
from .turn import TurnContext
from .values import EventRef


def hint(case: Case) -> Decision | None:
    """Hold an inference until it was seen on enough occasions, then let it become a memory."""
    if not _is_hint(case):
        return None
    standing = _said_for_good(case)
    memory = _home(case)
    if memory is not None and case.stands(memory):
        standing = memory
    if standing is not None:
        return case.confirm("duplicate", "hint.known", standing)
    if memory is None:
        return case.hold("weak_inference", "hint.first")
    if memory.status == "rejected":
        return case.skip("rejected_by_person", "hint.rejected", memory.memory_id)
    seen = _open_occasions(memory)
    if case.context.occasion in seen:
        return case.hold("seen_on_this_occasion", "hint.same_occasion", memory.memory_id)
    if len(seen) + 1 < case.policy.rules.repetition.threshold:
        return case.hold("weak_inference", "hint.counted", memory.memory_id)
    return _promote(case, memory)


def _said_for_good(case: Case) -> Memory | None:
    """A memory that says the same and outlasts the task; what was asked of one task is no habit yet."""
    said = case.all_related("same", "paraphrase")
    return next((m for m, version in said if version.statement.scope.kind != "current_task"), None)


def _is_hint(case: Case) -> bool:
    """Whether the candidate was inferred from behaviour and not said."""
    return case.candidate.kind == "hint" or case.candidate.source == "single_task_inference"


def _open_occasions(memory: Memory) -> frozenset[str]:
    """Where the memory was proposed and held since it last had no version: tasks, else sessions."""
    return frozenset(context.occasion for _, context, _ in _open_hints(memory))


def seen_often(case: Case) -> bool:
    """Whether this sighting, with those of the held memory in the slot, reaches the threshold."""
    memory = case.occupant
    if memory is None or case.stands(memory):
        return False
    seen = _open_occasions(memory) | {case.context.occasion}
    return len(seen) >= case.policy.rules.repetition.threshold


def _support(memory: Memory) -> tuple[EventRef, ...]:
    """The held proposals that a promotion rests on, oldest first."""
    return tuple(ref for ref, _, _ in _open_hints(memory))


def _open_hints(memory: Memory) -> list[tuple[EventRef, TurnContext, Statement]]:
    return [
        (entry.ref, proposal.context, proposal.statement)
        for entry, proposal in memory.pending
        if proposal.statement is not None
    ]


def _home(case: Case) -> Memory | None:
    """The memory that counts this hint: the slot's, else one that counts the same key.

    One of another family only where the family is a guess on either side: where the words name none now,
    or where it was held under the name of a task that belongs to no known family.
    """
    if case.occupant is not None:
        return case.occupant
    said = case.statement
    counting = case.state.hinted(said.attribute, said.value_or_content)
    return next((memory for memory in counting if _may_be_of_one_family(case, memory)), None)


def _may_be_of_one_family(case: Case, memory: Memory) -> bool:
    held = _open_hints(memory)
    return (
        case.candidate.family is None
        or any(said.scope == case.statement.scope for _, _, said in held)
        or all(_is_guessed(context, said.scope) for _, context, said in held)
    )


def _is_guessed(context: TurnContext, scope: Scope) -> bool:
    """Whether the family is only the name of the task."""
    return context.task is not None and scope.anchor == fold_value(context.task)


def _promote(case: Case, memory: Memory) -> Decision:
    """Open the held memory, in the scope in which it was held: a family's, where one was ever known."""
    held = [(context, said.scope) for _, context, said in _open_hints(memory)]
    held.append((case.context, case.statement.scope))
    known = [scope for context, scope in held if not _is_guessed(context, scope)]
    rules = case.policy.rules.confidence
    said = case.statement
    statement = said.model_copy(
        update={
            "scope": known[0] if known else held[0][1],
            "confidence": max(said.confidence, rules.by_source["repeated_behaviour"]),
            "provenance": said.provenance.model_copy(update={"source": "repeated_behaviour"}),
        }
    )
    command = CreateMemory(statement, memory.memory_id, caused_by=_support(memory))
    return case.accept(
        "WRITE",
        "promoted_by_repetition",
        "hint.promoted",
        [command],
        target=memory.memory_id,
        statement=statement,
    )
