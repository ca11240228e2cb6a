"""Where somebody is quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .material_words import material_words
from .sought import Pieces

QUOTES = {"“": "”", "「": "」", "『": "』", '"': '"', "«": "»", "‘": "’"}
QUOTE = re.compile('[“「『"«‘]')
_APOSTROPHES = re.compile(r"(?<![\w'])'(?=\S)(?:[^'\n]|'(?=\w)){2,300}'(?!\w)")
LONGEST = 4_000  # code points between two such marks, at most
_SENTENCE_WITHIN = re.compile(r"[,.!?;:。]|我|你|(?<![a-z])(?:i|you|my)(?![a-z])")
_SPEAKS = re.compile(r"(?::|说|写道|says|reads|this|german|english)\s*\Z")
_SPEAKER_WITHIN = re.compile(r"我|(?<![a-z])(?:i|i'm|my)(?![a-z])")
_SHORT_QUOTE = 6  # with somebody who says "I" in it, a quotation is somebody's speech
_LONG_QUOTE = 14  # code points; shorter quotes are words that are talked about (sign off with "cheers")


def quotes_in(text: str, pieces: Pieces) -> list[tuple[int, int]]:
    """Quotations that somebody speaks in; a short quotation is a word that is talked about."""
    words = material_words()
    quotes = [*enclosed(text, QUOTE, QUOTES)]
    if "'" in text:
        quotes += [match.span() for match in _APOSTROPHES.finditer(text)]
    if not quotes:
        return quotes
    introduced = words.each["introduces"].stands_in(text, pieces)
    return [
        (start, end)
        for start, end in quotes
        if (introduced and _SPEAKS.search(text, max(0, start - 16), start))
        or words.one["reporters"].pattern.search(text, max(0, start - 12), start)
        or (end - start > _LONG_QUOTE and _SENTENCE_WITHIN.search(text, start, end))
        or (end - start > _SHORT_QUOTE and _SPEAKER_WITHIN.search(text, start, end))
        or text[start - 1 : start] == "="
        or words.one["orders"].search(text[start:end], pieces)
    ]


def enclosed(text: str, opening: re.Pattern[str], marks: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    """Stretches from an opening mark to the next closing one, marks included, none overlapping.

    A “ that nothing closes goes on to the end of the text. Each closing mark is looked for once, however
    many marks open before it.
    """
    closes: dict[str, int] = {}
    at = 0
    while (match := opening.search(text, at)) is not None:
        start, closing = match.start(), marks[match.group()]
        if closes.get(closing, 0) <= start:
            found = text.find(closing, start + 1)
            closes[closing] = found if found >= 0 else len(text)
        close = closes[closing]
        closed = close < len(text) and (closing != match.group() or close > start + 1)
        if close - start - 1 <= LONGEST and (closed or (match.group() == "“" and close == len(text))):
            at = min(close + 1, len(text))
            yield start, at
        else:
            at = start + 1
