"""What the builders of the English rules share: word lists, tidying of words, lists of things."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ...domain.candidate import TimeFrame
from ..signals import families_in

if TYPE_CHECKING:
    from .engine import Found

_PIPELINE = __package__.rpartition(".")[0]
_PLACES = {
    "start": r"\A(?:{})(?![a-z])",
    "end": r"(?<![a-z])(?:{})\Z",
    "whole": r"\A(?:{})\Z",
    "anywhere": r"(?<![a-z])(?:{})(?![a-z])",
    "raw": r"{}",
}

EDGE = ' \t\n,.;:!?"“”'
"""Marks that are no part of what was said."""


@cache
def _lists() -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files(_PIPELINE).joinpath("lexicon/phrases_en.toml").read_text("utf-8"))


@cache
def phrases(name: str) -> re.Pattern[str]:
    """A list of `lexicon/phrases_en.toml` as one pattern."""
    entry = _lists()[name]
    return re.compile(_PLACES[entry["place"]].format("|".join(entry["patterns"])), re.I)


@cache
def order_pattern() -> re.Pattern[str]:
    """What gives an order: a verb of the list where a clause begins, or another form of order."""
    lists = _lists()
    before, verbs = lists["before_order"]["patterns"][0], "|".join(lists["orders"]["patterns"])
    others = "|".join(lists["other_orders"]["patterns"])
    when = lists["when_then"]["patterns"][0]
    return re.compile(rf"{before}(?:{verbs})(?![a-z'’])|{others}|{when}(?:{verbs})(?![a-z'’])", re.I)


def tidy(said: str) -> str:
    """Words of a request without "hey", "please" and "from now on" in front, and thanks behind."""
    bare = phrases("trail").sub("", phrases("lead").sub("", said.strip().strip(EDGE))).strip(EDGE)
    return bare or said.strip().strip(EDGE)


_PERSONS = tuple(
    (re.compile(rf"(?<![A-Za-z'’])(?:{form})(?![A-Za-z'’])", re.I), instead)
    for form, instead in (
        ("I['’]?m|I am", "they are"),
        ("I['’]?ve|I have", "they have"),
        ("I", "they"),
        ("my", "their"),
        ("myself", "themself"),
        ("mine", "theirs"),
        ("me", "them"),
    )
)


def in_third_person(said: str) -> str:
    """Words about oneself, as told about the user."""
    for pattern, instead in _PERSONS:
        said = pattern.sub(instead, said)
    return said


_THIRD = {"have": "has", "go": "goes", "do": "does"}


def with_verb_in_third_person(said: str) -> str:
    """Words that begin with a verb, as told about the user: "teaches music" for "teach music"."""
    verb, blank, rest = said.partition(" ")
    low = verb.lower()
    ends = low.endswith(("ch", "sh", "s", "x", "z"))
    third = _THIRD.get(low) or (
        f"{low}es" if ends else f"{low[:-1]}ies" if re.search("[^aeiou]y$", low) else f"{low}s"
    )
    return f"{third}{blank}{rest}"


def article(noun: str) -> str:
    """The indefinite article that a noun takes, with the blank behind it."""
    return "an " if noun[:1].lower() in "aeio" else "a "


def filled(found: Found, **values: str) -> str:
    """The rule's content with these values."""
    return found.rule.content.format_map(values)


def intent_of(found: Found, *, further: bool = False) -> str:
    """How it relates to what was so, by the words beside it."""
    kinds = found.kinds
    if "correction" in kinds:
        return "correct"
    if "change" in kinds:
        return "change"
    return "add" if further else found.rule.intent


def says_further(text: str) -> bool:
    """Whether "also", "too" or the like make it a further value."""
    return (
        re.search(r"(?<![a-z])(?:also|too|as well|another|besides|second|third|plus)(?![a-z])", text)
        is not None
    )


def parts(value: str) -> list[str]:
    """The things that commas, "and" and "or" join; what is long or has one noun stays whole."""
    value = re.sub(r",? (?:such as|including|for example|namely) ", ", ", value)
    pieces = [piece for piece in re.split(r",|;| / | and | or | & ", value) if piece.strip()]
    whole = any(len(piece.split()) > 4 for piece in pieces)
    if (
        len(pieces) == 2
        and re.fullmatch(r"[\w'-]+(?<!s)(?<!ing)", pieces[0].strip())
        and " " in pieces[1].strip()
    ):
        whole = whole or phrases("one_head").search(pieces[1].strip(EDGE)) is not None
    return [bare for piece in ([value] if whole else pieces) if (bare := bare_thing(piece))]


def bare_thing(piece: str) -> str:
    """A thing without quantity in front and adverbs behind."""
    said = phrases("taste_about").sub("", piece.strip(EDGE))
    for _ in range(3):
        said = phrases("list_tail").sub("", said).strip(EDGE)
    return re.sub(r"\A(?:and|or|also|then)\s+", "", phrases("list_head").sub("", said))


_LISTED = re.compile(
    r"(?:and |or )?(?!thanks|thank |bye|please|pls|ok(?:ay)?(?![a-z])|lol|haha|right(?![a-z]))"
    r"(?!so |but |which |it |they |i |we |you |as |because |how )"
    r"[a-z'’-]+(?: (?!and |or )[a-z'’-]+){0,2}"
    r"(?P<last> (?:and|or) (?!so |i |we |you |it )[a-z'’-]+(?: [a-z'’-]+){0,1})?"
)


def listed_behind(found: Found) -> str:
    """Further things that the next clauses list: ", running, and climbing"; empty when none are."""
    clauses = found.spoken.sentence.clauses
    items: list[str] = []
    for clause in clauses[found.clause_index + 1 :]:
        listed = _LISTED.fullmatch(clause.text)
        if listed is None:
            return ""
        items.append(found.reading.original(clause.start, clause.end))
        if listed.group("last") or clause.text.startswith(("and ", "or ")):
            return ", ".join(items)
    return ""


def task_named(found: Found) -> str | None:
    """The family of tasks of which the sentence speaks ("in my reports"), not merely of a word for one."""
    text = found.spoken.sentence.text
    for name, start, end in families_in(text):
        rest = re.match(r"[a-z]*", text[end:])
        end += rest.end() if rest else 0
        word, behind = text[start:end], text[end:]
        if phrases("tasks_before").search(text[:start]) or phrases("tasks_behind").match(behind):
            return name
        if phrases("task_acts").match(word):
            return name
    return None


def until(found: Found) -> dict[str, Any] | None:
    """The time frame that ends where the sentence says; None when it says no end."""
    end = found.reading.end_named_in(found.spoken)
    if end is None:
        return None
    said = found.reading.original(found.spoken.sentence.start, found.spoken.sentence.end)
    return {"time": TimeFrame(end=end.end, words=said[end.span_start : end.span_end])}


def is_no_place(value: str) -> bool:
    """Whether it cannot be a town or a country."""
    low = value.lower()
    return phrases("no_place").search(low) is not None or phrases("no_place_end").search(low) is not None
