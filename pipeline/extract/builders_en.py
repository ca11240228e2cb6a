"""The builders of the English rules about the person: places, work, tastes, family, health."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...domain.candidate import TimeFrame
from ..numerals import english_number
from ..quantity import canonical, find_quantities
from ..timeexpr import month_day
from .builders import Changes, builder, trimmed_of
from .english import (
    EDGE,
    article,
    bare_thing,
    filled,
    in_third_person,
    intent_of,
    is_no_place,
    listed_behind,
    parts,
    phrases,
    says_further,
    tidy,
    with_verb_in_third_person,
)

if TYPE_CHECKING:
    from .engine import Found


@builder
def en_place(found: Found) -> Changes | None:
    """Refuse what cannot be a town or a country."""
    value = found.plain("value").strip(" .,'’")
    if len(value) < 2 or is_no_place(value):
        return None
    changes: dict[str, Any] = {"value": value, "content": filled(found, value=value)}
    if found.has("former"):
        return changes | {"intent": "change", "former_value": found.plain("former")}
    return changes | {"intent": intent_of(found)} if found.rule.intent == "assert" else changes


@builder
def en_work_place(found: Found) -> Changes | None:
    """Refuse lines of business: "I work in finance" names no town, which a capital letter would tell."""
    value = found.plain("value").strip(" .,'’")
    if is_no_place(value) or not value[:1].isupper():
        return None
    return {"value": value, "content": filled(found, value=value), "intent": intent_of(found)}


@builder
def mixed_place(found: Found) -> Changes | None:
    """A town in either script; a move makes it a change."""
    value = found.plain("value").strip(" .")
    if len(value) < 2 or is_no_place(value) or re.match(r"公司|家|这|那|学校|新|楼", value):
        return None
    moved = re.search(r"move|relocat|搬", found.match.group()) is not None
    return {"value": value, "intent": "change" if moved else "assert"}


@builder
def en_employer(found: Found) -> Changes | None:
    """A name is written with a capital or a digit in it."""
    value = found.plain("value").strip(" .,'’")
    if not any(ch.isupper() or ch.isdigit() for ch in value):
        return None
    return {"value": value, "content": filled(found, value=value), "intent": intent_of(found)}


@builder
def en_salary(found: Found) -> Changes:
    """The canonical amount; what is the least makes it an open range."""
    said = found.words("value")
    amounts = [one for one in find_quantities(said) if one.unit == "money"]
    value = canonical(amounts[0]) if amounts else found.plain("value")
    floor = re.search(r"below|under|less|least|minimum|floor|lower", found.match.group()) is not None
    return {
        "value": f"{value}+" if floor and value.isdigit() else value,
        "content": f"Expected salary: at least {said}" if floor else f"Expected salary: {said}",
        "intent": intent_of(found),
    }


@builder
def en_city_list(found: Found) -> list[Changes] | None:
    """A candidate for each town where the user would work."""
    towns = [part.strip(" .") for part in re.split(r",| or | and |/", found.plain("value"))]
    towns = [town for town in towns if len(town) > 1 and not is_no_place(town)]
    only = found.has("only") or "exclusive" in found.kinds
    return [
        {
            "value": town,
            "content": f"Expected city: {'only ' if only else ''}{town}",
            "exclusive": only,
            "intent": intent_of(found),
        }
        for town in towns
    ] or None


@builder
def en_experience(found: Found) -> Changes | None:
    """Years as a plain number; the field of work stands in the content."""
    number = english_number(found.norm("value"))
    if number is None:
        return None
    field = tidy(found.words("field"))
    content = f"The user has {number:g} years of experience{f' ({field})' if field else ''}"
    return {"value": f"{number:g} years", "content": content, "intent": intent_of(found)}


@builder
def en_birthday(found: Found) -> Changes | None:
    """`MM-DD`; words about a mistake make it a correction."""
    value = month_day(found.norm("value"))
    if value is None:
        return None
    denied = re.search(r"(?<![a-z])not (?:the |on )?[a-z0-9]", found.text_behind()) is not None
    return {
        "value": value,
        "intent": "correct" if denied or "correction" in found.kinds else "assert",
    }


@builder
def en_occupation(found: Found) -> Changes | None:
    """What somebody is by trade: a noun of an agent, and no mere trait."""
    said = re.sub(
        r"\s+(?:now|currently|these days|at the moment|by trade|by day)\Z",
        "",
        found.words("value").strip(EDGE),
    )
    low = said.lower()
    head = re.split(r" (?:at|in|for|with|from|of|on|and|who|by|[a-z]+ing) ", low)[0]
    if phrases("no_job").search(low) or not phrases("worker").search(head):
        return None
    return {"value": said, "content": f"The user is {article(said)}{said}", "intent": intent_of(found)}


@builder
def en_does(found: Found) -> Changes | None:
    """An activity as work, the verb in the third person."""
    said = found.words("value").strip(EDGE)
    verb, _, rest = said.partition(" ")
    if phrases("no_activity").match(verb) or not rest:
        return None
    return {"value": said, "content": filled(found, value=in_third_person(with_verb_in_third_person(said)))}


@builder
def en_manager(found: Found) -> Changes | None:
    """Somebody's name; since when they are it, where that is said."""
    value = found.plain("value").strip(EDGE)
    if not value[:1].isupper() or phrases("no_somebody").match(value):
        return None
    new = re.search(r"(?<![a-z])(?:new|now|since|as of|instead)(?![a-z])", found.text) is not None
    changes: dict[str, Any] = {
        "value": value,
        "content": filled(found, value=value),
        "intent": "change" if new else "assert",
    }
    if re.search(r"(?<![a-z])(?:since|as of|from)(?![a-z])", found.text):
        said = trimmed_of(found, found.spoken.sentence.start, found.spoken.sentence.end)
        since = next((one for one in found.times(said) if one.start is not None), None)
        if since is not None:
            words = said[since.span_start : since.span_end]
            changes["time"] = TimeFrame(start=since.start, words=words)
    return changes


@builder
def en_described(found: Found) -> Changes | None:
    """What is said about oneself, in the third person; plans for the next hours are none."""
    said = in_third_person(tidy(found.words("value")))
    if found.rule.kind == "plan" and phrases("trivial_plan").search(found.spoken.sentence.text):
        return None
    return {"content": filled(found, value=said)} if len(said) > 1 else None


@builder
def en_described_user(found: Found) -> Changes:
    """A trait or a habit of the user's."""
    said = found.words("value").strip(EDGE)
    told = f"is {said}" if phrases("trait").search(said) else with_verb_in_third_person(said)
    return {"content": filled(found, value=in_third_person(told))}


@builder
def en_list(found: Found) -> list[Changes] | None:
    """One candidate for each thing of an enumeration."""
    further = says_further(found.text)
    return [
        {
            "value": part,
            "content": filled(found, value=part),
            "intent": "add" if further else found.rule.intent,
        }
        for part in parts(found.plain("value"))
    ] or None


# --- likes and dislikes ------------------------------------------------------------------------------


@builder
def en_taste(found: Found) -> list[Changes] | None:
    """One taste for each thing; praise or blame of what is at hand is none."""
    said = found.words("value").strip(EDGE)
    before = found.text[: found.match.start()].strip(" ,")
    if not said or phrases("no_taste").search(said) or phrases("passing_taste").search(found.clause.text):
        return None
    if before and not phrases("before_taste").search(before):
        return None  # "things I enjoy doing"
    negative = found.rule.polarity == "negative"
    phrase = _attitude(found.norm("verb").replace("’", "'"), negative)
    further = says_further(found.clause.text)
    things = (
        parts(f"{said}, {listed_behind(found)}".strip(", "))
        if found.match.end() == len(found.text)
        else parts(said)
    )
    return [
        {
            "value": thing,
            "content": f"The user {phrase} {thing}",
            "intent": intent_of(found, further=further),
            "attribute": "hobby" if not negative and _is_doing(thing) else "taste",
        }
        for thing in things
        if not phrases("no_taste").search(thing) and " it" not in f"{thing} ".replace(" its", "")
    ] or None


@builder
def en_likes(found: Found) -> list[Changes] | None:
    """As for dislikes, but wishes about answers and about the task in hand are no tastes."""
    wished = found.spoken.sentence.text[found.base - found.spoken.sentence.start + found.match.start() :]
    return None if phrases("answer_wish").search(wished) else en_tastes(found)


def en_tastes(found: Found) -> list[Changes] | None:
    """The tastes that a match tells."""
    changes = en_taste(found)
    return changes if isinstance(changes, list) else None


def _attitude(verb: str, negative: bool) -> str:
    if not negative:
        return "loves" if re.search(r"love|adore|obsessed|crazy", verb) else "likes"
    if re.search(r"stand|bear|stomach|abide", verb):
        return "can't stand"
    return "hates" if re.search(r"hate|loathe|detest|despise", verb) else "doesn't like"


def _is_doing(thing: str) -> bool:
    return re.match(r"(?:to [a-z]+|[a-z]{3,}ing)(?![a-z])", thing.lower()) is not None


_DOING = {"drinking": "drink", "smoking": "smoke", "eating": "eat"}


@builder
def en_abstains(found: Found) -> list[Changes] | None:
    """What is never eaten, drunk or smoked; what was given up is a change."""
    stopped = found.norm("verb") in _DOING
    verb = _DOING.get(found.norm("verb"), found.norm("verb"))
    said = found.words("value").strip(EDGE) or verb
    if phrases("no_taste").search(said) or phrases("no_food").search(said):
        return None
    return [
        {
            "value": part,
            "content": f"The user doesn't {verb}"
            if part.lower() == verb
            else f"The user doesn't {verb} {part}",
            "intent": "change" if stopped else intent_of(found),
        }
        for part in parts(said)
    ] or None


@builder
def en_favorite(found: Found) -> Changes | None:
    """The favourite, with the kind of which it is one."""
    value, kind = bare_thing(found.words("value")), found.words("kind")
    if len(value) < 2 or phrases("no_favorite").search(value):
        return None
    verb = "are" if kind.endswith("s") and not kind.endswith("ss") else "is"
    return {"value": value, "content": f"The user's favourite {kind or 'thing'} {verb} {value}"}


@builder
def en_hobby(found: Found) -> Changes | None:
    """An activity in the user's words."""
    said = found.words("value").strip(EDGE)
    if re.search(r"\A[a-z]+ (?:every|on|at|in|with|some|for) ", f"{said.lower()} "):
        return None
    return {"value": said, "content": filled(found, value=in_third_person(said))}


# --- household, health, names ------------------------------------------------------------------------


@builder
def en_pet(found: Found) -> Changes | None:
    """The pet's name is its value, also when the next sentence tells it; without a name its kind is."""
    said = found.words("kind").strip()
    kind = re.sub(r"\A(?:(?:an?|second|third|another|new|two|three|little)\s+)+", "", said, flags=re.I)
    called = found.plain("value") or _name_behind(found)
    if phrases("no_pet_name").match(called):
        return None
    have = kind if kind.lower().endswith("s") else f"{article(kind)}{kind}"
    content = f"The user has {have} called {called}" if called else f"The user has {have}"
    further = says_further(found.clause.text) or " new " in f" {found.clause.text} "
    return {"value": called or kind, "content": content, "intent": "add" if further else "assert"}


def _name_behind(found: Found) -> str:
    end = found.base + found.match.end()
    match = phrases("pet_name").search(found.reading.parts.norm.text[end : end + 60])
    if match is None or match.lastgroup is None:
        return ""
    start, stop = match.span(match.lastgroup)
    said = found.reading.original(end + start, end + stop)
    return "" if match.lastgroup == "c" and said[:1].islower() else said


@builder
def en_household(found: Found) -> Changes | None:
    """Partners and children have attributes of their own; the words about them are kept whole."""
    who = found.norm("who")
    child = (
        re.search(r"daughter|son|girl|boy|kid|child|baby|toddler|twins|little one|eldest|youngest|one", who)
        is not None
    )
    said = in_third_person(tidy(found.words("value")))
    subject = f"{found.words('who')} {found.words('name')}".strip()
    alone = who if who.endswith("s") or who == "children" else f"{article(who)}{who}"
    if re.fullmatch(r"one|two|three|four|five|[1-5]", said):
        return {"attribute": "child", "value": f"{said} {who}", "content": f"The user has {said} {who}"}
    if re.match(r"name|birthday|bday", said):
        subject = f"{subject}'s"
    if not said and found.words("name"):
        name = found.words("name")
        return {"attribute": "child", "value": name, "content": f"The user has {alone} called {name}"}
    return {
        "attribute": "pet" if _PET.fullmatch(who) else "child" if child else "partner",
        "value": f"{subject} {said}".strip(),
        "content": f"The user's {subject} {said}".strip() if said else f"The user has {alone}",
    }


_PET = re.compile(r"dog|cat|puppy|kitten|rabbit|parrot|horse")


@builder
def en_allergy(found: Found) -> list[Changes] | None:
    """Several substances are several facts; figures of speech are none."""
    value = found.plain("value")
    if phrases("no_allergy").search(value):
        return None
    further = says_further(found.clause.text)
    return [
        {"value": part, "content": filled(found, value=part), "intent": "add" if further else "assert"}
        for part in parts(value)
    ] or None


@builder
def en_health(found: Found) -> Changes:
    """A condition, in the third person, with the clause behind that tells what it means."""
    said = re.sub(r"\A(?:my|their) ", "", found.words("value").strip(EDGE))
    happened = re.match(r"(?:had|tore|broke|injured)(?![a-z])", said, re.I) is not None
    verb = "" if happened else "is" if phrases("health_is").search(said) else "has"
    content = f"{verb} {said}".strip()
    behind = re.match(r",? (?:so|which means) ([^.!?;]{3,60})", found.text_behind())
    if behind and not phrases("order_behind").search(behind.group(1)):
        content = f"{content}, so {behind.group(1)}"
    return {"content": filled(found, value=in_third_person(content))}


@builder
def en_body(found: Found) -> Changes:
    """Height and weight are attributes of their own."""
    what, value = found.norm("what"), found.words("value").strip(EDGE)
    attribute = {"tall": "height", "height": "height", "weigh": "weight", "weight": "weight"}.get(
        what, "fact"
    )
    told = {
        "tall": f"The user is {value} tall",
        "weigh": f"The user weighs {value}",
        "wear": f"The user wears {value}",
    }
    return {
        "attribute": attribute,
        "value": value,
        "content": told.get(what, f"The user's {what} is {value}"),
    }


@builder
def en_name(found: Found) -> Changes | None:
    """A name that follows a greeting is written with a capital, and is no nationality or mood."""
    value = found.plain("value").strip(EDGE)
    greeted = "name" not in found.match.group()
    if not 1 < len(value) <= 40 or (
        greeted and (value[:1].islower() or phrases("no_name_end").search(value))
    ):
        return None
    return {"value": value, "content": filled(found, value=value)}


@builder
def en_address(found: Found) -> Changes | None:
    """A form of address is short, and no "call me later"."""
    value = re.sub(r"\A[\"“'‘]|[\"”'’]\Z", "", found.plain("value").strip(EDGE)).strip(EDGE)
    if phrases("no_name").search(value) or not 1 <= len(value) <= 24:
        return None
    return {"value": value, "content": filled(found, value=value)}


@builder
def en_system(found: Found) -> Changes:
    """The device or system; phones are another attribute; a former one that is denied is a correction."""
    value = found.plain("value")
    phone = re.search(r"android|iphone|ios|pixel|galaxy", value.lower()) is not None
    changes: dict[str, Any] = {"attribute": "phone" if phone else "os", "intent": intent_of(found)}
    return (
        changes | {"intent": "correct", "former_value": found.plain("former")}
        if found.has("former")
        else changes
    )


@builder
def en_single(found: Found) -> Changes:
    """One value of a kind of which there is one at a time; words of change make it a change."""
    return {"intent": intent_of(found)}


@builder
def en_exam(found: Found) -> Changes:
    """The day itself where the words and the clock settle it, else what was said."""
    said = found.words("value")
    times = found.times(said)
    day = times[0].start.date().isoformat() if times and times[0].start else month_day(said)
    content = f"{found.words('exam')} on {said}"
    return {"value": day or found.plain("value"), "content": content, "intent": intent_of(found)}


_TRAITS = re.compile(
    r"self|rubb|finn|foolish|childish|stylish|squeamish|feverish|sluggish|civilian|vegetarian|librarian", re.I
)


@builder
def en_self(found: Found) -> Changes | None:
    """What the user is or does; nations and faiths are written with a capital, or their article is said."""
    for group in ("retired", "fear", "am"):
        if found.has(group):
            said = found.words(group).strip(EDGE)
            return {"value": said, "content": f"The user is {in_third_person(said)}"}
    said = found.words("value").strip(EDGE)
    if found.rule.id != "en.self.is":
        return {"content": filled(found, value=in_third_person(said))}
    return None if said[:1].islower() or _TRAITS.match(said) else {"content": filled(found, value=said)}


# --- frames ------------------------------------------------------------------------------------------


@builder
def en_present(found: Found) -> Changes | None:
    """A habit or a lasting circumstance; verbs of the moment and of the mind tell none."""
    verb, thing = found.norm("verb"), found.norm("object")
    if len(verb) < 2 or phrases("no_habit").match(verb) or phrases("no_habit_object").search(thing):
        return None
    said = found.words("value").strip(EDGE)
    adverb = re.match(
        r"(?:always|usually|mostly|never|only|often|generally|normally|sometimes|also|mainly|rarely|still) ",
        said,
        re.I,
    )
    lead = adverb.group() if adverb else ""
    told = lead + with_verb_in_third_person(said[len(lead) :])
    return {"value": said, "content": filled(found, value=in_third_person(told))}


@builder
def en_cannot(found: Found) -> Changes | None:
    """What is impossible for the user, told in the third person."""
    said = found.words("value").strip(EDGE)
    return {"value": said, "content": filled(found, value=in_third_person(said))} if len(said) > 2 else None


@builder
def en_have(found: Found) -> Changes:
    """What the user has."""
    said = found.words("value").strip(EDGE)
    return {"value": said, "content": filled(found, value=in_third_person(said))}


@builder
def en_told(found: Found) -> Changes:
    """A statement in the user's words, told of the user."""
    said = in_third_person(found.words("value").strip(EDGE))
    told = re.sub(r"\b(?:us|we)\b", "them", said)
    return {
        "value": None,
        "content": re.sub(r"\Atheir", "The user's", re.sub(r"\A(?:they are|they|them)", "The user is", told)),
    }


@builder
def en_am(found: Found) -> Changes | None:
    """What the user is, or what becomes of them."""
    if found.has("turn"):
        said = found.words("turn").strip(EDGE)
        happened = said.lower().startswith("lost")
        told = said if happened else re.sub(r"\Aturn(?:ing)?", "turns", said)
        return {"value": said, "content": f"The user {in_third_person(told)}"}
    said = found.words("value").strip(EDGE)
    return {"value": said, "content": filled(found, value=in_third_person(said))} if len(said) > 4 else None


@builder
def en_no_subject(found: Found) -> Changes:
    """What the user did or does, where "I" was left out."""
    said = found.words("past").strip(EDGE)
    present = re.match(r"(?:work|live|run|own) ", said) is not None
    told = with_verb_in_third_person(said) if present else re.sub(r"\A(?=been )", "has ", said, flags=re.I)
    return {"value": None, "content": filled(found, past=in_third_person(told[:1].lower() + told[1:]))}
