"""What a played case comes to: which expectations hold, and what it adds to each rate.

Each verdict of a rate is None where the rate does not count the case. docs/quality.md defines the
rates; `application/evaluation/cases.py` the fields.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...domain.statement import Statement
from ...domain.zone import fixed_zone_name
from ..reports import CandidateReport
from .cases import Case, Expectation, scope_named
from .running import Played, View, standing, texts_in

_STRENGTH = {"SKIP": 1, "HOLD": 2}
"""Of actions; every change is stronger than these."""

_HOLDS_NOTHING = frozenset(
    {"secret", "injection", "quoted_material", "assistant_generated", "safety_blocked", "duplicate"}
)
"""Kinds of which not even a proposal may be kept."""


Expected = Literal["write", "nothing", "open"]
Taken = Literal["write", "hold", "nothing"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one case adds to the rates. `why` are the expectations that do not hold."""

    case: Case
    wrong_write: bool | None
    missed_write: bool | None
    scope_error: bool | None
    over_generalised: bool | None
    conflict_right: bool | None
    lifetime_error: bool | None
    reason_right: bool | None
    type_error: bool | None
    leaked: bool
    why: tuple[str, ...]
    taken: Taken = "nothing"
    """What the last turn did: it changed the active memories, left a proposal that waits, or neither."""
    decided: str = ""
    """The actions, reasons and rules of the last turn, in words."""

    @property
    def expected(self) -> Expected:
        """What the last turn was to do; `open` where both are defensible."""
        write = self.case.expect.write
        return "open" if write is None else "write" if write else "nothing"

    @property
    def right(self) -> bool:
        """Whether every expectation holds."""
        return not self.why


def judge(played: Played) -> Verdict:
    """Compare what happened with what was expected."""
    case, expect = played.case, played.case.expect
    written = _written(played.before, played.after)
    best = _best(written, case)
    changed = _unexpected_changes(played)
    verdict = Verdict(
        case=case,
        wrong_write=_changed(played) if expect.write is False else None,
        missed_write=_missed(played, written) if expect.write is True else None,
        scope_error=None if best is None else _other_scope(best, expect),
        over_generalised=None if best is None else _wider(best, expect),
        conflict_right=None if changed is None else not changed,
        lifetime_error=None if best is None else _other_end(best, case),
        reason_right=_reason_right(played, expect),
        type_error=None if expect.type is None else best is not None and best.type not in expect.type,
        leaked=False,
        why=(),
        taken=_taken(played),
        decided=_decisions(played),
    )
    why = list(_findings(played, verdict, written, best, changed))
    leaks = _leaks(played)
    if expect.absent_in is None and _found([*why, verdict.decided], expect.absent):
        leaks = list(dict.fromkeys([*leaks, "report"]))
        why = [part.partition(":")[0] for part in why]
        verdict = replace(verdict, decided="")
    if leaks:
        why.append(f"leak: {', '.join(leaks)}")
    return replace(verdict, leaked=bool(leaks), why=tuple(why))


def _findings(
    played: Played,
    verdict: Verdict,
    written: View,
    best: Statement | None,
    changed: Sequence[str] | None,
) -> Iterator[str]:
    """What is not as expected, one part for each expectation."""
    if verdict.wrong_write:
        yield f"wrote: {'; '.join(map(_says, written.values())) or 'an end'}"
    if verdict.missed_write:
        wrote = "; ".join(map(_says, written.values())) or "nothing written"
        yield f"missed: {wrote} ({_decisions(played)})"
    if best is not None and verdict.scope_error:
        yield f"scope: {best.scope.name}"
    if best is not None and verdict.lifetime_error:
        yield f"end: {_end_name(best, verdict.case)}"
    if best is not None and verdict.type_error:
        yield f"type: {best.type}"
    if changed:
        yield f"conflict: {'; '.join(changed)}"
    if not _action_right(played, written):
        yield f"action: {_decisions(played)}"
    if verdict.reason_right is False:
        yield f"reason: {', '.join(_reasons(played)) or 'none'}"


def folded(text: str) -> str:
    """A text without its case and width, as `contains` and `absent` compare it."""
    return unicodedata.normalize("NFKC", text).casefold()


def standings(view: View) -> Mapping[str, object]:
    """A view as it is compared."""
    return {memory_id: standing(statement) for memory_id, statement in view.items()}


# --- what was written --------------------------------------------------------------------------------


def _written(before: View, after: View) -> View:
    """The memories that are new in the active view, or say something else than before."""
    return {
        memory_id: said
        for memory_id, said in after.items()
        if memory_id not in before or standing(before[memory_id]) != standing(said)
    }


def _best(written: View, case: Case) -> Statement | None:
    """The memory that is judged: of those that satisfy `contains`, else of all, the one that fits best."""
    meant = [said for said in written.values() if _contains(said, case.expect.contains)]
    return max(meant or written.values(), key=lambda said: _fit(said, case), default=None)


def _changed(played: Played) -> bool:
    """Whether the active view says something else than before."""
    return standings(played.before) != standings(played.after)


def _taken(played: Played) -> Taken:
    if _changed(played):
        return "write"
    return "hold" if any(c.action == "HOLD" for c in played.report.candidates) else "nothing"


def _contains(said: Statement, groups: Sequence[Sequence[str]]) -> bool:
    """Whether of each group at least one string stands in content or value."""
    texts = (said.content, said.value or "")
    return all(any(_holds(text, wanted) for text in texts for wanted in group) for group in groups)


def _holds(text: str, wanted: str) -> bool:
    return folded(wanted) in folded(text)


def _fit(said: Statement, case: Case) -> int:
    """How many of type, scope and end are as expected."""
    expect = case.expect
    checks = (
        expect.type is None or said.type in expect.type,
        not _other_scope(said, expect),
        not _other_end(said, case),
    )
    return sum(checks)


def _missed(played: Played, written: View) -> bool:
    """Whether nothing that satisfies `contains` was written, or, for an end, the target still stands."""
    expect = played.case.expect
    if expect.action is not None and "DELETE" in expect.action:
        if expect.target is not None:
            target = played.given[expect.target]
            if target not in played.after or expect.action == ("DELETE",):
                return target in played.after
            if not expect.contains:
                return target not in written
        elif not expect.contains:
            return not _changed(played)
    return not any(_contains(said, expect.contains) for said in written.values())


# --- scope and end -----------------------------------------------------------------------------------


def _other_scope(said: Statement, expect: Expectation) -> bool | None:
    return None if expect.scope is None else said.scope.name not in expect.scope


def _wider(said: Statement, expect: Expectation) -> bool | None:
    if expect.scope is None:
        return None
    return said.scope.rank > max(scope_named(name).rank for name in expect.scope)


def _other_end(said: Statement, case: Case) -> bool | None:
    expires = case.expect.expires
    return None if expires is None else _end_name(said, case) != expires


def _end_name(said: Statement, case: Case) -> str:
    """As cases write it: `never`, `task_finished`, or the last day in the case's zone."""
    return said.end.last_day(fixed_zone_name(case.now)) or said.end.kind


# --- given memories ----------------------------------------------------------------------------------


def _unexpected_changes(played: Played) -> list[str] | None:
    """Given memories that changed though they must not, or stand though they must change.

    With a target every other given memory must stay. None where the case says nothing about any.
    """
    expect = played.case.expect
    if expect.target is None and not expect.unchanged:
        return None
    problems = []
    for name, memory_id in played.given.items():
        stays = name in expect.unchanged or (expect.target is not None and name != expect.target)
        if name == expect.target and _same(played, memory_id):
            problems.append(f"{name} stands as it was")
        elif stays and not (_same(played, memory_id) or _only_added(played, memory_id)):
            problems.append(f"{name} changed")
    return problems


def _same(played: Played, memory_id: str) -> bool:
    before, after = played.before.get(memory_id), played.after.get(memory_id)
    if before is None or after is None:
        return before is after
    return standing(before) == standing(after)


def _only_added(played: Played, memory_id: str) -> bool:
    """Whether a MERGE added to the memory, and what it said still stands in it."""
    before, after = played.before.get(memory_id), played.after.get(memory_id)
    merged = any(c.action == "MERGE" and c.memory_id == memory_id for c in played.report.candidates)
    if before is None or after is None or not merged:
        return False
    kept = (before.polarity, before.scope, before.end) == (after.polarity, after.scope, after.end)
    text = f"{after.content}\n{after.value or ''}"
    return kept and _holds(text, before.content) and (before.value is None or _holds(text, before.value))


# --- actions and reasons -----------------------------------------------------------------------------


def _action_right(played: Played, written: View) -> bool:
    expect = played.case.expect
    if expect.action is None:
        return True
    taken = _actions(played, written)
    if set(expect.action) & taken:
        return True
    hold_will_do = expect.write is False and "SKIP" in expect.action
    return hold_will_do and taken == {"HOLD"} and played.case.kind not in _HOLDS_NOTHING


def _actions(played: Played, written: View) -> set[str]:
    """What counts as the turn's action.

    Where something satisfies `contains`, what led to that; for a list of actions, what any candidate
    led to; else the strongest, of which there are several when different changes were made.
    """
    expect = played.case.expect
    candidates = played.report.candidates
    satisfying = {memory_id for memory_id, said in written.items() if _contains(said, expect.contains)}
    meant = [c for c in candidates if expect.contains and c.memory_id in satisfying]
    taken = [_action(c, played) for c in meant or candidates] or ["SKIP"]
    if expect.action is not None and len(expect.action) > 1:
        return set(taken)
    strongest = max(_STRENGTH.get(action, 3) for action in taken)
    return {action for action in taken if _STRENGTH.get(action, 3) == strongest}


def _action(candidate: CandidateReport, played: Played) -> str:
    """A held proposal that becomes active counts as WRITE."""
    promoted = candidate.memory_id in played.after and candidate.memory_id not in played.before
    return "WRITE" if candidate.action == "HOLD" and promoted else candidate.action


def _reason_right(played: Played, expect: Expectation) -> bool | None:
    return None if expect.reason is None else bool(set(expect.reason) & set(_reasons(played)))


def _reasons(played: Played) -> list[str]:
    return sorted({candidate.reason for candidate in played.report.candidates})


# --- leaks -------------------------------------------------------------------------------------------


def _leaks(played: Played) -> list[str]:
    """Where a string stands that must not: `active`, or `events`, `tables` and `report`."""
    expect = played.case.expect
    active = [text for said in played.after.values() for text in (said.content, said.value or "")]
    places: list[tuple[str, Iterable[str]]] = [("active", active)]
    if expect.absent_in is None:
        reported = list(_reported(played))
        cells = [_text(cell) for cell in played.cells]
        places += [("events", played.texts), ("tables", cells), ("report", reported)]
    return [name for name, texts in places if _found(texts, expect.absent)]


def _found(texts: Iterable[str], absent: Sequence[str]) -> bool:
    """Whether any of the strings stands in any text, as it is or as JSON writes it."""
    spellings = {
        folded(form) for word in absent for form in (word, json.dumps(word)[1:-1], _as_json_text(word))
    }
    return any(form in text for text in map(folded, texts) for form in spellings)


def _as_json_text(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)[1:-1]


def _text(cell: str | bytes) -> str:
    return cell if isinstance(cell, str) else cell.decode("utf-8", "replace")


def _reported(played: Played) -> Iterable[str]:
    report = played.report
    if report.judgement is not None:
        yield from texts_in(report.judgement.model_dump())
    for candidate in report.candidates:
        yield from texts_in(candidate.candidate.model_dump())
        yield candidate.reason
        if candidate.statement is not None:
            yield from texts_in(candidate.statement.model_dump())


# --- in words ----------------------------------------------------------------------------------------


def _says(said: Statement) -> str:
    return f"{said.scope.name} {said.type} {said.attribute}={said.value!r} {said.content!r}"


def _decisions(played: Played) -> str:
    taken = [f"{c.action} {c.reason} [{c.candidate.rule}]" for c in played.report.candidates]
    if taken:
        return ", ".join(taken)
    judgement = played.report.judgement
    return f"no candidate ({judgement.rule})" if judgement is not None else "no candidate"
