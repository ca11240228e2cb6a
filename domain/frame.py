"""From a candidate and its context to the statement that would stand.

Scope, confidence, end and type are computed here, from what was observed, and nowhere else. Nothing
reaches further than the words say: without a lasting word an instruction binds the task in hand,
without a word for a family it reaches no family, without a word for everything it is not global.
What somebody says plainly about themself, however, is so wherever they are.
"""

from __future__ import annotations

from datetime import datetime

from .candidate import Candidate, SignalKind
from .expiry import NEVER, End
from .policy import Policy
from .scope import GLOBAL, Scope
from .slot import fold_value
from .statement import Provenance, Statement
from .turn import TurnContext
from .values import MemoryType

CONTRAST = "note"
"""The attribute of what names no matter of its own, only the difference to what was so."""

_LIMITING: tuple[SignalKind, ...] = ("limiting", "exception")


def frame(candidate: Candidate, context: TurnContext, policy: Policy) -> Statement:
    """The statement that the candidate would become; its evidence must not be empty."""
    scope = scope_of(candidate, context, policy)
    return Statement(
        subject=candidate.subject,
        attribute=policy.registry.canonical(candidate.attribute),
        type=_type_of(candidate, scope, policy),
        content=candidate.content,
        value=candidate.hint_key if candidate.kind == "hint" and candidate.hint_key else candidate.value,
        polarity=candidate.polarity,
        certainty=candidate.certainty,
        exclusive=candidate.exclusive,
        scope=scope,
        confidence=confidence_of(candidate, policy),
        importance=candidate.importance,
        valid_from=_valid_from(candidate, context),
        end=_end_of(candidate, context, scope, policy),
        evidence=candidate.evidence,
        provenance=Provenance(
            turn_id=context.turn_id,
            session=context.session,
            message_id=context.message_id,
            agent=context.agent,
            said_at=context.said_at,
            zone=context.zone,
            channel=candidate.channel,
            extractor=candidate.extractor,
            rule=candidate.rule,
            source=candidate.source,
        ),
    )


# --- scope -------------------------------------------------------------------------------------------


def scope_of(candidate: Candidate, context: TurnContext, policy: Policy) -> Scope:
    """How far the candidate reaches, by its signals and by what it is about."""
    task = Scope(kind="current_task", anchor=context.occasion)
    project = Scope(kind="project", anchor=context.project) if context.project else None
    if candidate.kind == "hint":
        return _recurring(candidate, context) or task
    if candidate.has("everything"):
        return GLOBAL
    if candidate.has(*_LIMITING):
        return task
    if is_lasting(candidate):
        return _lasting_scope(candidate, context, policy)
    if candidate.kind == "project_fact" or candidate.has("project"):
        return project or task
    if candidate.kind == "request_parameter":
        return task
    if candidate.kind in ("constraint", "answer_instruction"):
        return GLOBAL if is_dated(candidate) else task
    if is_instruction(candidate, policy) and candidate.kind == "preference":
        stands = is_dated(candidate) or is_about_answers(candidate, policy)
        return _family(candidate) or (GLOBAL if stands else task)
    if candidate.kind in ("preference", "boundary"):
        return _family(candidate) or GLOBAL
    return GLOBAL


def scope_is_said(candidate: Candidate) -> bool:
    """Whether the words themselves say how far it reaches, so that no other scope is looked for."""
    named = candidate.kind in ("constraint", "project_fact", "hint") or candidate.family is not None
    return named or candidate.has("everything", "family", "project", "lasting", *_LIMITING)


def is_lasting(candidate: Candidate) -> bool:
    """Whether a word says that it is to last; a limiting word outweighs an `always` beside it."""
    return candidate.has("everything") or (candidate.has("lasting") and not candidate.has(*_LIMITING))


def is_instruction(candidate: Candidate, policy: Policy) -> bool:
    """Whether it tells the agent how to do something, rather than something about the person."""
    instructs = policy.registry.canonical(candidate.attribute) in policy.rules.scope.instruction_attributes
    return instructs or candidate.kind in ("answer_instruction", "constraint")


def is_about_answers(candidate: Candidate, policy: Policy) -> bool:
    """Whether it is about the manner of answering or explaining, which belongs to no family of tasks."""
    attribute = policy.registry.canonical(candidate.attribute)
    return candidate.kind == "style" or attribute in policy.rules.scope.answering_attributes


def is_change(candidate: Candidate) -> bool:
    """Whether the words say that something is so no longer, and what is so instead."""
    return candidate.intent == "change" or (candidate.intent == "assert" and candidate.has("change"))


def is_correction(candidate: Candidate) -> bool:
    """Whether the words say that it was never so, rather than that it changed."""
    return candidate.intent == "correct" or (candidate.intent == "assert" and candidate.has("correction"))


def is_contrast(candidate: Candidate) -> bool:
    """Whether it says only what is otherwise ("not A but B"), about something that is remembered."""
    return (
        candidate.kind == "fact"
        and candidate.attribute == CONTRAST
        and candidate.intent in ("change", "correct")
    )


def is_dated(candidate: Candidate) -> bool:
    """Whether the words name the time at which it stops."""
    return candidate.time is not None and candidate.time.end is not None


def _lasting_scope(candidate: Candidate, context: TurnContext, policy: Policy) -> Scope:
    if is_about_answers(candidate, policy):
        return GLOBAL
    if (candidate.kind == "project_fact" or candidate.has("project")) and context.project:
        return Scope(kind="project", anchor=context.project)
    if family := _family(candidate):
        return family
    if is_instruction(candidate, policy) and context.task_family:
        return Scope(kind="family", anchor=context.task_family)
    return GLOBAL


def _family(candidate: Candidate) -> Scope | None:
    if candidate.kind in ("fact", "state", "relationship", "plan", "style"):
        return None
    named = candidate.family or next((s.value for s in candidate.signals if s.kind == "family"), None)
    return Scope(kind="family", anchor=named) if named else None


def _recurring(candidate: Candidate, context: TurnContext) -> Scope | None:
    """Where a habit belongs: the family that the words or the task name, else tasks of this name."""
    named = candidate.family or context.task_family or (fold_value(context.task) if context.task else None)
    return Scope(kind="family", anchor=named) if named else None


# --- confidence, type, time --------------------------------------------------------------------------


def confidence_of(candidate: Candidate, policy: Policy) -> float:
    """How sure it is, by its source, moved by its signals within the source's bounds."""
    rules = policy.rules.confidence
    low, high = rules.bounds[candidate.source]
    signalled = {signal.kind for signal in candidate.signals}
    moved = rules.by_source[candidate.source]
    moved += sum(shift for kind, shift in rules.shift.items() if kind in signalled)
    confidence = min(max(moved, low), high)
    if candidate.has("hedge"):
        confidence -= rules.unsure.hedge
    if candidate.certainty != "certain":
        confidence = min(confidence, rules.unsure.at_most)
    return round(max(confidence, 0.0), 4)


def _type_of(candidate: Candidate, scope: Scope, policy: Policy) -> MemoryType:
    types = policy.rules.types
    if scope.kind == "current_task" and candidate.kind in ("preference", "style", "answer_instruction"):
        return types.by_kind["constraint"]
    if candidate.kind == "constraint" and scope.kind != "current_task" and not is_dated(candidate):
        return types.by_kind["preference"]
    if candidate.kind == "fact" and candidate.category in types.by_category:
        return types.by_category[candidate.category]
    return types.by_kind[candidate.kind]


def _valid_from(candidate: Candidate, context: TurnContext) -> datetime:
    start = candidate.time.start if candidate.time else None
    return context.said_at if start is None else start


def _end_of(candidate: Candidate, context: TurnContext, scope: Scope, policy: Policy) -> End:
    if candidate.time is not None and candidate.time.end is not None and not candidate.has("limiting"):
        return End(kind="date", at=candidate.time.end)
    if scope.kind == "current_task":
        return End(kind="task_finished", task_id=context.occasion)
    # Stages of a process, and what is only asked for while it goes on, end with it.
    process = candidate.process or policy.registry.get(candidate.attribute).process
    if process:
        return End(kind="process", process=process)
    return NEVER
