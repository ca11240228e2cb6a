"""The policy's decision about one candidate: deterministic, and repeatable without a model.

The rules are asked in order; the first that has an answer decides. No rule knows a clock: time is the
turn's own, so that the same candidate, context, state and policy give the same decision years later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from . import admission, repetition, settling, taking_back
from .candidate import Candidate
from .case import Case
from .decision import (
    ChangeProcess,
    Command,
    CreateMemory,
    Decision,
    EndMemory,
    RelationFinder,
    UpdateMemory,
)
from .errors import RefusedError
from .memory import Memory
from .owner_state import OwnerState
from .policy import Policy
from .turn import TurnContext


@dataclass(frozen=True, slots=True)
class GateRefusal:
    """The gate said no to the turn, or to this candidate of it; with its reason code and rule."""

    reason: str
    rule: str


RULES: Sequence[Callable[[Case], Decision | None]] = (
    admission.evidence,
    admission.this_answer,
    admission.signals,
    admission.third_party,
    admission.passing_wish,
    admission.request,
    taking_back.take_back,
    admission.place,
    repetition.hint,
    admission.weight,
)
"""What is asked before the candidate is settled, in this order."""


def decide(
    candidate: Candidate,
    context: TurnContext,
    state: OwnerState,
    policy: Policy,
    relations: RelationFinder,
    *,
    gate_refusal: GateRefusal | None = None,
) -> Decision:
    """What becomes of the candidate.

    A command that the aggregate would refuse turns the decision into a refused one with the
    aggregate's reason. Where the gate said no, nothing is let in or held; a refusal of the policy's
    own keeps its reason, which says more. Same arguments, same decision.
    """
    case = Case(candidate, context, state, policy, relations)
    decision = _settled(case)
    if gate_refusal is None or decision.outcome not in ("accepted", "held"):
        return decision
    return replace(
        decision,
        action="SKIP",
        outcome="refused",
        reason=gate_refusal.reason,
        rule=gate_refusal.rule,
        commands=(),
    )


def _settled(case: Case) -> Decision:
    for rule in RULES:
        decision = rule(case)
        if decision is not None:
            return _checked(case, decision)
    return _checked(case, _with_process(case, settling.settle(case)))


def _with_process(case: Case, decision: Decision) -> Decision:
    """A stage of a long process that was accepted moves the process on."""
    candidate = case.candidate
    process = candidate.process or case.policy.registry.get(candidate.attribute).process
    if candidate.kind != "state" or process is None or decision.outcome != "accepted":
        return decision
    stage = candidate.value or candidate.content
    last = case.state.ledger.processes.get(process)
    if last is not None and (last.stage, last.final) == (stage, candidate.final):
        return decision
    change = ChangeProcess(process, stage, candidate.final, case.context.said_at)
    return replace(decision, commands=(*decision.commands, change))


def _checked(case: Case, decision: Decision) -> Decision:
    """The decision, once every aggregate agrees with its commands."""
    try:
        for command in decision.commands:
            _check(case, command)
    except RefusedError as refusal:
        return Decision(
            "SKIP", "refused", refusal.reason, "memory.invariant", decision.target, decision.statement
        )
    return decision


def _check(case: Case, command: Command) -> None:
    memories = case.state.memories
    match command:
        case CreateMemory(statement=statement, memory_id=memory_id):
            memory = memories.get(memory_id) if memory_id is not None else None
            (memory or Memory("")).check_create(statement)
        case UpdateMemory():
            memories[command.memory_id].check_update(command.kind, command.statement)
        case EndMemory():
            memories[command.memory_id].check_end(case.candidate.evidence, asserts_value=False)
        case _:
            pass
