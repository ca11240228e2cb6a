"""Memories and their histories, for people."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ...domain.events import Judged, Proposed
from ...domain.zone import zone_of
from .forms import quotes_of, statement_form
from .ids import ShortIds
from .tables import fields, table
from .text import clean, number, pad, stamp, styled, toned
from .turns import ending, said, scope_of

if TYPE_CHECKING:  # a list needs no explanations
    from ...application.explain import Link, Why
    from ...domain.statement import Statement
    from ...domain.stream import RecordedEvent
    from ...projections.ports import Listed
    from ...projections.rows import MemoryRow, PeriodRow, VersionRow


def listing(memories: Sequence[Listed], short: ShortIds) -> list[str]:
    """A table of memories."""
    rows = []
    for listed in memories:
        memory, statement = listed.memory, listed.statement
        confidence = statement.confidence if statement else memory.confidence
        version = listed.period.number if listed.period else memory.chain_version
        rows.append(
            [
                short(memory.memory_id),
                memory.status if listed.period is None else "active",
                f"v{version}" if version else "",
                scope_of(statement) if statement else "",
                f"{confidence:.2f}" if confidence is not None else "",
                ending(statement),
                said(statement) if statement else stamp(memory.said_at),
                ("📌 " if memory.pinned else "") + _content(statement, memory.content),
            ]
        )
    return table(["id", "status", "ver", "scope", "conf", "ends", "said", "content"], rows)


def _content(statement: Statement | None, otherwise: str) -> str:
    if statement is None:
        return otherwise
    unsure = "" if statement.certainty == "certain" else f" ({statement.certainty})"
    return f"{statement.content}{unsure}"


def shown(memory: MemoryRow, statement: Statement | None, version: int | None, short: ShortIds) -> list[str]:
    """One memory with all that is known of it."""
    shown_version = version if version is not None else memory.chain_version
    lines = [styled(clean(statement.content if statement else memory.content), "bold")]
    pairs = [
        ("id", memory.memory_id),
        ("status", memory.status + (", pinned" if memory.pinned else "")),
        ("version", f"{shown_version} of {memory.versions}" if shown_version else ""),
        ("subject", "" if memory.subject == "user" else memory.subject),
        ("attribute", memory.attribute + (f" = {statement.value}" if statement and statement.value else "")),
    ]
    if statement is not None:
        pairs += _about(statement)
    pairs += [
        ("said again", _said_again(memory)),
        (
            "held",
            f"{number(memory.hints, 'time')} on {number(memory.occasions, 'occasion')}"
            if memory.hints
            else "",
        ),
        ("closed", _closed(memory, short)),
        ("recorded", f"{stamp(memory.created_at)}, last change {stamp(memory.updated_at)}"),
    ]
    return lines + fields(pairs, "  ")


def _about(statement: Statement) -> list[tuple[str, str]]:
    source = statement.provenance
    return [
        ("type", statement.type),
        ("polarity", statement.polarity if statement.polarity == "negative" else ""),
        ("certainty", statement.certainty if statement.certainty != "certain" else ""),
        ("scope", scope_of(statement)),
        ("confidence", f"{statement.confidence:.2f}, importance {statement.importance}"),
        ("holds from", stamp(statement.valid_from)),
        ("ends", ending(statement)),
        ("said", f"{said(statement)} in session {source.session}" if source.session else said(statement)),
        ("words", " … ".join(f"“{quote}”" for quote in quotes_of(statement))),
        ("found by", f"{source.extractor}, rule {source.rule} ({source.source})"),
    ]


def _said_again(memory: MemoryRow) -> str:
    if memory.confirmed_at is None:
        return ""
    return f"{number(memory.confirmations, 'time')}, last {stamp(memory.confirmed_at)}"


def _closed(memory: MemoryRow, short: ShortIds) -> str:
    if memory.closing is None:
        return ""
    by = f" by {short(memory.successor)}" if memory.successor else ""
    return f"{memory.closing}{by} at {stamp(memory.closed_at)} ({memory.closing_reason})"


# --- histories -----------------------------------------------------------------------------------


def history(versions: Sequence[VersionRow], periods: Sequence[PeriodRow], short: ShortIds) -> list[str]:
    """A table of versions: when each held, when it was recorded, whether it is undone."""
    rows = []
    for row in versions:
        held = [p for p in periods if p.number == row.number]
        rows.append(
            [
                f"v{row.number}",
                row.kind + (f" of v{row.of}" if row.of and row.kind != "create" else ""),
                ", ".join(_period(p, row.statement) for p in held) or "at no time",
                stamp(row.recorded_at),
                row.actor,
                "in force" if row.in_force else f"undone by {short(row.struck_by)}",
                row.statement.content if row.statement else "",
            ]
        )
    return table(["ver", "kind", "holds", "recorded", "by", "state", "content"], rows)


def _period(period: PeriodRow, statement: Statement | None) -> str:
    zone = zone_of(statement.provenance.zone) if statement else None
    return f"{stamp(period.valid_from, zone)} … {stamp(period.valid_to, zone)}".rstrip()


def difference(old: Statement, new: Statement) -> list[tuple[str, object, object]]:
    """Fields that two statements differ in, in the order in which they are documented."""
    before, after = statement_form(old) or {}, statement_form(new) or {}
    return [(name, before[name], after[name]) for name in before if before[name] != after[name]]


def pieces(old: str, new: str) -> list[tuple[str, str]]:
    """How one text becomes the other: pairs of `same`, `removed` or `added` and the piece of text.

    Latin words stay whole; Hanzi are compared one by one.
    """
    left, right = _words(old), _words(new)
    found: list[tuple[str, str]] = []
    matcher = difflib.SequenceMatcher(a=left, b=right, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            found.append(("same", "".join(left[i:j])))
            continue
        if i < j:
            found.append(("removed", "".join(left[i:j])))
        if k < m:
            found.append(("added", "".join(right[k:m])))
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9.,%-]+|\s+|.", text)


def diffed(old: VersionRow, new: VersionRow) -> list[str]:
    """Two versions beside each other, for people."""
    if old.statement is None or new.statement is None:
        return ["erased: nothing is left to compare"]
    lines = [styled(f"v{old.number} → v{new.number} ({new.kind})", "bold")]
    if old.statement.content != new.statement.content:
        marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
        tones = {"removed": "red", "added": "green"}
        shown_pieces = [
            styled(marks[kind].format(clean(text)), tones[kind]) if kind in tones else clean(text)
            for kind, text in pieces(old.statement.content, new.statement.content)
        ]
        lines.append("  " + "".join(shown_pieces))
    changes = [
        (name, f"{_plain(before)} → {_plain(after)}")
        for name, before, after in difference(old.statement, new.statement)
        if name not in ("content", "turn_id")
    ]
    return lines + fields(changes, "  ")


def _plain(value: object) -> str:
    if isinstance(value, list):
        return " … ".join(f"“{one}”" for one in value)
    return "none" if value is None else str(value)


# --- why -----------------------------------------------------------------------------------------


def reasons(why: Why, short: ShortIds) -> list[str]:
    """The chain: memory ← version ← decision ← candidate ← judgement ← the user's words."""
    memory = why.memory
    latest = memory.current or memory.latest
    pending = why.held[-1][1].candidate.content if why.held else ""
    lines = [
        f"{styled('memory', 'bold')} {short(memory.memory_id)}  {toned(memory.status)}  "
        + clean(latest.statement.content if latest else pending)
    ]
    if memory.closing is not None:
        closing = memory.closing
        by = f" by {short(closing.successor)}" if closing.successor else ""
        lines.append(f"  {closing.kind}{by} at {stamp(closing.at)}: {closing.reason}")
    for link in why.links:
        lines += _link(link, why, short)
    lines += _proposals("held", why.held) + _proposals("said again", why.confirmations)
    lines += _proposals("refused", why.refusals)
    lines += [
        f"{styled('person', 'bold')} {stamp(entry.recorded_at)}  {event.verdict} by {event.actor}"
        + (f": {clean(event.note)}" if event.note else "")
        for entry, event in why.verdicts
    ]
    lines += [f"{styled('replaces', 'bold')} {short(other)}" for other in why.replaces]
    return lines


def _link(link: Link, why: Why, short: ShortIds) -> list[str]:
    version, event = link.version, link.version.entry.event
    state = "" if version.in_force else f"  undone by {short(link.undone_by)}"
    lines = [
        (
            f"← {styled(f'version {version.number}', 'bold')} ({version.kind})  "
            f"{clean(version.statement.content)}{toned('undone', state) if state else ''}"
        )
    ]
    pairs = [
        (
            "holds",
            (
                f"{scope_of(version.statement)}, from {stamp(version.statement.valid_from)}, "
                f"{ending(version.statement)}, confidence {version.statement.confidence:.2f}"
            ),
        ),
        (
            "recorded",
            (f"{stamp(version.entry.recorded_at)} at position {version.entry.position} by {event.actor}"),
        ),
        ("policy", event.policy[:12]),
    ]
    if link.proposal is not None and isinstance(link.proposal.event, Proposed):
        proposed = link.proposal.event
        found = proposed.candidate
        signals = ", ".join(dict.fromkeys(f"{s.kind} “{s.text}”" for s in found.signals))
        pairs += [
            ("decision", f"{proposed.action} {proposed.outcome}: {proposed.reason}, rule {proposed.rule}"),
            (
                "candidate",
                f"{found.kind} {found.attribute}"
                + (f" = {found.value}" if found.value else "")
                + f", found by {found.extractor}, rule {found.rule}",
            ),
            ("signals", signals),
        ]
    elif event.actor.startswith("operator:"):
        pairs.append(("decision", f"a person's: {event.actor}"))
    pairs += _judgement(link.judged)
    source = version.statement.provenance
    words = why.words.get(source.turn_id or "")
    attested = [e.attested_by for e in version.statement.evidence if e.attested_by]
    pairs += [
        ("evidence", " … ".join(f"“{quote}”" for quote in quotes_of(version.statement))),
        ("attested by", ", ".join(attested)),
        ("words", words or ""),
        ("said", f"{said(version.statement)}" + (f" in session {source.session}" if source.session else "")),
    ]
    return lines + fields(pairs, "    ")


def _judgement(judged: RecordedEvent | None) -> list[tuple[str, str]]:
    if judged is None or not isinstance(judged.event, Judged):
        return []
    answer = judged.event.judgement
    verdict = "worth extracting" if answer.should_extract else "not worth extracting"
    return [
        (
            "judgement",
            (
                f"{verdict}: {answer.category}, {answer.stability}, importance {answer.importance}, "
                f"{answer.confidence:.2f}, by {answer.rule} ({answer.reason})"
            ),
        )
    ]


def _proposals(title: str, pairs: Sequence[tuple[RecordedEvent, Proposed]]) -> list[str]:
    return [
        f"{styled(pad(title, 10), 'bold')} {_said_at(event.said_at)}  {event.reason}, rule {event.rule}  "
        + " … ".join(f"“{clean(q)}”" for e in event.candidate.evidence for q in e.quotes)
        for _, event in pairs
    ]


def _said_at(moment: datetime) -> str:
    return stamp(moment)
