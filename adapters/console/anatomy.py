"""A turn laid open, for people and for programs: what the gate saw, what it found, what it would decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .forms import Form, iso, turn_form
from .ids import ShortIds
from .tables import table
from .text import clean, styled
from .turns import ending, scope_of

if TYPE_CHECKING:
    from ...application.reports import CandidateReport, TurnReport
    from ...pipeline.anatomy import Anatomy, SeenClause


def shown(report: TurnReport, seen: Anatomy, short: ShortIds) -> list[str]:
    """The stages in the order in which a turn passes them."""
    lines = [_heading("1  words"), f"  {clean(seen.text)}"]
    if seen.masked:
        lines.append(f"  masked: {', '.join(seen.masked)}")
    if seen.cut:
        lines.append(f"  {seen.cut}")
    lines += [_heading("2  clauses")]
    rows = [_row(clause) for clause in seen.clauses]
    lines += _within(table(["at", "clause", "about", "mood", "signals", "times"], rows, long=1) or ["none"])
    lines += _within([f"{part.kind}, not said: {clean(part.text)}" for part in seen.shown])
    lines += [_heading("3  gate")]
    judged = report.judgement
    if judged is not None:
        verdict = "looked into" if judged.should_extract else "nothing to extract"
        lines.append(f"  {verdict}: {judged.category}, {judged.confidence:.2f}  rule {judged.rule}")
        lines.append(f"  {clean(judged.reason)}")
    lines += [_heading("4  candidates and decisions")]
    for candidate in report.candidates:
        lines += _candidate(candidate, short)
    return lines if report.candidates else [*lines, "  none"]


def form(report: TurnReport, seen: Anatomy) -> Form:
    """The same as one object."""
    turn = turn_form(report)
    candidates = [
        {
            **made,
            "signals": [
                {"kind": one.kind, "text": one.text, "start": one.start, "end": one.end, "value": one.value}
                for one in candidate.candidate.signals
            ],
            "opinion": candidate.candidate.opinion.reason if candidate.candidate.opinion else None,
        }
        for made, candidate in zip(turn["candidates"], report.candidates, strict=True)
    ]
    return {
        "text": seen.text,
        "masked": list(seen.masked),
        "cut": seen.cut,
        "clauses": [_clause_form(clause) for clause in seen.clauses],
        "shown": [
            {"start": part.start, "end": part.end, "kind": part.kind, "text": part.text}
            for part in seen.shown
        ],
        "judgement": turn["judgement"],
        "action": turn["action"],
        "candidates": candidates,
    }


def _heading(words: str) -> str:
    return styled(words, "bold")


def _within(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _row(clause: SeenClause) -> list[str]:
    mood = "question" if clause.question else "order" if clause.order else "statement"
    signals = ", ".join(f"{one.kind} {one.text}" for one in clause.signals)
    times = ", ".join(f"{one.text} = {_until(iso(one.start), iso(one.end))}" for one in clause.times)
    return [f"{clause.start}-{clause.end}", clause.text, clause.about, mood, signals, times]


def _until(start: str | None, end: str | None) -> str:
    return f"[{start or '…'}, {end or '…'})"


def _clause_form(clause: SeenClause) -> Form:
    return {
        "start": clause.start,
        "end": clause.end,
        "text": clause.text,
        "about": clause.about,
        "question": clause.question,
        "order": clause.order,
        "signals": [
            {"kind": one.kind, "text": one.text, "start": one.start, "end": one.end, "value": one.value}
            for one in clause.signals
        ],
        "times": [{"text": one.text, "start": iso(one.start), "end": iso(one.end)} for one in clause.times],
    }


def _candidate(candidate: CandidateReport, short: ShortIds) -> list[str]:
    found, said = candidate.candidate, candidate.statement
    what = f"{found.kind} {found.attribute}" + (f" = {found.value}" if found.value else "")
    rows = [
        ("content", found.content),
        ("found by", f"{found.rule} ({found.extractor}), as {what}, intent {found.intent}"),
        ("evidence", " … ".join(quote for item in found.evidence for quote in item.quotes) or "none"),
        ("opinion", found.opinion.reason if found.opinion else ""),
        ("scope", scope_of(said) if said else ""),
        ("confidence", f"{said.confidence:.2f} by {found.source}, {said.certainty}" if said else ""),
        ("holds", ending(said) if said else ""),
        ("about", short(candidate.memory_id) if candidate.memory_id else ""),
    ]
    lines = [f"  {styled(candidate.action, 'bold')}  {candidate.reason}  rule {candidate.rule}"]
    return lines + [f"    {name:11} {clean(value)}" for name, value in rows if value]
