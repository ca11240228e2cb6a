"""What becomes of the memory that a candidate is about, and of its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain

from .case import Case, Present, compare
from .decision import Command, CreateMemory, Decision, SupersedeMemory, UpdateMemory
from .expiry import NEVER, End
from .finding import target_of
from .frame import is_contrast, is_correction, is_instruction
from .history import Version
from .memory import Memory
from .scope import GLOBAL, Scope
from .slot import fold_value
from .statement import Statement
from .values import UpdateKind


def settle(case: Case) -> Decision:
    """The decision about a candidate that may be remembered."""
    target = target_of(case)
    if target is not None:
        memory, version = target
        return _about(case, memory, version)
    if is_contrast(case.candidate):
        return case.skip("nothing_to_change", "relation.nothing_to_change")
    if _is_past(case):
        return _past_alone(case)
    return _add_to_named(case) or _known_wider(case) or _widen(case) or _create(case)


# --- a memory that stands ----------------------------------------------------------------------------


def _about(case: Case, memory: Memory, version: Version) -> Decision:
    now, said = version.statement, _in_words_of(case, version.statement)
    sameness = compare(now, said)
    if sameness == "same" or _is_repetition(case, memory):
        return _repeated(case, memory, version, said)
    if _is_past(case, now):
        return _late(case, memory, said)
    if is_correction(case.candidate):
        return _corrected(case, memory, version, said)
    said = said.model_copy(update={"valid_from": _begin(case, now)})
    turned = sameness == "other_polarity" or _relation(case, memory) == "opposite"
    reason = "changed_polarity" if turned else "changed_value"
    return _update(case, reason, "relation.replace", memory, "replace", said)


def _in_words_of(case: Case, now: Statement) -> Statement:
    """The candidate's statement as a version of that memory: its subject, attribute and scope.

    A mere contrast is carried into the memory's own words, and leaves the rest of it as it is.
    """
    place = {"subject": now.subject, "attribute": now.attribute, "scope": now.scope}
    if not is_contrast(case.candidate):
        return case.statement.model_copy(update=place)
    content, value = _carried(case, now)
    kept = {
        "type": now.type,
        "polarity": now.polarity,
        "importance": now.importance,
        "exclusive": now.exclusive,
    }
    return case.statement.model_copy(update={**place, **kept, "content": content, "value": value})


def _carried(case: Case, now: Statement) -> tuple[str, str | None]:
    for relation in case.relations:
        memory = case.state.memories.get(relation.memory_id)
        current = memory.current if memory is not None else None
        if relation.wording is not None and current is not None and current.statement == now:
            return relation.wording
    return case.statement.content, case.statement.value


def _relation(case: Case, memory: Memory) -> str | None:
    return next((r.kind for r in case.relations if r.memory_id == memory.memory_id), None)


def _is_repetition(case: Case, memory: Memory) -> bool:
    told_by_words = not case.single or (memory.current is not None and memory.current.statement.value is None)
    relation = _relation(case, memory)
    return relation == "same" or (told_by_words and relation == "paraphrase")


def _repeated(case: Case, memory: Memory, version: Version, said: Statement) -> Decision:
    """The same again: a new end or an added `only` is news, the rest is a confirmation."""
    now = version.statement
    if said.end.kind == "date" and said.end != now.end and not _is_past(case):
        extended = now.model_copy(
            update={"end": said.end, "evidence": said.evidence, "provenance": said.provenance}
        )
        return _update(case, "new_end", "relation.extend", memory, "extend", extended, version)
    if said.exclusive and not now.exclusive and case.single is False:
        only = now.model_copy(update={"exclusive": True, "content": said.content, "evidence": said.evidence})
        return _update(case, "exclusive", "relation.refine", memory, "refine", only, version)
    opinion = case.candidate.opinion
    if opinion is not None and opinion.action == "UPDATE":
        return case.skip("no_change", "opinion.update_without_change", memory.memory_id)
    if compare(now, said) == "same":
        return case.confirm("duplicate", "relation.same", memory)
    return case.confirm("paraphrase_duplicate", "relation.paraphrase", memory)


def _late(case: Case, memory: Memory, said: Statement) -> Decision:
    """A fact about the past gets its own closed period and never becomes current.

    So does what arrives only after something newer was recorded: it was so from when it was said.
    """
    time = case.candidate.time
    out_of_order = time is None and case.candidate.intent != "late"
    if not out_of_order and (time is None or time.start is None):
        return case.skip("past_without_time", "relation.past", memory.memory_id)
    known_since = min((p.valid_from for p in memory.periods), default=said.valid_from)
    # What was so before anything known lasts until that; only within known time does its own end count.
    end = said.end if said.valid_from >= known_since else NEVER
    late = said.model_copy(update={"end": end})
    return _update(case, "late_fact", "relation.late", memory, "late", late)


def _corrected(case: Case, memory: Memory, version: Version, said: Statement) -> Decision:
    """It was never so: take the place of the version that was wrong."""
    wrong = _version_meant(case, memory) or version
    corrected = said.model_copy(
        update={"valid_from": wrong.statement.valid_from, "end": _kept_end(said, wrong.statement)}
    )
    return _update(case, "corrected", "relation.correct", memory, "correct", corrected, wrong)


def _kept_end(said: Statement, wrong: Statement) -> End:
    return wrong.end if said.end.kind in ("never", "date") else said.end


def _version_meant(case: Case, memory: Memory) -> Version | None:
    """The version that held on the occasion which the words name, such as "what I said on the 8th"."""
    time = case.candidate.time
    if time is None or time.start is None:
        return None
    started = [
        period
        for period in memory.periods
        if period.valid_from >= time.start and (time.end is None or period.valid_from < time.end)
    ]
    if started and time.end is not None:
        return memory.versions[started[0].version - 1]
    return memory.holding(time.start)


def _begin(case: Case, now: Statement) -> datetime:
    """When the new value begins: when the words say, unless that lies before what it replaces."""
    start = case.statement.valid_from
    return start if start > now.valid_from else max(case.context.said_at, now.valid_from)


def _is_past(case: Case, now: Statement | None = None) -> bool:
    """Whether it is about a time that is over, or was said before what is known began."""
    if case.candidate.intent == "late":
        return True
    time = case.candidate.time
    if is_correction(case.candidate):
        return False
    if time is not None and time.end is not None and time.end <= case.context.said_at:
        return True
    return now is not None and time is None and case.context.said_at < now.valid_from


def _update(
    case: Case,
    reason: str,
    rule: str,
    memory: Memory,
    kind: UpdateKind,
    said: Statement,
    of: Version | None = None,
) -> Decision:
    based_on = (of.entry.ref,) if of is not None and kind in ("refine", "merge", "extend", "rescope") else ()
    number = of.number if of is not None and kind != "rescope" else None
    command = UpdateMemory(memory.memory_id, kind, said, number, based_on)
    commands: list[Command] = [command]
    if kind != "late":
        commands += _displaced(case, memory, said)
    return case.accept("UPDATE", reason, rule, commands, target=memory.memory_id, statement=said)


def _add_to_named(case: Case) -> Decision | None:
    """What adds to a memory that the words name becomes a part of it; the memory keeps its period."""
    if case.candidate.intent != "add" or not case.candidate.target_words:
        return None
    named = case.related("named")
    if named is None:
        return None
    memory, version = named
    now, said = version.statement, case.statement
    if fold_value(said.content) in fold_value(now.content):
        return case.confirm("duplicate", "relation.same", memory)
    together = now.model_copy(
        update={
            "content": f"{now.content}; {said.content}"
            if now.content.isascii()
            else f"{now.content}；{said.content}",
            "evidence": (*now.evidence, *said.evidence),
            "provenance": said.provenance,
        }
    )
    command = UpdateMemory(memory.memory_id, "merge", together, version.number, (version.entry.ref,))
    return case.accept(
        "MERGE", "added", "relation.merge", [command], target=memory.memory_id, statement=together
    )


def _known_wider(case: Case) -> Decision | None:
    """What a memory of a wider scope says already need not be said again for a family or a project."""
    said = case.statement
    if said.scope.kind not in ("project", "family"):
        return None
    everywhere = case.present(case.state.in_slot(case.slot(GLOBAL)))
    if everywhere is not None and compare(everywhere.version.statement, said) == "same":
        return case.confirm("duplicate", "relation.same", everywhere.memory)
    alike = case.related("same", "paraphrase")
    if alike is None or alike.version.statement.scope.rank <= said.scope.rank:
        return None
    return case.confirm("paraphrase_duplicate", "relation.paraphrase", alike.memory)


# --- a wider scope -----------------------------------------------------------------------------------


def _widen(case: Case) -> Decision | None:
    """Words for a family or for everything lift a narrower memory of the same thing to their scope."""
    narrower = _narrower(case)
    if narrower is None:
        return None
    memory, version = narrower
    said = _in_words_of(case, version.statement).model_copy(
        update={"scope": case.statement.scope, "valid_from": _begin(case, version.statement)}
    )
    return _update(case, "widened", "scope.widen", memory, "rescope", said, version)


def _narrower(case: Case) -> Present | None:
    scope = case.statement.scope
    if not case.candidate.has("everything", "lasting", "family") or scope.kind in ("current_task", "project"):
        return None
    same = () if _is_free(case) else _of_same_value(case)
    for present in chain(same, case.all_related("covers")):
        now = present.version.statement.scope
        if now.kind != "current_task" and now.rank < scope.rank:
            return present
    return None


def _of_same_value(case: Case) -> Iterator[Present]:
    value = case.slot().value
    return (one for one in case.siblings if case.state.slot(one.version.statement).value == value)


def _is_free(case: Case) -> bool:
    return case.policy.registry.get(case.candidate.attribute).free


# --- a new memory ------------------------------------------------------------------------------------


def _create(case: Case) -> Decision:
    """Open a memory, or open again the one whose slot this is."""
    said = case.statement
    reopened = case.occupant.memory_id if case.occupant is not None else None
    commands: list[Command] = [CreateMemory(said, reopened)]
    commands += _displaced(case, case.occupant, said)
    commands += _no_longer_exclusive(case)
    reason = "said_again" if reopened else "new"
    if any(isinstance(command, SupersedeMemory) for command in commands):
        reason = "says_it_better"
    return case.accept("WRITE", reason, "relation.new", commands, target=reopened)


def _past_alone(case: Case) -> Decision:
    """A closed period of the past that touches nothing that stands; what stood before it stays the last."""
    if case.candidate.time is None or case.candidate.time.end is None:
        return case.skip("past_without_time", "relation.past")
    if case.occupant is not None and case.occupant.latest is not None:
        return _late(case, case.occupant, case.statement)
    return _create(case)


def _displaced(case: Case, memory: Memory | None, said: Statement) -> Sequence[SupersedeMemory]:
    """The memories that the new statement of `memory` says better, excludes, or takes the slot of.

    A slot may hold a memory whose date is past and of which nobody recorded the end.
    """
    siblings = case.siblings if said.exclusive else ()
    others = [other.memory_id for other, version in siblings if version.statement.scope == said.scope]
    in_its_slot = [other.memory_id for other in case.state.standing_in(case.state.slot(said))]
    ids = dict.fromkeys([*others, *_better(case, said.scope), *in_its_slot])
    at = case.context.said_at
    return [SupersedeMemory(m, at) for m in ids if memory is None or m != memory.memory_id]


def _better(case: Case, scope: Scope) -> Sequence[str]:
    """Present instructions of the same scope on the same matter, which the candidate says better."""
    if not is_instruction(case.candidate, case.policy):
        return []
    better = case.all_related("better")
    return [memory.memory_id for memory, version in better if version.statement.scope == scope]


def _no_longer_exclusive(case: Case) -> Sequence[UpdateMemory]:
    """A further value beside one that was said to be the only one: it is no longer the only one."""
    if case.single or case.statement.exclusive:
        return []
    commands = []
    for memory, version in case.exclusive_siblings:
        now = version.statement
        if now.scope != case.statement.scope:
            continue
        content = without_words(now.content, case.policy.rules.words.exclusive)
        cause = {"evidence": case.statement.evidence, "provenance": case.statement.provenance}
        opened = now.model_copy(update={"exclusive": False, "content": content, **cause})
        based_on = (version.entry.ref,)
        commands.append(UpdateMemory(memory.memory_id, "refine", opened, version.number, based_on))
    return commands


def without_words(content: str, words: Sequence[str]) -> str:
    """The content without the first of these words that it holds; all of it when it holds none."""
    for word in words:
        at = content.casefold().find(word.casefold())
        if at >= 0:
            shortened = content[:at] + content[at + len(word) :]
            return " ".join(shortened.split()) if " " in shortened else shortened
    return content
