"""The builders of the English rules that find the values of slots in indirect and careless speech."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..numerals import english_number
from ..quantity import canonical, find_quantities
from ..timeexpr import month_day
from .builders import Changes, builder
from .english import (
    EDGE,
    article,
    filled,
    in_third_person,
    intent_of,
    is_no_place,
    parts,
    phrases,
    says_further,
    tidy,
    with_verb_in_third_person,
)

if TYPE_CHECKING:
    from .engine import Found


@builder
def en_town(found: Found) -> Changes | None:
    """A place that is written with a capital, or known as one; lines of business are none."""
    value = found.plain("value").strip(EDGE + "'’")
    known = phrases("towns").fullmatch(value) is not None
    if len(value) < 2 or is_no_place(value) or phrases("no_town").match(value):
        return None
    if not known and not value[:1].isupper():
        return None
    changes: dict[str, Any] = {"value": value, "content": filled(found, value=value)}
    if found.has("former"):
        changes |= {"former_value": found.plain("former").strip(EDGE)}
    return changes


@builder
def en_trade(found: Found) -> Changes | None:
    """What somebody says to be by trade; traits and kin are none."""
    said = re.sub(r"\s+(?:now|currently|these days|at the moment)\Z", "", found.words("value").strip(EDGE))
    if len(said) < 3 or phrases("no_job").search(said.lower()):
        return None
    return {"value": said, "content": f"The user is {article(said)}{said}", "intent": intent_of(found)}


@builder
def en_been(found: Found) -> Changes | None:
    """As `en_trade`, where only a noun for who does something shows that a trade is meant."""
    said = found.words("value").strip(EDGE)
    head = re.split(r" (?:at|in|for|with|from|of|on) ", said.lower())[0]
    return en_trade_of(found) if phrases("worker").search(head) else None


def en_trade_of(found: Found) -> Changes | None:
    """What `en_trade` makes of a match."""
    changes = en_trade(found)
    return changes if isinstance(changes, dict) else None


@builder
def en_plies(found: Found) -> Changes | None:
    """Work told by what is done: "drives the night bus"."""
    said = found.words("value").strip(EDGE)
    if phrases("no_trade").search(said):
        return None
    told = said if re.match(r"[a-z]+ing ", said, re.I) else with_verb_in_third_person(said)
    lead = "works as: " if told == said else ""
    return {"value": said, "content": f"The user {lead}{in_third_person(told)}", "intent": intent_of(found)}


@builder
def en_firm(found: Found) -> Changes | None:
    """An employer, written with a capital or a digit in it."""
    value = re.sub(r"\Athe ", "", found.plain("value").strip(EDGE + "'’"), flags=re.I)
    if not any(ch.isupper() or ch.isdigit() for ch in value) or phrases("no_town").match(value):
        return None
    return {"value": value, "content": filled(found, value=value), "intent": intent_of(found)}


_DECADES = re.compile(r"(?P<count>[a-z0-9 ]*?) ?decades?")


@builder
def en_years(found: Found) -> Changes | None:
    """Years of work as a plain number; a decade has ten of them."""
    said = found.norm("value").strip()
    decades = _DECADES.match(said)
    bare = (
        (decades.group("count") or "a")
        if decades
        else re.sub(r" ?\+? ?(?:years?|yrs?|winters|seasons).*", "", said)
    )
    bare = re.sub(r"\A(?:a )?couple(?: of)?\Z", "two", bare.strip())
    number = english_number("one" if bare in ("a", "the") else bare)
    if number is None:
        return None
    number *= 10 if decades else 1
    field = re.sub(r"\A(?:an?|the|in|as|on|of|doing|with|at) ", "", tidy(found.words("field")))
    content = f"The user has {number:g} years of experience{f' ({field})' if field else ''}"
    return {"value": f"{number:g} years", "content": content, "intent": intent_of(found)}


@builder
def en_pay(found: Found) -> Changes | None:
    """An amount of pay in figures or words; what is the least is an open range."""
    said = found.words("value").strip(EDGE)
    value = amount_of(said)
    if value is None:
        return None
    floor = (
        re.search(r"below|under|less|least|minimum|floor|north of|out of bed", found.match.group())
        is not None
    )
    told = f"at least {said}" if floor else said
    return {
        "value": f"{value}+" if floor and value.isdigit() else value,
        "content": filled(found, value=told),
        "intent": intent_of(found),
    }


def amount_of(said: str) -> str | None:
    """The canonical amount of money; number words are read too."""
    amounts = [one for one in find_quantities(said) if one.unit == "money"]
    if amounts:
        return canonical(amounts[0])
    bare = re.sub(r"[$€£]|(?<=\d)(?=k\b)", " ", said.lower().replace("k ", "k "))
    bare = re.sub(r"(?:a year|a month|per year|per month|pounds|quid|euros|dollars|bucks)", "", bare)
    number = english_number(re.sub(r"(?<![a-z])k(?![a-z])", "thousand", bare).strip())
    return None if number is None or number < 100 else f"{number:g}" if number < 1e5 else f"{int(number)}"


@builder
def en_born(found: Found) -> Changes | None:
    """A birthday however it is named: `MM-DD`; words about a mistake make it a correction."""
    value = month_day(found.norm("value"))
    if value is None or "-" not in value:
        return None
    denied = re.search(r"(?<![a-z])not (?:the |on )?[a-z0-9]", found.text_behind()) is not None
    return {
        "value": value,
        "content": f"The user's birthday is {found.words('value').strip(EDGE)}",
        "intent": "correct" if denied or "correction" in found.kinds else "assert",
    }


_TO_COME = re.compile(r"(?<![a-z])(?:turn|turning|ll be|pushing|about to|knocking|getting|coming)(?![a-z])")


@builder
def en_old(found: Found) -> Changes | None:
    """An age between ten and a hundred and ten."""
    number = english_number(found.norm("value").strip())
    if number is None or not 10 <= number <= 110:
        return None
    ahead = _TO_COME.search(found.match.group()) is not None
    told = f"The user will soon be {number:g}" if ahead else f"The user is {number:g} years old"
    return {"value": f"{number:g}", "content": told, "intent": intent_of(found)}


@builder
def en_known_as(found: Found) -> Changes | None:
    """A form of address that is written with a capital."""
    value = found.plain("value").strip(EDGE)
    if not value[:1].isupper() or phrases("no_name").search(value.lower()):
        return None
    return {"value": value, "content": filled(found, value=value)}


@builder
def en_own_words(found: Found) -> Changes | None:
    """The rule's content with what was said, told in the third person."""
    said = in_third_person(tidy(found.words("value")))
    said = re.sub(r"(?<![A-Za-z])our(?![A-Za-z])", "their", said)
    return {"content": filled(found, value=said), "intent": intent_of(found)} if len(said) > 1 else None


@builder
def en_each(found: Found) -> list[Changes] | None:
    """A candidate for each thing that is named; figures of speech are none."""
    said = found.words("value").strip(EDGE)
    if phrases("no_taste").search(said) or phrases("no_food").search(said):
        return None
    further = says_further(found.clause.text)
    return [
        {
            "value": part,
            "content": filled(found, value=part),
            "intent": "add" if further else found.rule.intent,
        }
        for part in parts(said)
        if len(part) > 1
    ] or None


@builder
def en_animal(found: Found) -> Changes | None:
    """A pet with its name, where both are told; without a name the kind is its value."""
    kind = re.sub(r"\A(?:an? |my |our |the )", "", found.words("kind").strip(EDGE))
    called = found.plain("value").strip(EDGE)
    if called and phrases("no_pet_name").match(called):
        return None
    have = kind if re.search(r"(?<!s)s\Z", kind) else f"{article(kind)}{kind}"
    ill = in_third_person(found.words("ill").strip(EDGE))
    content = f"The user has {have} called {called}" if called else f"The user has {have}"
    return {"value": called or kind, "content": f"{content}, {ill}" if ill else content, "intent": "add"}


@builder
def en_kin(found: Found) -> Changes:
    """Something about somebody of the user's own household, in the words that were said."""
    who = found.norm("who")
    child = re.search(
        r"lad|girl|boy|eldest|youngest|oldest|kid|son|daughter|child|baby|bairn|little|twin", who
    )
    said = in_third_person(tidy(found.words("value")))
    said = re.sub(r"\A['’]?re ", "are ", said)
    said = re.sub(
        r"\A['’]?s (?=(?:just )?(?:started|gone|been|got|had|moved|turned|left)(?![a-z]))", "has ", said
    )
    said = re.sub(r"\A['’]?s (?!name)", "is ", said)
    said = re.sub(r"\A['’]?s name is", "is called", said)
    subject = found.words("who").strip()
    return {
        "attribute": "child" if child else "partner",
        "value": f"{subject} {said}",
        "content": f"The user's {subject} {said}",
    }
