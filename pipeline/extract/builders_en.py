"""The builders of the English rules: what data cannot say about names, amounts, tastes and orders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...domain.candidate import Signal, TimeFrame
from ..numerals import english_number
from ..quantity import canonical, find_quantities
from ..signals import families_in, kinds_of
from ..text import fold_for_comparison
from ..timeexpr import month_day
from .builders import Changes, builder, trimmed_of
from .corrections import corrected

if TYPE_CHECKING:
    from .engine import Found

_LEAD = re.compile(
    r"\A(?:(?:hi|hey|hello|ok|okay|so|well|and|but|oh|also|btw|by the way|fyi|heads up|remember(?: that)?|"
    r"note(?: that)?|please note(?: that)?|keep in mind(?: that)?|bear in mind(?: that)?|just so you know|jsyk|for the record|"
    r"from now on|going forward|from here on(?: out)?|please|pls|plz|could you|can you|would you|will you|"
    r"i(?:['’]?d| would) (?:like|love|prefer) (?:it )?(?:if )?(?=you)|quick (?:note|thing)|one (?:more )?thing|actually|"
    r"sorry|anyway)(?:[,.:;!\s]+|(?=\Z)))+",
    re.I,
)
_TAIL = re.compile(
    r"(?:[\s,.;:!]+(?:please|pls|plz|thanks|thank you|thx|ty|ok|okay|alright|btw|lol|haha|though|tho))+[\s.!?]*\Z",
    re.I,
)
_EDGE = ' \t\n,.;:!?"“”'


def tidy(said: str) -> str:
    """Words of a request without "hey", "please" and "from now on" in front, and thanks behind."""
    bare = _TAIL.sub("", _LEAD.sub("", said.strip().strip(_EDGE))).strip(_EDGE)
    return bare or said.strip().strip(_EDGE)


_PERSONS = (
    (re.compile(r"(?<![A-Za-z])(?:I['’]?m|I am)(?![A-Za-z])", re.I), "they are"),
    (re.compile(r"(?<![A-Za-z])(?:I['’]?ve|I have)(?![A-Za-z])", re.I), "they have"),
    (re.compile(r"(?<![A-Za-z'’])I(?![A-Za-z'’])", re.I), "they"),
    (re.compile(r"(?<![A-Za-z])my(?![A-Za-z])", re.I), "their"),
    (re.compile(r"(?<![A-Za-z])myself(?![A-Za-z])", re.I), "themself"),
    (re.compile(r"(?<![A-Za-z])mine(?![A-Za-z])", re.I), "theirs"),
    (re.compile(r"(?<![A-Za-z])me(?![A-Za-z])", re.I), "them"),
)


def in_third_person(said: str) -> str:
    """Words about oneself, as told about the user."""
    for pattern, instead in _PERSONS:
        said = pattern.sub(instead, said)
    return said


def _filled(found: Found, **values: str) -> str:
    return found.rule.content.format_map(values)


def _intent(found: Found, *, further: bool = False) -> str:
    kinds = kinds_of(found.seen)
    if "correction" in kinds:
        return "correct"
    if "change" in kinds:
        return "change"
    return "add" if further else found.rule.intent


_NO_PLACE = re.compile(
    r"\A(?:linux|mac|macos|windows|vim|emacs|python|rust|react|vue|kubernetes|aws|gcp|azure|postgres\w*|slack|notion|"
    r"teams|product|marketing|sales|management|engineering|design|bed|tears|love|fear|peace|hope|denial|silence|english|"
    r"here|there|it|that|this|home|work|school|front|behind|general|person|full|half|town|class|college|uni|university|"
    r"therapy|hospital|detail|short|trouble|debt|sync|charge|one|two|new|bigger|smaller|paradise|your|his|her|their|our|"
    r"step|question|next|trash|archive|production|staging|phase|jan\w*|feb\w*|march|april|may|june|july|august|sept\w*|oct\w*|nov\w*|dec\w*|summer|winter|spring|autumn)(?![a-z])|"
    r"(?<![a-z])(?:house|flat|apartment|building|neighbou?rhood|street|floor|room|dorm|office|team|parents|department)\Z"
)


@builder
def en_place(found: Found) -> Changes | None:
    """Refuse what cannot be a town or a country."""
    value = found.plain("value").strip(" .,'’")
    if len(value) < 2 or _NO_PLACE.search(value.lower()):
        return None
    changes: dict[str, Any] = {"value": value, "content": _filled(found, value=value)}
    if found.has("former"):
        changes |= {"intent": "change", "former_value": found.plain("former")}
    elif found.rule.intent == "assert":
        changes["intent"] = _intent(found)
    return changes


@builder
def en_salary(found: Found) -> Changes:
    """The canonical amount; what is the least makes it an open range and a change."""
    said = found.words("value")
    amounts = [one for one in find_quantities(said) if one.unit == "money"]
    value = canonical(amounts[0]) if amounts else found.plain("value")
    floor = re.search(r"below|under|less|least|minimum|floor|lower", found.match.group()) is not None
    if floor and value.isdigit():
        value = f"{value}+"
    return {
        "value": value,
        "content": f"Expected salary: at least {said}" if floor else f"Expected salary: {said}",
        "intent": _intent(found),
    }


@builder
def en_city_list(found: Found) -> list[Changes] | None:
    """A candidate for each town where the user would work."""
    towns = [part.strip(" .") for part in re.split(r",| or | and |/", found.plain("value"))]
    towns = [town for town in towns if len(town) > 1 and not _NO_PLACE.search(town.lower())]
    if not towns:
        return None
    only = found.has("only") or "exclusive" in kinds_of(found.seen)
    prefix = "only " if only else ""
    return [
        {
            "value": town,
            "content": f"Expected city: {prefix}{town}",
            "exclusive": only,
            "intent": _intent(found),
        }
        for town in towns
    ]


@builder
def en_experience(found: Found) -> Changes | None:
    """Years as a plain number; the field of work stands in the content."""
    said = found.norm("value")
    number = english_number(said)
    if number is None:
        return None
    years = f"{number:g}"
    field = tidy(found.words("field"))
    tail = f" ({field})" if field else ""
    return {
        "value": f"{years} years",
        "content": f"The user has {years} years of experience{tail}",
        "intent": _intent(found),
    }


@builder
def en_birthday(found: Found) -> Changes | None:
    """`MM-DD`; words about a mistake make it a correction."""
    value = month_day(found.norm("value"))
    if value is None:
        return None
    kinds = kinds_of(found.seen)
    wrong = (
        "correction" in kinds
        or re.search(r"(?<![a-z])not (?:the |on )?[a-z0-9]", found.text_behind()) is not None
    )
    return {"value": value, "intent": "correct" if wrong else "assert"}


_NO_JOB = re.compile(
    r"\A(?:bit|little|lot|fan|big fan|huge fan|mess|member|morning person|night owl|people person|beginner|newbie|noob|human|person|man|woman|"
    r"girl|guy|mother|father|mum|mom|dad|parent|friend|vegan|vegetarian|pescatarian|idiot|fool|wreck|failure|genius|"
    r"picky|light|heavy|bad|good|slow|fast|visual|native|different|new|perfectionist|minimalist|believer|sucker|"
    r"cat person|dog person|grown|adult|couple|few|loser|winner|christian|muslim|hindu|buddhist|jew|atheist|candidate|"
    r"customer|user|client|regular|early|proud|total|complete|real|true|single|widow|bachelor)(?![a-z])"
)
_WORKER = re.compile(
    r"(?:er|or|ist|ian|ant|eer|ee|yst|ect|man|nurse|chef|cook|coach|pilot|clerk|nanny|judge|lawyer|vet|gp|pm|cto|ceo|cfo|"
    r"dba|sre|qa|dev|lead|officer|executive|intern|apprentice|student|teacher|tutor|guide|host|mechanic|professor|postdoc|"
    r"fellow|freelancer|artist|singer|model|agent|rep|pa|ta|fireman|plumber|surgeon|solicitor|barrister|mum|"
    r"undergrad|grad|major|analyst|scientist|specialist|manager)\Z"
)


@builder
def en_occupation(found: Found) -> Changes | None:
    """What somebody is by trade: a noun of an agent, and no mere trait."""
    said = found.words("value").strip(_EDGE)
    low = said.lower()
    head = re.split(r" (?:at|in|for|with|from|of|on|and|who|by) ", low)[0]
    if _NO_JOB.search(low) or not _WORKER.search(head):
        return None
    if re.search(r"student|undergrad|postdoc|phd|grad(?![a-z])|major\Z", head):
        return {"value": said, "content": f"The user is {_article(said)}{said}"}
    return {"value": said, "content": f"The user is {_article(said)}{said}", "intent": _intent(found)}


def _article(noun: str) -> str:
    return "an " if noun[:1].lower() in "aeio" else "a "


@builder
def en_described(found: Found) -> Changes | None:
    """What is said about oneself, in the third person."""
    said = in_third_person(tidy(found.words("value")))
    return {"content": _filled(found, value=said)} if len(said) > 1 else None


@builder
def en_list(found: Found) -> list[Changes] | None:
    """One candidate for each thing of an enumeration."""
    further = (
        re.search(r"(?<![a-z])(?:also|too|as well|another|besides|second|third|plus)(?![a-z])", found.text)
        is not None
    )
    parts = _parts(found.plain("value"))
    return [
        {
            "value": part,
            "content": _filled(found, value=part),
            "intent": "add" if further else found.rule.intent,
        }
        for part in parts
    ] or None


_LIST_TAIL = re.compile(
    r"\s+(?:fluently|too|as well|well|also|natively|at home|a bit|a little|badly|please|pls|btw|though|tho|"
    r"so much|a lot|very much|the most|more than anything|at all|in general|actually|really|tbh|honestly|lol|haha)\Z",
    re.I,
)
_LIST_HEAD = re.compile(
    r"\A(?:a (?:bit|little|lot) of|some|both|fluent|basic|any|all|the|my|eating|drinking)\s+", re.I
)


def _parts(value: str) -> list[str]:
    """The things that commas, "and" and "or" join; a long phrase stays whole."""
    pieces = [piece for piece in re.split(r",|;|/| and | or | & ", value) if piece.strip()]
    if any(len(piece.split()) > 4 for piece in pieces):
        pieces = [value]
    return [bare for piece in pieces if (bare := _bare(piece))]


def _bare(piece: str) -> str:
    said = piece.strip(_EDGE)
    for _ in range(3):
        said = _LIST_TAIL.sub("", said).strip(_EDGE)
    return re.sub(r"\A(?:and|or|also|then)\s+", "", _LIST_HEAD.sub("", said))


_NO_TASTE = re.compile(
    r"\A(?:it|that|this|these|those|you|your|him|her|them|me|myself|everything|anything|nothing|today|tonight|how|"
    r"what|when|where|being (?:me|called)|my life|my job|my boss|work(?:ing)? today|mondays?\Z|the (?:way|idea|first|second|third|last|new|answer|version|one|draft)|to\Z|all of (?:it|this|that)|"
    r"both|one|seeing|hearing|some help|help|a (?:hand|quick|table|list|summary|few|copy|refund)|if|for|go|get(?:ting)?|making sure)(?![a-z])"
)
_PASSING = re.compile(
    r"(?<![a-z])(?:today|tonight|this (?:one|time|morning|week|answer|version|draft|song|episode)|yesterday|last night|"
    r"that (?:one|podcast|song|film|movie|book|recipe|idea|place|restaurant)|you (?:found|wrote|made|gave|suggested|recommended|sent|said|did))(?![a-z])"
)


@builder
def en_taste(found: Found) -> list[Changes] | None:
    """One taste for each thing; praise or blame of what is at hand is none."""
    said = found.words("value").strip(_EDGE)
    if not said or _NO_TASTE.search(said.lower()) or _PASSING.search(found.clause.text):
        return None
    verb = found.words("verb").lower().replace("’", "'")
    negative = found.rule.polarity == "negative"
    phrase = _attitude(verb, negative)
    further = re.search(r"(?<![a-z])(?:also|too|as well)(?![a-z])", found.clause.text) is not None
    return [
        {
            "value": part,
            "content": f"The user {phrase} {part}",
            "intent": _intent(found, further=further),
            "attribute": "hobby" if not negative and _is_doing(part) else "taste",
        }
        for part in _parts(said)
    ] or None


def _attitude(verb: str, negative: bool) -> str:
    if not negative:
        return "loves" if re.search(r"love|adore|obsessed|crazy", verb) else "likes"
    if re.search(r"stand|bear|stomach|abide", verb):
        return "can't stand"
    if re.search(r"hate|loathe|detest|despise", verb):
        return "hates"
    if re.search(r"allerg|avoid", verb):
        return "avoids"
    return "doesn't like"


def _is_doing(thing: str) -> bool:
    return re.match(r"(?:to [a-z]+|[a-z]{3,}ing)(?![a-z])", thing.lower()) is not None


@builder
def en_abstains(found: Found) -> list[Changes] | None:
    """What is never eaten, drunk or smoked."""
    said = found.words("value").strip(_EDGE) or found.words("verb")
    if _NO_TASTE.search(said.lower()) or re.match(
        r"(?:enough|much|well|out|lunch|breakfast|dinner|until|before|after|that)(?![a-z])", said.lower()
    ):
        return None
    verb = re.sub(r"(?:k|t)ing\Z", lambda m: m.group()[0], found.norm("verb"))
    verb = "smoke" if verb == "smok" else verb
    said = found.words("value").strip(_EDGE) or verb
    return [
        {
            "value": part,
            "content": f"The user doesn't {verb} {part}"
            if part.lower() != verb
            else f"The user doesn't {verb}",
            "intent": "change" if found.norm("verb").endswith("ing") else _intent(found),
        }
        for part in _parts(said)
    ] or None


@builder
def en_pet(found: Found) -> Changes | None:
    """The pet's name is its value, also when the next sentence tells it; without a name its kind is."""
    said = found.words("kind").strip()
    kind = re.sub(r"\A(?:(?:an?|second|third|another|new|two|three|little)\s+)+", "", said, flags=re.I)
    called = found.plain("value") or _name_behind(found)
    further = re.search(r"(?<![a-z])(?:second|third|another|also|too|new)(?![a-z])", found.clause.text) is not None
    if _NO_PET_NAME.match(called.lower()):
        return None
    have = kind if kind.lower().endswith("s") else f"{_article(kind)}{kind}"
    content = f"The user has {have} called {called}" if called else f"The user has {have}"
    return {"value": called or kind, "content": content, "intent": "add" if further else "assert"}


_NO_PET_NAME = re.compile(r"(?:an?|the|so|very|my|is|not|it|sick|dying|cute|sleeping|asleep|barking|old|ill)\Z")


def _name_behind(found: Found) -> str:
    """A name that the words behind tell: "her name is Waffles"."""
    end = found.base + found.match.end()
    rest = found.reading.parts.norm.text[end : end + 60]
    match = re.search(
        r"\A[^a-z]{0,4}(?:(?:his|her|its|their|the dog's|the cat's) name(?:['’]?s| is)|(?:(?:he|she|it|we)(?:['’]?s)? )?(?:is )?(?:call(?:ed)?|named)(?: (?:him|her|it))?) (?P<name>[a-zà-ÿ'’-]{2,20})",
        rest,
    )
    if match is None:
        return ""
    start, stop = match.span("name")
    return found.reading.original(end + start, end + stop)


@builder
def en_household(found: Found) -> Changes | None:
    """Partners and children have attributes of their own; the words about them are kept whole."""
    who = found.norm("who")
    child = (
        re.search(r"daughter|son|kid|child|baby|toddler|twins|little one|eldest|youngest", who) is not None
    )
    said = in_third_person(tidy(found.words("value")))
    name = found.words("name")
    subject = f"{found.words('who')} {name}".strip()
    content = f"The user's {subject} {said}".strip() if said else f"The user has {_article(who)}{who}"
    return {
        "attribute": "child" if child else "partner",
        "value": f"{subject} {said}".strip(),
        "content": content,
    }


@builder
def en_allergy(found: Found) -> list[Changes] | None:
    """Several substances are several facts; figures of speech are none."""
    value = found.plain("value")
    if re.search(
        r"(?<![a-z])(?:mondays?|work|you|stupidity|bullshit|that|this|it|meetings?|people|early)(?![a-z])",
        value.lower(),
    ):
        return None
    further = re.search(r"(?<![a-z])(?:also|too|as well)(?![a-z])", found.clause.text) is not None
    return [
        {"value": part, "content": _filled(found, value=part), "intent": "add" if further else "assert"}
        for part in _parts(value)
    ] or None


@builder
def en_name(found: Found) -> Changes | None:
    """A name that follows a greeting is written with a capital, and is no nationality or mood."""
    value = found.plain("value").strip(_EDGE)
    if not 1 < len(value) <= 40:
        return None
    if "name" not in found.match.group() and (
        value[:1].islower() or re.search(r"(?:ish|ese|ian|ican|an|new|here|sorry)\Z", value.lower())
    ):
        return None
    return {"value": value, "content": _filled(found, value=value)}


@builder
def en_address(found: Found) -> Changes | None:
    """A form of address is short, and no "call me later"."""
    value = re.sub(r"\A[\"“'‘]|[\"”'’]\Z", "", found.plain("value").strip(_EDGE)).strip(_EDGE)
    if re.match(
        r"(?:later|back|when|if|an?\Z|a cab|the|out|up|in|at|on|tomorrow|tonight|now|asap|crazy|old|stupid|paranoid|whatever|after|before|again|please|anytime|maybe|weird|picky|during|names)(?![a-z])",
        value.lower(),
    ):
        return None
    if not 1 <= len(value) <= 24:
        return None
    return {"value": value, "content": _filled(found, value=value)}


@builder
def en_topic(found: Found) -> Changes | None:
    """What is not to be spoken of; a pronoun names nothing."""
    said = tidy(found.words("value"))
    low = said.lower()
    if task_named(found) == "writing" and re.search(r" (?:in|on|for) ", found.text):
        return None
    if (
        len(low) < 3
        or len(said) > 60
        or re.match(
            r"(?:it|that|this|these|those|them|him|her|what|how|why|anything|everything|stuff|things)(?![a-z])",
            low,
        )
    ):
        return None
    return {"value": in_third_person(said), "content": _filled(found, value=in_third_person(said))}


@builder
def en_own(found: Found) -> Changes | None:
    """Content in the user's own words, fillers at the edges left out; Chinese sentences are not read."""
    if re.search("[\u4e00-\u9fff]", found.spoken.sentence.text):
        return None
    said = tidy(found.words("value"))
    return {"value": None, "content": _filled(found, value=said)} if len(said) > 2 else None


_VERBS = (
    r"use|keep|make|write|put|give|add|avoid|leave|stop|skip|start|end|lead|open|close|include|exclude|show|explain|answer|reply|respond|"
    r"talk|speak|call|ask|tell|format|list|quote|cite|translate|convert|round|sign|begin|finish|mention|suggest|recommend|send|remind|message|"
    r"book|choose|pick|prefer|check|test|run|comment|name|sort|order|summari[sz]e|shorten|remember|assume|treat|be|do|say|spell|stick|refer|address|"
    r"filter|look|search|find|offer|get|go|try|let|wait|focus|provide|present|structure|limit|cap|drop|bold|capitali[sz]e|number|link|review|"
    r"double-check|doublecheck|prioriti[sz]e|respect|break|default|label|tag|split|cut|attach|have|return|point|challenge|correct|push|wrap|phrase|word|read"
)
_TO_DO = re.compile(
    rf"(?:\A|(?<=[,;:] )|(?<= and )|(?<= then )|(?<= so )|(?<= to ))(?:(?:please|pls|plz|just|only|always|never|kindly|then|also|ever|simply|do|try to|make sure to|make sure you|remember to|be sure to) )*"
    rf"(?:(?:don['’]?t|do not|never|always|stop|quit|avoid|no need to)(?: (?:ever|please|just|always))* )?(?:{_VERBS})(?![a-z'’])|"
    r"\A(?:(?:please|pls) )?(?:no|never|always|only|don['’]?t|do not|stop|without|avoid|zero|less|more|fewer) [a-z]|"
    r"(?<![a-z])(?:you|it|they|reports?|emails?|answers?|replies|code|everything|summaries|posts?|docs|[a-z]+s) (?:should|must|needs? to|have to|has to|ought to|can(?:not|['’]?t)? be)(?![a-z])|"
    r"(?<![a-z])(?:should|must) (?:be|lead|have|start|use|include|end|come|go|contain|open|follow|never|always|not|stay)(?![a-z])|"
    r"(?<![a-z])i(?:['’]?d| would)?(?: (?:always|really|generally|much|strongly|also|still|usually))* (?:want|prefer|like|expect|need|love|appreciate|rather)(?![a-z])"
)
_WHEN_THEN = re.compile(
    rf"\A(?:(?:and|please|pls) )?(?:whenever|every time|everytime|each time|any ?time|when|if) (?:i|you|we) [a-z]+ [^,]*"
    rf"(?<! i)(?<! you)(?<! we)(?<! to)(?<! a)(?<! an)(?<! the)(?<! my)(?<! your)(?<! for)(?<! about)(?<! of)(?<! in) (?:{_VERBS})(?![a-z'’])"
)
_ONESELF = re.compile(
    r"(?<![a-z])(?:i|we)(?:['’](?:m|ve|ll|re)|m|ve)?(?: (?:always|never|usually|just|really|generally|still|also|don['’]?t|can['’]?t|have|will|would))* "
    r"(?!always|never|usually|just|really|generally|still|also|don|can['’]?t|have (?!to)|will|want|prefer|like|expect|need|love|appreciate|rather|ask|say|send|paste|share|mention|talk|type|write you|request|['’]|would|wouldn|dont|don|d )[a-z]+"
)
_ANSWERING = re.compile(
    r"(?<![a-z])(?:answers?|repl(?:y|ies)|respon[ds]e?s?|explain(?:ing)?|explanations?|messages?|tone|speak|talk|emojis?|concise|brief|verbose|jargon|"
    r"apologi[sz](?:e|ing)|disclaimers?|small talk|flattery|examples?|bullet points|paragraphs?|sentences?|chat(?:ting)?|conversation|in (?:english|spanish|french|german|chinese|japanese|portuguese|italian|dutch|korean)|blunt|direct|honest|sugarcoat|sugar-coat|humou?r|jokes?|formal|casual|questions?|tl;?dr|summary first|conclusion first|answer first|step by step|lecture|preach)(?![a-z])"
)


@builder
def en_order(found: Found) -> Changes | None:
    """A standing order: about answers, about one family of tasks, or in general."""
    sentence = found.spoken.sentence
    order = _TO_DO.search(tidy(found.text)) or _TO_DO.search(tidy(sentence.text)) or _WHEN_THEN.match(sentence.text)
    if order is None or _tells_of_oneself(found):
        return None
    said = tidy(trimmed_of(found, sentence.start, sentence.end))
    said = _without_remarks(said)
    if len(said) < 5:
        return None
    everything = "everything" in kinds_of(found.seen)
    family = task_named(found)
    draft: dict[str, Any] = {"value": None, "content": said}
    if family is not None and not everything:
        return draft | {"family": family, "kind": "preference", "attribute": "instruction"}
    if everything or _ANSWERING.search(sentence.text):
        return draft | {"kind": "style", "attribute": "answer_style", "category": "conversation_style"}
    return draft | {"kind": "preference", "attribute": "instruction"}


def task_named(found: Found) -> str | None:
    """The family of tasks of which the sentence speaks ("in my reports"), not merely of a word for one."""
    text = found.spoken.sentence.text
    for name, start, end in families_in(text):
        rest = re.match(r"[a-z]*", text[end:])
        end += rest.end() if rest else 0
        if _OF_TASKS.search(text[:start]) or _TASKS_DO.match(text, end) or text[start:end] in _ACTS:
            return name
    return None


_TASKS_DO = re.compile(
    r" (?:should|must|needs?|have to|has to|are to|always|never|(?:that )?you (?:write|draft|make|send|book))(?![a-z])"
)
_ACTS = frozenset(
    {"book", "booking", "translate", "translating", "coding", "writing", "cooking", "debugging"}
)
_OF_TASKS = re.compile(
    r"(?<![a-z])(?:(?:in|for|on|of|to|about|when) |(?:my|our|your|all|every|any|future|each) |"
    r"(?:writ(?:e|ing)|draft(?:ing)?|book(?:ing)?|review(?:ing)?|send(?:ing)?|prepar(?:e|ing)|plan(?:ning)?|do(?:ing)?|find(?:ing)?|search(?:ing)?) )"
    r"(?:(?:all|every|any|each|my|our|the|an?|new|future|work|client|of|you|me|i|up|for|write|writing|draft|drafting|book|booking|status|weekly|monthly|english) ){0,3}(?:[a-z-]+ )?\Z"
)


def _tells_of_oneself(found: Found) -> bool:
    """Whether the sentence tells what the user does, and orders nothing."""
    text = re.sub(
        r"(?<![a-z])(?:when(?:ever)?|if|every time|each time|because|since|as|what|the way|that) (?:i|we)(?:['’]m|['’]ve|m)?(?![a-z])[^,]*",
        " ",
        found.spoken.sentence.text,
    )
    main = re.sub(
        r"\A(?:(?:from now on|going forward|in (?:the )?future|generally|always|also|and|please|pls|ok|so)[, ]+)+",
        "",
        text,
    )
    match = _ONESELF.search(main)
    return match is not None and match.start() < 2


_REMARK = re.compile(
    r"[,;]\s+(?:(?:because|since|cause|cuz|bc|it['’]?s|its|that['’]?s|i['’]?m|im|i am|i (?:hate|can['’]?t|don['’]?t|always)|they|my (?:boss|prof|eyes)|ok\??|okay\??|thanks|thx|"
    r"ty|lol|haha|it|that)(?![A-Za-z])).*\Z",
    re.I,
)


def _without_remarks(said: str) -> str:
    short = _REMARK.sub("", said).strip(_EDGE)
    return short if len(short) > 8 else said


@builder
def en_constraint(found: Found) -> Changes | None:
    """A condition on the artefact in hand, in the user's own words."""
    sentence = found.spoken.sentence
    if sentence.question and found.clause.question:
        return None
    said = _without_remarks(tidy(trimmed_of(found, sentence.start, sentence.end)))
    return {"value": None, "content": said, "family": None} if len(said) > 4 else None


def _until(found: Found) -> dict[str, Any] | None:
    end = found.reading.end_named_in(found.spoken)
    if end is None:
        return None
    said = found.reading.original(found.spoken.sentence.start, found.spoken.sentence.end)
    return {"time": TimeFrame(end=end.end, words=said[end.span_start : end.span_end])}


@builder
def en_dated_stay(found: Found) -> Changes | None:
    """A stay with its end; the town where the user lives is left alone."""
    until = _until(found)
    value = found.plain("value").strip(" .")
    if until is None or _NO_PLACE.search(value.lower()):
        return None
    return {**until, "value": value, "content": f"The user is staying in {value} {until['time'].words}"}


@builder
def en_dated_words(found: Found) -> Changes | None:
    """The user's words with the day up to which they hold."""
    until = _until(found)
    if until is None:
        return None
    said = tidy(trimmed_of(found, found.spoken.sentence.start, found.spoken.sentence.end))
    return {**until, "value": None, "content": said}


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


@builder
def en_target(found: Found) -> Changes | None:
    """What is to be forgotten, without the words around it; a pronoun names nothing."""
    said = re.sub(
        r"\A(?:that|the fact that|about|what i (?:said|told you) about|whatever you (?:have|know) about|everything (?:you know )?about|the (?:rule|thing|bit|part|note|memory|instruction|preference) (?:about|that|where)|the (?=[a-z]+ (?:thing|rule)))\s+",
        "",
        found.words("target"),
        flags=re.I,
    )
    said = re.sub(
        r"\s+(?:thing|rule|instruction|preference|bit|stuff|part|note|please|pls|entirely|completely|again)\Z",
        "",
        said.strip(_EDGE),
        flags=re.I,
    )
    low = said.lower()
    if (
        len(low) < 2
        or re.match(
            r"(?:it|that|this|those|these|them|what you said|my keys|my password|to )(?![a-z])\s*\Z", low
        )
        or re.match(
            r"(?:to|how|my keys|line|lines|row|column|paragraph|sentence|file|word|section|slide|comma)(?![a-z])",
            low,
        )
    ):
        return None
    return {"value": None, "target_words": said, "content": _filled(found, target=in_third_person(said))}


_HINT_KEYS = (
    (r"bullet|point form", "bullet points"),
    (r"table|tabular", "table"),
    (r"numbered", "numbered list"),
)


@builder
def en_hint(found: Found) -> Changes | None:
    """What is wished, folded to a key that other wordings of the same wish share."""
    value = re.sub(
        r"\A(?:a|an|the|some|any|good|nice|decent|proper)\s+",
        "",
        found.plain("value").strip(_EDGE),
        flags=re.I,
    )
    low = value.lower()
    if len(low) < 3 or re.match(
        r"(?:you|me|it|this|that|them|look|friend|friends|question|problem|bug|few|more|less|lot|bit|my|your|his|her|paragraph|chapter|error|help|hand)(?![a-z])",
        low,
    ):
        return None
    key = next((name for pattern, name in _HINT_KEYS if re.search(pattern, low)), low)
    return {
        "value": key,
        "hint_key": fold_for_comparison(key),
        "content": f"The user may prefer: {key}",
    }


@builder
def en_project(found: Found) -> Changes | None:
    """A plain fact about the project in hand, in the user's own words."""
    sentence = found.spoken.sentence
    said = tidy(trimmed_of(found, sentence.start, sentence.end))
    return {"value": None, "content": said} if len(said) > 4 else None


@builder
def en_release(found: Found) -> Changes | None:
    """The day of a release or deadline, as a date where the clock settles it."""
    times = found.times(found.words("value"))
    if not times or times[0].start is None:
        return None
    what = found.norm("what")
    due = re.search(r"deadline|due", found.match.group()) is not None
    return {
        "attribute": "deadline" if due else "release_date",
        "value": times[0].start.date().isoformat(),
        "content": f"{what.capitalize()}: {found.words('value')}",
        "intent": "change"
        if re.search(r"(?<![a-z])(?:now|moved|slipped|pushed|postponed|instead|changed)(?![a-z])", found.text)
        else "assert",
    }


@builder
def en_manager(found: Found) -> Changes | None:
    """Somebody's name; since when they are it, where that is said."""
    value = found.plain("value").strip(_EDGE)
    if (
        not value
        or found.words("value")[:1].islower()
        or value.lower() in ("that", "this", "he", "she", "who", "it", "everyone")
    ):
        return None
    times = found.times(trimmed_of(found, found.spoken.sentence.start, found.spoken.sentence.end))
    since = next(
        (one for one in times if one.start is not None and one.bound in ("from", "point", "span")), None
    )
    new = re.search(r"(?<![a-z])(?:new|now|since|as of|instead)(?![a-z])", found.text) is not None
    changes: dict[str, Any] = {
        "value": value,
        "content": f"The user's manager is {value}",
        "intent": "change" if new else "assert",
    }
    if (
        since is not None
        and since.start is not None
        and re.search(r"(?<![a-z])(?:since|as of|from)(?![a-z])", found.text)
    ):
        changes["time"] = TimeFrame(start=since.start, words=found.words("value"))
    return changes


@builder
def en_system(found: Found) -> Changes:
    """The device or system; phones are another attribute; a former one that is denied is a correction."""
    value = found.plain("value")
    phone = re.search(r"android|iphone|ios|pixel|galaxy", value.lower()) is not None
    changes: dict[str, Any] = {
        "attribute": "phone" if phone else "os",
        "value": value,
        "intent": _intent(found),
    }
    if found.has("former"):
        changes |= {"intent": "correct", "former_value": found.plain("former")}
    return changes


@builder
def en_other_person(found: Found) -> Changes | None:
    """What somebody else does in what is being worked on: about them, and kept only if they are known."""
    who = found.words("who")
    if not who[:1].isupper() or who.lower() in (
        "she",
        "he",
        "they",
        "who",
        "this",
        "that",
        "it",
        "everyone",
        "somebody",
    ):
        return None
    said = trimmed_of(found, found.base + found.match.start(), found.base + found.match.end())
    start, end = found.reading.parts.norm.span(
        found.base + found.match.start("who"), found.base + found.match.end("who")
    )
    known = any(who.casefold() in content.casefold() for content in found.prepared.known)
    if known or found.holds("project_in_hand"):
        kind = found.rule.kind if known else "project_fact"
        return {"kind": kind, "subject": who, "value": None, "content": said}
    mark = Signal(kind="third_party", text=found.prepared.text[start:end], start=start, end=end, value=who)
    return {"subject": who, "value": None, "content": said, "extra_signals": (mark,)}


# --- corrections of what was said before -------------------------------------------------------------


@builder
def en_meant(found: Found) -> Changes | None:
    """As "I meant X" says: the same thing as in the turn before, with X in its place."""
    said = tidy(found.words("value"))
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


def _replaced(content: str, former: str, instead: str) -> str | None:
    at = content.casefold().find(former.casefold())
    if at < 0 or not former:
        return None
    behind = content[at + len(former) :]
    last = instead.rpartition(" ")[2]
    if " " in instead and behind.strip().casefold().startswith(last.casefold()):
        behind = behind.strip()[len(last) :]
    return f"{content[:at]}{instead}{behind}"


@builder
def en_not_but(found: Found) -> Changes | None:
    """As "X, not Y" says: what is remembered with Y was X; said again of what is remembered with X."""
    right, wrong = found.words("value").strip(_EDGE), found.words("former").strip(_EDGE)
    for content in found.prepared.known:
        corrected = _replaced(content, wrong, right)
        if corrected is not None:
            return {"value": None, "content": corrected, "former_value": wrong, "target_words": content}
        if right.casefold() in content.casefold():
            return {"value": None, "content": content, "former_value": None, "intent": "assert"}
    return None


# --- more about the person ---------------------------------------------------------------------------


@builder
def en_described_end(found: Found) -> Changes:
    """What ends, in the third person."""
    target = found.words("target").strip(_EDGE)
    return {"value": None, "target_words": target, "content": _filled(found, target=in_third_person(target))}


@builder
def en_work_place(found: Found) -> Changes | None:
    """Refuse lines of business: "I work in finance" names no town, which a capital letter would tell."""
    value = found.plain("value").strip(" .,'’")
    if _NO_PLACE.search(value.lower()) or not value[:1].isupper():
        return None
    return {"value": value, "content": _filled(found, value=value), "intent": _intent(found)}


@builder
def en_employer(found: Found) -> Changes | None:
    """A name is written with a capital or a digit in it."""
    value = found.plain("value").strip(" .,'’")
    if not any(ch.isupper() or ch.isdigit() for ch in value):
        return None
    return {"value": value, "content": _filled(found, value=value), "intent": _intent(found)}


_THIRD = {"teach": "teaches", "work": "works", "run": "runs", "manage": "manages", "own": "owns"}


@builder
def en_does(found: Found) -> Changes | None:
    """An activity as work, the verb in the third person."""
    verb, _, rest = found.words("value").strip(_EDGE).partition(" ")
    low = verb.lower()
    if (
        low
        in ("do", "ask", "need", "have", "am", "just", "can", "want", "know", "like", "get", "see", "think")
        or not rest
    ):
        return None
    third = _THIRD.get(low) or (f"{low}es" if low.endswith(("ch", "sh", "s", "x")) else f"{low}s")
    said = f"{third} {in_third_person(rest)}"
    return {"value": f"{verb} {rest}", "content": _filled(found, value=said)}


@builder
def en_health(found: Found) -> Changes:
    """A condition, in the third person, with the clause behind that tells what it means."""
    said = in_third_person(found.words("value").strip(_EDGE))
    verb = (
        "is"
        if re.match(
            r"(?:partially|legally|completely|almost|red[-/ ]green|deaf|blind|colou?r|hard of|diabetic|prediabetic|type [12] diabetic|asthmatic|dyslexic|epileptic|autistic|pregnant|celiac\Z|coeliac\Z|anemic|anaemic|in a|a? ?wheelchair|hypertensive|visually|hearing impaired|bipolar|recovering)",
            said.lower(),
        )
        else "has"
    )
    if re.match(r"(?:had|tore|broke|injured)(?![a-z])", said.lower()):
        verb = ""
    said = re.sub(r"\Amy ", "", said)
    content = f"{verb} {said}".strip()
    behind = re.match(r",? (?:so|which means) ([^.!?;]{3,60})", found.text_behind())
    if behind and not re.search(r"(?<![a-z])(?:you|can you|please|pls|watch|don['’]?t|never|keep|use|avoid|suggest|give|make|remember)(?![a-z])", behind.group(1).lower()):
        content = f"{content}, so {in_third_person(behind.group(1))}"
    return {"content": _filled(found, value=content)}


@builder
def mixed_place(found: Found) -> Changes | None:
    """A town in either script; a move makes it a change."""
    value = found.plain("value").strip(" .")
    if len(value) < 2 or _NO_PLACE.search(value.lower()) or re.match(r"公司|家|这|那|学校|新|楼", value):
        return None
    moved = re.search(r"move|relocat|搬", found.match.group()) is not None
    return {"value": value, "intent": "change" if moved else "assert"}


@builder
def en_single(found: Found) -> Changes:
    """One value of a kind of which there is one at a time; words of change make it a change."""
    return {"intent": _intent(found)}


@builder
def en_exam(found: Found) -> Changes:
    """The day itself where the words and the clock settle it, else what was said."""
    said = found.words("value")
    times = found.times(said)
    day = times[0].start.date().isoformat() if times and times[0].start else month_day(said)
    return {
        "value": day or found.plain("value"),
        "content": f"{found.words('exam')} on {said}",
        "intent": _intent(found),
    }


@builder
def en_favorite(found: Found) -> Changes | None:
    """The favourite, with the kind of which it is one."""
    value, kind = found.words("value").strip(_EDGE), found.words("kind")
    if len(value) < 2 or re.match(r"(?:being|getting|waiting|when|not|that|so)(?![a-z])", value.lower()):
        return None
    bare = _bare(value)
    return {"value": bare, "content": f"The user's favourite {kind or 'thing'} is {bare}"}


@builder
def en_likes(found: Found) -> list[Changes] | None:
    """As for dislikes, but wishes about answers and about the task in hand are no tastes."""
    if re.search(
        r"(?<![a-z])(?:answers?|repl(?:y|ies)|responses?|explanations?|your|tone)(?![a-z])", found.clause.text
    ):
        return None
    return en_taste(found)  # type: ignore[return-value]


@builder
def en_hobby(found: Found) -> Changes:
    """An activity in the user's words, the verb in the third person."""
    said = found.words("value").strip(_EDGE)
    return {"value": said, "content": _filled(found, value=in_third_person(said))}


@builder
def en_described_user(found: Found) -> Changes:
    """A trait or a habit of the user's."""
    said = in_third_person(found.words("value").strip(_EDGE))
    is_trait = (
        re.match(r"(?:an? |night|early|morning|intro|extro|left|perfect|light|slow|visual)", said.lower())
        is not None
    )
    return {"content": _filled(found, value=f"is {said}" if is_trait else said)}


@builder
def en_relation(found: Found) -> Changes | None:
    """The wished relationship in the user's own words."""
    said = in_third_person(tidy(found.words("value")))
    return {"value": None, "content": _filled(found, value=said)} if len(said) > 4 else None


@builder
def en_style(found: Found) -> Changes | None:
    """A manner of answering in the user's own words; what is about tasks of one kind is none."""
    return None if task_named(found) else en_own(found)  # type: ignore[return-value]
