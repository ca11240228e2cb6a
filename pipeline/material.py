"""What a message only shows: code, quotations, documents, logs, and what is played.

None of it is the user speaking, so nothing in it is ever evidence. How it is introduced and what its lines
look like is data (`lexicon/material.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from .sought import Pieces, Sought

MaterialKind = Literal["code", "quote", "document", "log", "fiction"]


@dataclass(frozen=True, slots=True)
class Material:
    """A stretch that is shown, not said: half-open offsets into the normalised text."""

    start: int
    end: int
    kind: MaterialKind


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The compiled word lists of `lexicon/material.toml`."""

    introduces: Sought
    points_back: Sought
    fiction_starts: Sought
    fiction_ends: Sought
    lasting_role: Sought
    log_line: Sought


@cache
def _patterns() -> _Patterns:
    raw: dict[str, Any] = tomllib.loads(
        resources.files(__package__).joinpath("lexicon/material.toml").read_text("utf-8")
    )
    return _Patterns(**{name: Sought("|".join(raw[name]["patterns"])) for name in raw})


def material_in(text: str, pieces: Pieces, *, in_fiction: bool) -> tuple[Material, ...]:
    """What is only shown in a normalised text, in order, none overlapping.

    `in_fiction` says that a former turn began a play: all of the text is then fiction, unless it ends it.
    """
    if not text:
        return ()
    patterns = _patterns()
    found: list[Material] = [Material(*m.span(), "code") for m in _FENCE.finditer(text)]
    if "\n" in text:
        found += _json_blocks(text)
        found += [Material(*m.span(), "log") for m in _QUOTED_LINE.finditer(text)]
        found += [Material(*m.span(), "log") for m in patterns.log_line.finditer(text, pieces)]
    found += [Material(start, end, "quote") for start, end in _quotes(text, pieces)]
    headings = (span for span in _enclosed(text, _HEADING, _HEADINGS) if span[1] - span[0] > _SHORT_HEADING)
    found += [Material(*span, "document") for span in headings]
    found += [Material(*m.span(), "document") for m in _BRACKETS.finditer(text)]
    found += _introduced(text, pieces)
    fiction = 0 if in_fiction else starts_fiction(text, pieces)
    if fiction is not None and not (in_fiction and ends_fiction(text, pieces)):
        found.append(Material(fiction, len(text), "fiction"))
    return _merged(found)


def starts_fiction(text: str, pieces: Pieces) -> int | None:
    """Where the user begins to play somebody else; None when they do not."""
    patterns = _patterns()
    match = patterns.fiction_starts.search(text, pieces)
    if match is None or patterns.lasting_role.search(text, pieces):
        return None
    return match.start()


def ends_fiction(text: str, pieces: Pieces) -> bool:
    """Whether the text says that a play is over."""
    return _patterns().fiction_ends.search(text, pieces) is not None


_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_QUOTES = {"“": "”", "「": "」", "『": "』", '"': '"'}
_QUOTE = re.compile('[“「『"]')
_HEADINGS = {"【": "】"}
_HEADING = re.compile("【")
_SHORT_HEADING = 9  # code points, marks included; shorter ones are words that are set off
_ENCLOSED = 4_000  # code points between two such marks, at most
_BRACKETS = re.compile(r"\[(?:[^\[\]\n]{12,1000})\]")
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\+\+\+|---|@@).*$", re.M)
_SENTENCE_WITHIN = re.compile(r"[,.!?;:。]|我|你|(?<![a-z])(?:i|you|my)(?![a-z])")
_SPEAKS = re.compile(r"(?::|说|写道|says|reads|this|german|english)\s*\Z")
_SPEAKER_WITHIN = re.compile(r"我|(?<![a-z])(?:i|i'm|my)(?![a-z])")
_SHORT_QUOTE = 6  # with somebody who says "I" in it, a quotation is somebody's speech
_LONG_QUOTE = 14  # code points; shorter quotes are words that are talked about (sign off with "cheers")


def _json_blocks(text: str) -> list[Material]:
    """From a line that opens with a brace or bracket to the next line that begins by closing one."""
    blocks: list[Material] = []
    begun: int | None = None
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if begun is None and bare.startswith(("{", "[")) and not bare.endswith(("}", "]")):
            begun = at
        elif begun is not None and bare.startswith(("}", "]")):
            blocks.append(Material(begun, at + len(line.rstrip()), "log"))
            begun = None
        elif bare.startswith('{"') and bare.endswith("}"):
            blocks.append(Material(at, at + len(line.rstrip()), "log"))
        at += len(line)
    return blocks


def _quotes(text: str, pieces: Pieces) -> list[tuple[int, int]]:
    """Quotations that somebody speaks in; a short quotation is a word that is talked about."""
    introduced = _patterns().introduces.search(text, pieces) is not None
    return [
        (start, end)
        for start, end in _enclosed(text, _QUOTE, _QUOTES)
        if (introduced and _SPEAKS.search(text, max(0, start - 16), start))
        or (end - start > _LONG_QUOTE and _SENTENCE_WITHIN.search(text, start, end))
        or (end - start > _SHORT_QUOTE and _SPEAKER_WITHIN.search(text, start, end))
    ]


def _enclosed(text: str, opening: re.Pattern[str], marks: Mapping[str, str]) -> Iterator[tuple[int, int]]:
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
        if close - start - 1 <= _ENCLOSED and (closed or (match.group() == "“" and close == len(text))):
            at = min(close + 1, len(text))
            yield start, at
        else:
            at = start + 1


_BEHIND = re.compile(r"[^\n。!?]{0,60}?(?::|\n)")


def _introduced(text: str, pieces: Pieces) -> list[Material]:
    """Text behind "translate this:", or before "translate the above"."""
    patterns = _patterns()
    back = patterns.points_back.search(text, pieces)
    if back is not None and back.start() > _LONG_QUOTE:
        return [Material(0, back.start(), "document")]
    for match in patterns.introduces.finditer(text, pieces):
        behind = _BEHIND.match(text, match.end())
        if behind is not None and text[behind.end() :].strip():
            return [Material(behind.end(), len(text), "document")]
    return []


def _merged(found: list[Material]) -> tuple[Material, ...]:
    """In order, overlapping ones melted into the first of them."""
    merged: list[Material] = []
    for part in sorted(found, key=lambda m: (m.start, -m.end)):
        if merged and part.start < merged[-1].end:
            if part.end > merged[-1].end:
                merged[-1] = Material(merged[-1].start, part.end, merged[-1].kind)
        else:
            merged.append(part)
    return tuple(merged)
