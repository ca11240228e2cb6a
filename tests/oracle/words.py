"""What the user says in a random history: plain tuples, and the candidate that a scripted gate finds.

A tuple's first word names the kind; `MORE` are kinds beside those of the scenarios' conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from scenarios.conversations import spoken
from scenarios.scripted import city, standing, taste

from memstrata.domain.candidate import Signal, TimeFrame

Words = tuple[Any, ...]

CITIES, THINGS = ("Leeds", "Turin", "Osaka"), ("noodles", "rice", "soup")
MANNERS = ("blockers", "results", "risks")
HABITS = ("short reports", "tables first")


def _signal(kind: str, value: str | None = None) -> Signal:
    return Signal.model_validate({"kind": kind, "text": kind, "start": 0, "end": 1, "value": value})


def found_in(words: Words, now: datetime) -> dict[str, Any]:
    """The candidate that the scripted extractor finds in the words; all times are minutes before now."""
    match words:
        case ("planned", value, minutes):  # begins later
            return city(value, time=TimeFrame(start=now + timedelta(minutes=minutes), words="from"))
        case ("correct then", value, minutes):  # corrects what was so at a time
            start = now - timedelta(minutes=minutes)
            frame = TimeFrame(start=start, end=start + timedelta(minutes=2), words="back then")
            return city(value, intent="correct", time=frame)
        case ("rumour", value):  # too weak by itself; repeated often enough it counts
            return city(value, source="other", importance=3)
        case ("tip", value):
            return taste(value, source="other", importance=3)
        case ("more", manner, former):  # adds to what the words name
            more = standing(f"reports: also {manner}", "writing")
            return {**more, "intent": "add", "target_words": f"reports: lead with {former}"}
        case ("always", manner):  # everywhere, not only in reports
            wide = standing(f"reports: lead with {manner}", "writing")
            return {**wide, "family": None, "signals": (_signal("everything"), _signal("lasting"))}
        case ("liked until", value, minutes):
            end = now + timedelta(minutes=minutes)
            return taste(value, time=TimeFrame(end=end, words="until"))
        case ("take back",):  # all that the turn before left
            return {
                "kind": "retraction",
                "attribute": "note",
                "content": "scratch that",
                "intent": "retract",
                "signals": (_signal("retraction", "previous_turn"),),
            }
        case ("salary", value):  # wanted while the search for a job goes on
            return city(value, attribute="expected_salary", content=f"用户期望月薪{value}")
    return spoken(words, now)


def _tuples(*parts: Any) -> st.SearchStrategy[Words]:
    return st.tuples(*(part if isinstance(part, st.SearchStrategy) else st.just(part) for part in parts))


cities, things, manners = st.sampled_from(CITIES), st.sampled_from(THINGS), st.sampled_from(MANNERS)
minutes = st.integers(1, 9)

words: st.SearchStrategy[Words] = st.one_of(
    _tuples("city", cities, st.sampled_from(["assert", "assert", "change", "correct"])),
    _tuples("city", cities, "assert"),
    _tuples("guess", cities),
    _tuples("unsure", cities),
    _tuples("dated", cities, minutes),
    _tuples("planned", cities, minutes),
    _tuples("late", cities, st.integers(5, 12), st.integers(0, 4)),
    _tuples("correct then", cities, minutes),
    _tuples("rumour", cities),
    _tuples("tip", things),
    _tuples("taste", things, st.sampled_from(["positive", "positive", "negative"])),
    _tuples("liked until", things, minutes),
    _tuples("only", things),
    _tuples("instead", things, things),
    _tuples("report", manners),
    _tuples("report", manners),
    _tuples("more", manners, manners),
    _tuples("always", manners),
    _tuples("once", manners),
    _tuples("habit", st.sampled_from(HABITS)),
    _tuples("habit", HABITS[0]),
    _tuples("stage", st.sampled_from(["interviews", "offer"]), st.booleans()),
    _tuples("salary", st.sampled_from(["15-20k", "20-25k"])),
    _tuples("drop", "city", cities, st.sampled_from(["retract", "end"])),
    _tuples("drop", "taste", things, st.sampled_from(["retract", "end"])),
    _tuples("take back"),
)


def sentences(words: Sequence[Any]) -> str:
    """The words as a turn's text."""
    return " ".join(str(word) for word in words)
