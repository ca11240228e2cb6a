"""What became of turns, for people: the user's words, and what was decided about them and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...domain.zone import fixed_zone_name, zone_of
from .forms import expires
from .ids import ShortIds
from .text import clean, fit, pad, stamp, styled, terminal_width, toned

if TYPE_CHECKING:
    from ...application.reports import CandidateReport, TurnReport
    from ...domain.statement import Statement

_WORDS = 240
"""Columns of a turn's words that are shown where the output is no terminal."""

_ACTION = 8


def explained(turn: TurnReport, words: str, short: ShortIds) -> list[str]:
    """One turn: when, the words, and a block for each candidate.

    Args:
        turn: What became of it.
        words: The user's words with secrets masked.
        short: Shortens the ids of memories.
    """
    head = stamp(turn.said_at)
    room = (terminal_width() or _WORDS) - len(head) - 2
    note = {"known": "  (known already)", "revised": "  (revised)"}.get(turn.status, "")
    lines = [f"{styled(head, 'bold')}  {fit(clean(words), room)}{styled(note, 'dim')}"]
    if turn.masked:
        lines.append(f"  {styled('masked', 'yellow')}  {', '.join(turn.masked)}")
    if turn.error is not None:
        return [*lines, f"  {toned('failed')}  {clean(str(turn.error))}"]
    for candidate in turn.candidates:
        lines += _candidate(candidate, short)
    if not turn.candidates and turn.judgement is not None:
        judged = turn.judgement
        mark = styled(pad("–", _ACTION), "dim")
        lines.append(f"  {mark}{judged.category}: {clean(judged.reason)}  {styled(judged.rule, 'dim')}")
    return lines


def _candidate(candidate: CandidateReport, short: ShortIds) -> list[str]:
    found, statement = candidate.candidate, candidate.statement
    target = f"  → {short(candidate.memory_id)}" if candidate.memory_id else ""
    content = statement.content if statement else found.content
    head = f"  {toned(candidate.action, pad(candidate.action, _ACTION))}{clean(content)}{target}"
    parts = [candidate.reason, f"rule {candidate.rule}"]
    if statement is not None:
        parts += [scope_of(statement), f"{statement.confidence:.2f}", ending(statement)]
    parts.append(f"found by {found.rule}")
    return [head, " " * (_ACTION + 2) + styled(clean(" · ".join(parts)), "dim")]


def scope_of(statement: Statement) -> str:
    """The scope, with its anchor where the name does not say it."""
    scope = statement.scope
    anchored = scope.kind in ("current_task", "project") and scope.anchor
    return f"{scope.name} ({scope.anchor})" if anchored else scope.name


def ending(statement: Statement | None) -> str:
    """How it ends: `never`, `task_finished`, `until DATE` (that day included), or with a process."""
    end = expires(statement)
    if end is None:
        return ""
    if end.startswith("process:"):
        return f"ends with {end.removeprefix('process:')}"
    return f"until {end}" if end[0].isdigit() else end


def said(statement: Statement) -> str:
    """When it was said, in the zone of the turn."""
    source = statement.provenance
    return stamp(source.said_at, zone_of(source.zone or fixed_zone_name(source.said_at)))


def counted(turns: Sequence[TurnReport], unreadable: int) -> str:
    """How many turns came, and what became of them: one sentence."""
    order = ("new", "known", "revised", "failed")
    parts = [f"{n} {status}" for status in order if (n := sum(turn.status == status for turn in turns))]
    if turns and all(turn.status == "known" for turn in turns):
        parts = ["all known already, nothing was written"]
    if unreadable:
        parts.append(f"{unreadable} {'line' if unreadable == 1 else 'lines'} could not be read")
    noun = "turn" if len(turns) == 1 else "turns"
    return f"{len(turns)} {noun}" + (f": {', '.join(parts)}" if parts else "")


def decided(turns: Sequence[TurnReport]) -> str:
    """How many candidates met which decision: one sentence; empty where there was none."""
    actions = Counter[str](candidate.action for turn in turns for candidate in turn.candidates)
    order = ("WRITE", "UPDATE", "MERGE", "DELETE", "HOLD", "SKIP")
    return ", ".join(f"{actions[action]} {action}" for action in order if actions[action])
