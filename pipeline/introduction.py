"""Where the text begins that a message introduces: behind "translate this:", behind the head of a mail.

What follows a word such as "translate", a heading, a notice or a forged role is not the user speaking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .material_words import material_words
from .quotation import LONGEST, QUOTE, QUOTES, enclosed
from .sought import Pieces

SENTENCE_ENDS = re.compile(r"[。!?\n;]|\.(?=\s|\Z)")
_LONG = 14  # code points before "translate the above", at least
_BACK = 120  # code points that are looked back over for the beginning of a sentence
_COLON_OR_LINE = re.compile(r"(?:(?!\. )[^\n。!?]){0,60}?(?::|\n)")
_COLON_OR_ANY_LINE = re.compile(r"(?:(?!\. )[^\n。!?]){0,60}?:|[^\n]{0,120}\n")
_NEXT_LINE = re.compile(r"[^\n]{0,120}\n")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_SPACE = re.compile(r"\s*")


def reported_in(text: str, pieces: Pieces) -> list[tuple[int, int]]:
    """Text before "translate the above", what somebody else says, and wording that is worked on."""
    words = material_words()
    back = words.one["points_back"].search(text, pieces)
    if back is not None and back.start() > _LONG:
        return [(0, back.start())]
    told = [(match.start(), len(text)) for match in words.one["cut_off"].finditer(text, pieces)]
    for match in words.one["tells"].finditer(text, pieces):
        ends = SENTENCE_ENDS.search(text, match.end())
        told.append((match.start(), ends.start() if ends else len(text)))
    for sought, behind in ((words.one["worked_on"], True), (words.one["rendered"], False)):
        for match in sought.finditer(text, pieces):
            if not _is_standing(text, match.start(), match.end()):
                told.append((match.end(), len(text)) if behind else match.span())
    return told


def introduced_in(text: str, pieces: Pieces) -> Iterator[tuple[int, int]]:
    """Text behind "translate this:", or before a question about it on the last line."""
    words = material_words()
    about = words.one["asks_about"].search(text, pieces) if "\n" in text else None
    if about is not None and about.start() > _LONG:
        yield 0, about.start()
    ways = [(words.each["introduces"], _COLON_OR_LINE), (words.each["headings"], _COLON_OR_LINE)]
    ways.append((words.each["requests"], _COLON_OR_ANY_LINE))
    if "\n" in text:
        ways.append((words.each["requests_above"], _NEXT_LINE))
    for patterns_of_a_way, way in ways:
        for match in patterns_of_a_way.finditer(text, pieces):
            behind = way.match(text, match.end())
            if behind is None or _is_standing(text, match.start(), behind.end()):
                continue
            body = _body(text, behind.end(), len(text))
            if body is not None:
                yield body


def _is_standing(text: str, start: int, end: int) -> bool:
    """Whether a request is one for every such text, and what follows says how: "when you translate: ..."."""
    begins = sentence_start(text, start)
    return material_words().one["standing"].pattern.search(text, begins, end) is not None


def sentence_start(text: str, at: int) -> int:
    """Where the sentence around a place begins; not further back than a sentence goes."""
    ends = [match.end() for match in SENTENCE_ENDS.finditer(text, max(0, at - _BACK), at)]
    return ends[-1] if ends else max(0, at - _BACK)


def _body(text: str, at: int, end: int) -> tuple[int, int] | None:
    """The text that is shown from a place on: a quotation, or all up to the end.

    None when there is none, or when its lines are marked as shown: then what follows them is the user's.
    """
    space = _SPACE.match(text, at)
    start = space.end() if space else at
    if start >= end or text.startswith(("```", "~~~", ">"), start):
        return None
    if text[start] in QUOTES:
        for quote in enclosed(text[start : start + LONGEST + 2], QUOTE, QUOTES):
            if quote[0] == 0:
                return start, start + quote[1]
            break
    return start, end


_LEAD_IN = re.compile(r"[^\n,。!?;:]{1,60}:\s*\Z")


def lead_in(text: str, at: int) -> int:
    """Where the clause begins that ends in a colon before a place; the place itself when none does.

    Before what is shown it says whose words follow, and nothing else.
    """
    before = _LEAD_IN.search(text, max(0, at - _BACK), at)
    return before.start() if before else at


def announced_in(text: str, pieces: Pieces) -> Iterator[tuple[int, int]]:
    """What speaks as an office, as somebody else, as the system, or as a mail."""
    words = material_words()
    for name in ("notices", "others"):
        for match in words.each[name].finditer(text, pieces):
            blank = _BLANK_LINE.search(text, match.end())
            body = _body(text, match.end(), blank.start() if blank else len(text))
            if body is not None:
                yield match.start(), body[1]
    for name in ("forged", "mail_heads"):
        found = words.one[name].search(text, pieces)
        if found is not None:
            yield found.start(), len(text)
