"""Which memory a candidate is about: by slot, by what was so before, by words.

The slot decides first; words decide only where a text has no slot of its own.
"""

from __future__ import annotations

from .case import Case, Present
from .decision import RelationKind
from .frame import is_change, is_correction, scope_is_said
from .history import Version
from .memory import Memory
from .slot import fold_value


def target_of(case: Case) -> Present | None:
    """The active memory that the candidate repeats or changes, by slot, by what it was, by words."""
    for find in (_named_by_id, _in_slot, _holding_former, _by_words):
        present = case.present(find(case))
        if present is not None:
            return present
    return None


def _named_by_id(case: Case) -> Memory | None:
    """A memory that a model or a person names, believed where subject and attribute agree."""
    named, opinion = case.candidate.target_id, case.candidate.opinion
    if named is None and opinion is not None and opinion.action == "UPDATE":
        named = opinion.target_id
    if named is None:
        return None
    return next((memory for memory, _ in case.siblings if memory.memory_id == named), None)


def _in_slot(case: Case) -> Memory | None:
    """The memory in the slot; for words without a scope the narrowest slot that covers the turn."""
    if not scope_is_said(case.candidate):
        for scope in case.context.reach.scopes:
            memory = case.state.in_slot(case.slot(scope))
            if memory is not None and case.stands(memory):
                return memory
    return case.occupant


def _holding_former(case: Case) -> Memory | None:
    """For a change said as a change: the memory that holds the value which is no longer so."""
    former = case.candidate.former_value
    if case.single or (former is None and not _denies(case)):
        return None
    for memory, version in case.siblings:
        value = fold_value(version.statement.value_or_content)
        wanted = fold_value(former) if former is not None else _value_denied(case, value)
        if _reaches(case, version) and wanted == value:
            return memory
    return None


def _denies(case: Case) -> bool:
    """Whether the words say that something else was so, or was thought so, before."""
    return is_change(case.candidate) or is_correction(case.candidate)


def _value_denied(case: Case, value: str) -> str | None:
    """The value itself where the words that change or correct something speak of it; else None."""
    if not value or value == case.slot().value:
        return None
    quoted = fold_value("".join(quote for item in case.candidate.evidence for quote in item.quotes))
    return value if value in quoted else None


def _by_words(case: Case) -> Memory | None:
    """A memory that says the same, the opposite or, for a change, what is changed, in its own words."""
    kinds: list[RelationKind] = ["same", "paraphrase", "opposite"]
    if _denies(case):
        kinds.append("named")
    if case.single:
        kinds.append("covers")
    related = case.all_related(*kinds)
    return next((memory for memory, version in related if _reaches(case, version)), None)


def _reaches(case: Case, version: Version) -> bool:
    """Whether a statement of the candidate's reach may touch that version.

    Words that name a scope address the memory of that scope; others any that covers the turn. So does
    a change of what holds for a project, which may have been noted before the project had a name.
    """
    scope = version.statement.scope
    if case.candidate.kind == "project_fact" and is_change(case.candidate):
        return scope.covers(case.context.reach)
    if scope_is_said(case.candidate):
        return scope == case.statement.scope
    return scope.covers(case.context.reach) or scope.kind == "family"
