"""The builders of the English rules about dealing with the user: orders, boundaries, taking back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...domain.candidate import Signal
from ..signals import Seen
from ..text import fold_for_comparison
from ..timeexpr import month_day
from .builders import Changes, builder, trimmed_of
from .corrections import corrected
from .english import (
    EDGE,
    filled,
    in_third_person,
    is_no_place,
    order_pattern,
    phrases,
    task_named,
    tidy,
    until,
)

if TYPE_CHECKING:
    from .engine import Found

_HAN = re.compile("[\u4e00-\u9fff]")


def _sentence_of(found: Found) -> str:
    """The sentence in the user's own words, fillers at the edges left out."""
    return tidy(trimmed_of(found, found.spoken.sentence.start, found.spoken.sentence.end))


def _without_remarks(said: str) -> str:
    short = phrases("remark").sub("", said).strip(EDGE)
    return short if len(short) > 8 else said


# --- boundaries, manner, relationship ----------------------------------------------------------------


@builder
def en_topic(found: Found) -> Changes | None:
    """What is not to be spoken of; a pronoun names nothing."""
    said = in_third_person(tidy(found.words("value")))
    if task_named(found) == "writing" and re.search(r" (?:in|on|for) ", found.text):
        return None
    if not 3 <= len(said) <= 60 or phrases("no_topic").search(said):
        return None
    return {"value": said, "content": filled(found, value=said)}


@builder
def en_own(found: Found) -> Changes | None:
    """Content in the user's own words, fillers at the edges left out; Chinese sentences are not read."""
    said = tidy(found.words("value"))
    if len(said) < 3 or _HAN.search(found.spoken.sentence.text):
        return None
    return {"value": None, "content": filled(found, value=said)}


@builder
def en_style(found: Found) -> Changes | None:
    """A manner of answering in the user's own words; what is about tasks of one kind is none."""
    said = tidy(found.words("value"))
    if len(said) < 3 or task_named(found) or _HAN.search(found.spoken.sentence.text):
        return None
    return {"value": None, "content": filled(found, value=said)}


@builder
def en_relation(found: Found) -> Changes | None:
    """The wished relationship in the user's own words."""
    said = in_third_person(tidy(found.words("value")))
    return {"value": None, "content": filled(found, value=said)} if len(said) > 4 else None


# --- orders and conditions ---------------------------------------------------------------------------


@builder
def en_order(found: Found) -> Changes | None:
    """A standing order: about answers, about one family of tasks, or in general."""
    sentence = found.spoken.sentence.text
    given = any(order_pattern().search(text) for text in (tidy(found.text), tidy(sentence), sentence))
    said = _without_remarks(_sentence_of(found))
    if not given or _tells_of_oneself(sentence) or len(said) < 5:
        return None
    everything = "everything" in found.kinds
    family = task_named(found)
    draft: dict[str, Any] = {"value": None, "content": said}
    if family is not None and not everything:
        return draft | {"family": family}
    if everything or phrases("answering").search(sentence):
        return draft | {"kind": "style", "attribute": "answer_style", "category": "conversation_style"}
    return draft


def _tells_of_oneself(sentence: str) -> bool:
    """Whether the sentence tells what the user does, and orders nothing."""
    if phrases("asks_oneself").search(sentence):
        return True
    main = phrases("lasting_lead").sub("", phrases("subordinate").sub(" ", sentence))
    match = phrases("oneself").search(main)
    return match is not None and match.start() < 2


@builder
def en_constraint(found: Found) -> Changes | None:
    """A condition on the artefact in hand, in the user's own words."""
    said = _without_remarks(_sentence_of(found))
    if len(said) < 5:
        return None
    named = any(
        one.entry.kind == "limiting" and phrases("this_thing").search(_text_of(found, one))
        for one in found.seen
    )
    if named or found.holds("task"):
        return {"value": None, "content": said}
    answer = {"kind": "answer_instruction", "attribute": "answer_style", "category": "conversation_style"}
    return {"value": None, "content": said, "importance": 1, **answer}


def _text_of(found: Found, one: Seen) -> str:
    return found.spoken.sentence.text[one.start : one.end]


@builder
def en_dated_stay(found: Found) -> Changes | None:
    """A stay with its end; the town where the user lives is left alone."""
    frame = until(found)
    value = found.plain("value").strip(" .")
    if frame is None or is_no_place(value):
        return None
    return {**frame, "value": value, "content": f"The user is staying in {value} {frame['time'].words}"}


@builder
def en_dated_words(found: Found) -> Changes | None:
    """The user's words with the day up to which they hold."""
    frame = until(found)
    return None if frame is None else {**frame, "value": None, "content": _sentence_of(found)}


_STAGES = (
    ("hired", "hired, the search is over", True),
    ("offer", "has an offer", False),
    ("final", "final round", False),
    ("interview", "interviewing", False),
    ("applying", "applying", False),
)


@builder
def en_job_stage(found: Found) -> Changes | None:
    """The furthest stage that the sentence names; a signed offer ends the search."""
    for group, stage, final in _STAGES:
        for pattern in found.rule.patterns:
            match = pattern.search(found.text)
            if match is not None and match.groupdict().get(group):
                return {"value": stage, "content": f"The user's job search: {stage}", "final": final}
    return None


_HINT_KEYS = (
    (r"bullet|point form", "bullet points"),
    (r"table|tabular", "table"),
    (r"numbered", "numbered list"),
)


@builder
def en_hint(found: Found) -> Changes | None:
    """What is wished, folded to a key that other wordings of the same wish share."""
    value = found.plain("value").strip(EDGE).lower()
    value = re.sub(r"\A(?:an?|the|some|any|good|nice|decent|proper)\s+", "", value)
    if len(value) < 3 or phrases("no_hint").search(value):
        return None
    key = next((name for pattern, name in _HINT_KEYS if re.search(pattern, value)), value)
    return {"value": key, "hint_key": fold_for_comparison(key), "content": f"The user may prefer: {key}"}


# --- the project in hand -----------------------------------------------------------------------------


@builder
def en_project(found: Found) -> Changes | None:
    """A plain fact about the project in hand, in the user's own words."""
    said = _sentence_of(found)
    return {"value": None, "content": said} if len(said) > 4 else None


@builder
def en_release(found: Found) -> Changes | None:
    """The day of a release or deadline, as a date where the clock settles it."""
    times = found.times(found.words("value"))
    if not times or times[0].start is None:
        return None
    changed = re.search(
        r"(?<![a-z])(?:now|moved|slipped|pushed|postponed|instead|changed)(?![a-z])", found.text
    )
    return {
        "attribute": "deadline" if re.search(r"deadline|due", found.match.group()) else "release_date",
        "value": times[0].start.date().isoformat(),
        "content": f"{found.norm('what').capitalize()}: {found.words('value')}",
        "intent": "change" if changed else "assert",
    }


@builder
def en_other_person(found: Found) -> Changes | None:
    """What somebody else does in what is being worked on: about them, and kept only if they are known."""
    who = found.words("who")
    if not who[:1].isupper() or phrases("no_somebody").match(who):
        return None
    first = found.base + found.match.start()
    changes: dict[str, Any] = {
        "subject": who,
        "value": None,
        "content": trimmed_of(found, first, found.base + found.match.end()),
    }
    if any(who.casefold() in content.casefold() for content in found.prepared.known):
        return changes
    if found.holds("project_in_hand"):
        return changes | {"kind": "project_fact"}
    span = found.reading.parts.norm.span(*(found.base + place for place in found.match.span("who")))
    mark = Signal(kind="third_party", text=who, start=span[0], end=span[1], value=who)
    return changes | {"extra_signals": (mark,)}


# --- taking back and correcting ----------------------------------------------------------------------


@builder
def en_target(found: Found) -> Changes | None:
    """What is to be forgotten, without the words around it; a pronoun names nothing."""
    said = phrases("target_head").sub("", found.words("target").split(",")[0])
    said = phrases("target_tail").sub("", said.strip(EDGE))
    if len(said) < 2 or phrases("no_target").search(said):
        return None
    return {"value": None, "target_words": said, "content": filled(found, target=in_third_person(said))}


@builder
def en_described_end(found: Found) -> Changes:
    """What ends, in the third person."""
    target = found.words("target").strip(EDGE)
    return {"value": None, "target_words": target, "content": filled(found, target=in_third_person(target))}


@builder
def en_meant(found: Found) -> Changes | None:
    """As "I meant X" says: the same thing as in the turn before, with X in its place."""
    said = tidy(found.words("value"))
    if "bare" in found.match.re.groupindex and found.match.group("bare") is not None and said[:1].islower():
        return None
    pair = corrected(found.prepared, said) if said and len(said) <= 60 else None
    if pair is None:
        return None
    former, now = pair
    return {
        "kind": now.kind,
        "attribute": now.attribute,
        "category": now.category,
        "polarity": now.polarity,
        "value": now.value,
        "former_value": former.value,
        "content": now.content,
        "target_words": former.value,
    }


@builder
def en_not_but(found: Found) -> Changes | None:
    """As "X, not Y" says: what is remembered with Y was X; said again of what is remembered with X."""
    right, wrong = found.words("value").strip(EDGE), found.words("former").strip(EDGE)
    if phrases("contrast_clause").search(right.lower()):
        return None
    for content in found.prepared.known:
        rewritten = _replaced(content, wrong, right)
        if rewritten is not None:
            return {"value": None, "content": rewritten, "former_value": wrong, "target_words": content}
        if right.casefold() in content.casefold():
            return {"value": None, "content": content, "former_value": None, "intent": "assert"}
    return None


def _replaced(content: str, former: str, instead: str) -> str | None:
    at = content.casefold().find(former.casefold())
    if at < 0 or not former:
        return None
    behind = content[at + len(former) :]
    last = instead.rpartition(" ")[2]
    if " " in instead and behind.strip().casefold().startswith(last.casefold()):
        behind = behind.strip()[len(last) :]
    return f"{content[:at]}{instead}{behind}"


_WRONG = {
    "job": ("job_title", "The user is {}"),
    "job title": ("job_title", "The user is {}"),
    "title": ("job_title", "The user is {}"),
    "surname": ("name", "The user's surname is {}"),
    "last name": ("name", "The user's last name is {}"),
    "bday": ("birthday", "The user's birthday is {}"),
    "city": ("city", "The user lives in {}"),
    "employer": ("employer", "The user works for {}"),
}


@builder
def en_wrong(found: Found) -> Changes | None:
    """The attribute that was wrong, with the value that is right."""
    what, said = found.norm("what"), found.words("value").strip(EDGE)
    if not phrases("wrong_attribute").match(what):
        return None
    attribute, told = _WRONG.get(what, (what, f"The user's {what} is {{}}"))
    value = month_day(said) if attribute == "birthday" else said
    return None if value is None else {"attribute": attribute, "value": value, "content": told.format(said)}


@builder
def en_this_answer(found: Found) -> Changes | None:
    """How to give this answer; what is about the thing in hand, or tells of the user, is none."""
    said = tidy(found.words("value"))
    if len(said) < 3 or _HAN.search(found.spoken.sentence.text):
        return None
    text = found.spoken.sentence.text
    if _tells_of_oneself(text) or (found.holds("task") and found.spoken.family is not None):
        return None
    return {"value": None, "content": filled(found, value=said)}


_BEARING = re.compile(r"[a-z0-9]{3,}")


def _remembered(found: Found, words: str) -> bool:
    """Whether something remembered holds half of the words that say something, by their first letters."""
    sought = [word for word in _BEARING.findall(words.lower()) if not phrases("empty_words").fullmatch(word)]
    known = [set(_BEARING.findall(content.lower())) for content in found.prepared.known]
    most = max((sum(any(_akin(one, other) for other in kept) for one in sought) for kept in known), default=0)
    return most > 0 and 2 * most >= len(sought)


def _akin(one: str, other: str) -> bool:
    stem = max(3, min(len(one), len(other)) - 2)
    return one[:stem] == other[:stem] and abs(len(one) - len(other)) <= 4


@builder
def en_dropped(found: Found) -> Changes | None:
    """What is over; words that anything could be said in have to be remembered."""
    said = phrases("target_head").sub("", found.words("target").strip(EDGE))
    said = phrases("target_tail").sub("", said).strip(EDGE)
    if len(said) < 3 or phrases("no_target").search(said) or not _remembered(found, said):
        return None
    return {"value": None, "target_words": said, "content": filled(found, target=in_third_person(said))}


@builder
def en_own_order(found: Found) -> Changes | None:
    """A standing order in the words of its own clause: about answers, one family of tasks, or in general."""
    said = _without_remarks(tidy(found.words("value")))
    if len(said) < 5 or _HAN.search(found.spoken.sentence.text) or phrases("no_order").search(said.lower()):
        return None
    draft: dict[str, Any] = {"value": None, "content": said}
    family = found.spoken.family if found.rule.family else None
    if family is not None:
        return draft | {"family": family[0]}
    named = task_named(found)
    if named is not None and "everything" not in found.kinds:
        return draft | {"family": named}
    if phrases("answering").search(said):
        return draft | {"kind": "style", "attribute": "answer_style", "category": "conversation_style"}
    return draft
