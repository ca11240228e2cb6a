"""When a statement is about a time that is over, and which occasion a correction names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...domain.candidate import TimeFrame
from ..timeexpr import TimeExpr
from .reading import puts_in_past, tells_what_is_over

if TYPE_CHECKING:
    from .engine import Found

_DATES = ("birthday", "exam_date", "release_date", "deadline")
"""Attributes whose value is a date: the date tells nothing of when the statement holds."""

_STATED = ("fact", "preference", "state")


def put_in_time(found: Found, draft: Mapping[str, Any]) -> dict[str, Any]:
    """The past period of a statement about what is over; the occasion that a correction is about.

    Words for the past without a time that could be settled leave the frame out: the policy then
    refuses to take the statement for what is so now.
    """
    if draft["kind"] not in _STATED or draft["attribute"] in _DATES or draft.get("time") is not None:
        return {}
    if draft["intent"] == "correct":
        occasion = _past_time(found, found.spoken.sentence.start, found.spoken.sentence.end)
        return {"time": occasion} if occasion else {}
    if draft["intent"] not in ("assert", "late"):
        return {}
    clause, pieces = found.clause, found.spoken.sentence.pieces
    over = tells_what_is_over(clause.text, pieces)
    if not over and draft["intent"] == "assert" and not puts_in_past(clause.text, pieces):
        return {}
    period = _past_time(found, clause.start, clause.end)
    if period is not None:
        return {"intent": "late", "time": period}
    return {"intent": "late"} if over else {}


def _past_time(found: Found, start: int, end: int) -> TimeFrame | None:
    said = found.reading.original(start, end)
    now = found.prepared.context.said_at
    for one in found.reading.past_times(said):
        if _is_over(one, now):
            return TimeFrame(start=one.start, end=one.end, words=said[one.span_start : one.span_end])
    return None


def _is_over(one: TimeExpr, now: Any) -> bool:
    days = one.precision in ("day", "week", "month", "year")
    return days and one.start is not None and one.end is not None and one.end <= now
