"""Rules that come before any memory is looked at: is this a thing to remember at all?

Each rule takes a case and answers with a decision, or with None when it has nothing to say.
"""

from __future__ import annotations

from .case import Case
from .decision import Decision
from .finding import target_of
from .frame import is_dated, is_instruction, is_lasting
from .memory import is_placeholder
from .repetition import seen_often
from .scope import Scope
from .slot import fold_value

PASSING_AGAINST_STANDING = "temporary_instruction_cannot_override_existing_preference"
SECRET_PLACEHOLDER = "■"


def evidence(case: Case) -> Decision | None:
    """Nothing is remembered that does not rest on somebody's words."""
    if not case.candidate.evidence:
        return Decision("SKIP", "refused", "no_evidence", "evidence.missing")
    if is_placeholder(case.candidate.content):
        return case.skip("empty_content", "content.placeholder")
    if SECRET_PLACEHOLDER in case.candidate.content or SECRET_PLACEHOLDER in (case.candidate.value or ""):
        return case.skip("secret", "content.secret")
    return None


def signals(case: Case) -> Decision | None:
    """A joke, a question, a quotation asserts nothing; some categories never do."""
    refuse = case.policy.rules.refuse
    for signal in case.candidate.signals:
        if signal.kind in refuse.signals:
            return case.skip(refuse.signals[signal.kind], f"signal.{signal.kind}")
    if case.candidate.category in refuse.categories:
        return case.skip(refuse.categories[case.candidate.category], f"category.{case.candidate.category}")
    if case.candidate.opinion is not None and case.candidate.opinion.action == "IGNORE":
        return case.skip("ignored_by_model", "opinion.ignore")
    return None


def third_party(case: Case) -> Decision | None:
    """What concerns somebody else is kept for the project in hand and for people already known."""
    candidate = case.candidate
    if not candidate.has("third_party"):
        return None
    if candidate.kind == "project_fact" and case.context.project:
        return None
    if fold_value(candidate.subject) != "user" and is_known(case, candidate.subject):
        return None
    return case.skip("third_party", "signal.third_party")


def is_known(case: Case, person: str) -> bool:
    """Whether an active memory is about the person, or names them."""
    folded = fold_value(person)
    if not folded:
        return False
    for memory in case.state.active():
        said = memory.current.statement if memory.current else None
        if said and (fold_value(said.subject) == folded or folded in fold_value(said.content)):
            return True
    return False


def this_answer(case: Case) -> Decision | None:
    """An instruction for the answer at hand leaves no trace, and least of all over a standing one."""
    candidate = case.candidate
    limited = candidate.has("limiting", "exception", "passing")
    about_this = candidate.kind == "answer_instruction" or (candidate.kind == "style" and limited)
    if not about_this or is_lasting(candidate):
        return None
    standing = case.related("opposite")
    if standing is not None:
        return case.skip(PASSING_AGAINST_STANDING, "instruction.against_standing", standing.memory.memory_id)
    return case.skip("current_turn_instruction", "instruction.this_answer")


def passing_wish(case: Case) -> Decision | None:
    """A wish for once, for today, does not touch what is preferred in general."""
    candidate = case.candidate
    if candidate.kind not in ("preference", "boundary") or is_lasting(candidate) or is_dated(candidate):
        return None
    once = candidate.has("limiting", "exception")
    if not (once or _is_for_today(case)):
        return None
    standing = case.related("opposite", "covers")
    if standing is not None and not is_instruction(candidate, case.policy):
        return case.skip(PASSING_AGAINST_STANDING, "preference.against_standing", standing.memory.memory_id)
    return None if once else case.skip("passing_wish", "preference.passing")


def _is_for_today(case: Case) -> bool:
    """Whether a passing word is meant, and none that says how things are these days."""
    if case.candidate.intent in ("change", "correct"):
        return False
    present = {fold_value(word) for word in case.policy.rules.scope.present_words}
    return any(s.kind == "passing" and fold_value(s.text) not in present for s in case.candidate.signals)


def request(case: Case) -> Decision | None:
    """A detail of one request is used up with the request."""
    if case.candidate.kind == "request_parameter" and not is_lasting(case.candidate):
        return case.skip("request_parameter", "request.parameter")
    return None


def place(case: Case) -> Decision | None:
    """What belongs to a project or task needs one, and one that is still open."""
    candidate, scope = case.candidate, case.statement.scope
    if candidate.kind == "hint" and scope.kind == "current_task":
        return case.skip("no_recurring_task", "scope.no_recurring_task")
    homeless = candidate.kind == "project_fact" and scope == _task(case) and not candidate.has("limiting")
    if homeless and target_of(case) is None:
        return _wait(case, "no_project", "scope.no_project")
    finished = case.context.task_id is not None and case.state.ledger.task_finished(case.context.task_id)
    if finished and scope.kind == "current_task":
        return case.skip("task_finished", "scope.task_finished")
    return None


def _task(case: Case) -> Scope:
    return Scope(kind="current_task", anchor=case.context.occasion)


def weight(case: Case) -> Decision | None:
    """What is unsure waits, what weighs nothing is refused, what passes by itself is not kept.

    What weighs nothing by itself may still say once more what is remembered.
    """
    candidate, said = case.candidate, case.statement
    rules = case.policy.rules.admission
    if candidate.importance < rules.min_importance:
        repeated = case.related("same", "paraphrase")
        if repeated is not None:
            return case.confirm("duplicate", "admission.repeated", repeated.memory)
        return case.skip("not_important", "admission.importance")
    if candidate.stability == "temporary" and said.end.kind == "never":
        return case.skip("temporary_state", "admission.temporary")
    if said.certainty != "certain" and rules.hold_uncertain:
        return _wait(case, f"{said.certainty}_statement", "admission.certainty")
    if not rules.admits(said.confidence, said.importance) and not seen_often(case):
        return _wait(case, "low_confidence", "admission.confidence")
    return None


def _wait(case: Case, reason: str, rule: str) -> Decision:
    occupant = case.occupant
    if occupant is not None and case.stands(occupant):
        return case.skip(reason, rule, occupant.memory_id)
    return case.hold(reason, rule, occupant.memory_id if occupant is not None else None)
