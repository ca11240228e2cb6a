"""Events, decisions and rollbacks, for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ...domain.events import (
    BatchClosed,
    BatchOpened,
    Created,
    Endorsed,
    Event,
    Expired,
    Judged,
    ProcessChanged,
    Proposed,
    RolledBack,
    Superseded,
    TaskChanged,
    Updated,
)
from ...domain.plan import PROVISIONAL, Effect, Plan
from ...domain.stream import RecordedEvent
from ...projections.rows import DecisionRow
from .forms import is_hidden
from .ids import SHORT, ShortIds
from .tables import table
from .text import clean, number, pad, stamp, styled, toned


def logged(entries: Sequence[RecordedEvent], erased: Collection[str]) -> list[str]:
    """A table of events; what those of erased memories said is left out."""
    rows = [
        [
            str(entry.position),
            stamp(entry.recorded_at),
            type(entry.event).__name__,
            f"{entry.stream_id[:SHORT]}@{entry.stream_version}",
            entry.event.actor,
            "(erased)" if is_hidden(entry, erased) else told(entry.event),
        ]
        for entry in entries
    ]
    return table([">pos", "recorded", "type", "stream", "actor", "what"], rows)


def told(event: Event) -> str:
    """What an event says, in one line."""
    match event:
        case Judged():
            verdict = "worth extracting" if event.judgement.should_extract else "nothing worth remembering"
            return f"{verdict}: {event.judgement.category} ({event.judgement.rule})"
        case Proposed():
            return f"{event.action} {event.outcome}: {event.reason} · {event.candidate.content}"
        case Created():
            return event.statement.content
        case Updated():
            return f"{event.kind}: {event.statement.content}"
        case Superseded():
            return f"by {event.successor[:SHORT]}"
        case Expired():
            return f"{event.kind} at {stamp(event.at)}: {event.reason}"
        case RolledBack():
            return f"events {', '.join(map(str, event.names))} undone by batch {event.batch_id[:SHORT]}"
        case Endorsed():
            return event.verdict + (f": {event.note}" if event.note else "")
        case TaskChanged():
            return f"task {event.task_id} {event.change}"
        case ProcessChanged():
            return f"{event.process}: {event.stage}" + (", over" if event.final else "")
        case BatchOpened():
            picked = criteria(event.selector)
            return f"{event.kind} {event.batch_id[:SHORT]}" + (f" ({picked})" if picked else "")
        case BatchClosed():
            return f"{event.batch_id[:SHORT]}, {number(event.written, 'event')}"
        case _:
            return str(getattr(event, "reason", ""))


def decisions(rows: Sequence[DecisionRow], short: ShortIds) -> list[str]:
    """A table of judgements and proposals."""
    cells = [
        [
            stamp(row.said_at),
            row.action or "judged",
            (row.outcome or "") if row.in_force else "undone",
            row.reason if row.kind == "proposed" else row.category or "",
            row.rule,
            short(row.memory_id) if row.memory_id else "",
            row.turn_id[:SHORT],
            row.content if row.kind == "proposed" else row.reason,
        ]
        for row in rows
    ]
    return table(["said", "action", "outcome", "reason", "rule", "memory", "turn", "content"], cells)


def statistics(rows: Sequence[DecisionRow]) -> list[tuple[str, str, str, int]]:
    """How often each kind of decision was taken: action, outcome, reason, number; most often first."""
    counts = Counter(
        (row.action or "judged", row.outcome or "", row.reason if row.kind == "proposed" else row.rule)
        for row in rows
    )
    return [(*key, number) for key, number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]


def planned(plan: Plan, short: ShortIds) -> list[str]:
    """What a rollback would do to each memory."""
    picked = criteria(plan.selector.criteria())
    if plan.empty:
        return [f"nothing to undo: no event fits {picked}"]
    what = "undo of" if plan.selector.batch else "rollback of"
    touched = number(len(plan.effects), "memory")
    undone = number(len(plan.struck), "event")
    lines = [f"{styled(what, 'bold')} {picked}: {undone} undone, {touched} touched"]
    for effect in plan.effects:
        lines += _effect(effect, short)
    lines += [f"  task {task} is open again" for task in plan.tasks_reopened]
    return lines


def criteria(given: Mapping[str, str]) -> str:
    """What a selector picks, in one line with shortened ids."""
    return ", ".join(f"{name.replace('_', ' ')} {_shortened(value)}" for name, value in given.items())


def _shortened(value: str) -> str:
    return value[:SHORT] if re.fullmatch(r"[0-9a-f]{32,}", value) else value


def _effect(effect: Effect, short: ShortIds) -> list[str]:
    name = "(new)" if effect.memory_id.startswith(PROVISIONAL) else short(effect.memory_id)
    by = f"  by {short(effect.successor)}" if effect.successor else ""
    lines = [f"  {pad(name, SHORT)}  {toned(effect.fate, pad(effect.fate, 10))}{by}".rstrip()]
    before = effect.before.content if effect.before else None
    after = effect.after.content if effect.after else None
    if before == after:
        return [f"{lines[0]}  {clean(after or '')}".rstrip()]
    shown = [("-", before, "red"), ("+", after, "green")]
    return lines + [f"      {styled(f'{sign} {clean(text)}', tone)}" for sign, text, tone in shown if text]
