"""What a message only shows: code, quotations, documents, logs, and what is played.

None of it is the user speaking, so nothing in it is ever evidence. How it is introduced and what its lines
look like is data (`lexicon/material.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from .layout import Shapes, blocks_in, code_in, lines_of, transcript_in
from .markup import markup_in
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

    introduces: Sequence[Sought]
    requests: Sequence[Sought]
    requests_above: Sequence[Sought]
    headings: Sequence[Sought]
    notices: Sequence[Sought]
    others: Sequence[Sought]
    tells: Sought
    worked_on: Sought
    rendered: Sought
    forged: Sought
    rails: Sought
    foreign: Sought
    own: Sought
    own_beside: Sought
    introducing: Sought
    wishes: Sought
    reporters: Sought
    mail_heads: Sought
    standing: Sought
    points_back: Sought
    asks_about: Sought
    orders: Sought
    fiction_starts: Sought
    fiction_ends: Sought
    lasting_role: Sought
    log_line: Sought
    shapes: Shapes


@cache
def _patterns() -> _Patterns:
    raw: dict[str, Any] = tomllib.loads(
        resources.files(__package__).joinpath("lexicon/material.toml").read_text("utf-8")
    )
    lists = raw.pop("lists")
    filled = {name: [_filled(one, lists) for one in part["patterns"]] for name, part in raw.items()}
    shapes = {name: re.compile("|".join(filled.pop(f"{name}_lines"))) for name in ("code", "begins", "ends")}
    speakers = re.compile("|".join(filled.pop("speakers")))
    several = {name: [Sought(one) for one in filled.pop(name)] for name in _SEVERAL}
    sought = {name: Sought("|".join(patterns)) for name, patterns in filled.items()}
    return _Patterns(**several, **sought, shapes=Shapes(**shapes, speakers=speakers))


_SEVERAL = ("introduces", "requests", "requests_above", "headings", "notices", "others")
"""Lists whose patterns are tried one by one."""


def _filled(pattern: str, lists: Mapping[str, str]) -> str:
    for name, words in lists.items():
        pattern = pattern.replace(f"<{name}>", f"(?:{words})")
    return pattern


def material_in(text: str, pieces: Pieces, *, in_fiction: bool) -> tuple[Material, ...]:
    """What is only shown in a normalised text, in order, none overlapping.

    `in_fiction` says that a former turn began a play: all of the text is then fiction, unless it ends it.
    """
    if not text:
        return ()
    patterns = _patterns()
    found: list[Material] = [Material(*m.span(), "code") for m in _FENCE.finditer(text)]
    if "<" in text or "[" in text:
        found += [Material(*span, "code") for span in markup_in(text)]
    if "{" in text:
        found += _json_blocks(text)
        found += [Material(*m.span(), "log") for m in _RECORD.finditer(text)]
    if "\n" in text:
        found += [Material(*m.span(), "log") for m in _QUOTED_LINE.finditer(text)]
        found += [Material(*m.span(), "log") for m in patterns.log_line.finditer(text, pieces)]
        found += _shaped(text)
    found += [Material(*m.span(), "log") for m in patterns.rails.finditer(text, pieces)]
    found += [Material(start, end, "quote") for start, end in _quotes(text, pieces)]
    headings = (span for span in _enclosed(text, _HEADING, _HEADINGS) if span[1] - span[0] > _SHORT_HEADING)
    found += [Material(*span, "document") for span in headings]
    found += [Material(*m.span(), "document") for m in _BRACKETS.finditer(text)]
    found += [Material(*span, "document") for span in _reported(text, pieces)]
    if ":" in text or "\n" in text:  # without either, nothing is introduced
        found += [Material(*span, "document") for span in _introduced(text, pieces)]
        found += [Material(*span, "document") for span in _announced(text, pieces)]
    fiction = 0 if in_fiction else starts_fiction(text, pieces)
    if fiction is not None and not (in_fiction and ends_fiction(text, pieces)):
        found.append(Material(fiction, len(text), "fiction"))
    return _merged([*found, *_lead_ins(text, found)])


def may_be_foreign(text: str, pieces: Pieces) -> bool:
    """Whether a sentence of the text may be somebody else's, by its words."""
    return _patterns().foreign.needs.met_in(text, pieces)


def is_foreign(sentence: str, pieces: Pieces) -> bool:
    """Whether a sentence speaks of the user, of assistants or of their memory as only somebody else would."""
    patterns = _patterns()
    return patterns.foreign.search(sentence, pieces) is not None and not patterns.own.search(sentence, pieces)


def is_about_the_shown(sentence: str, pieces: Pieces, material: Sequence[Material], foreign: bool) -> bool:
    """Whether a sentence beside a shown text, or a foreign one, says nothing of the user's own."""
    patterns = _patterns()
    if patterns.introducing.search(sentence, pieces):
        return patterns.wishes.search(sentence, pieces) is None
    shown = foreign or bool(material)
    return shown and patterns.own_beside.search(sentence, pieces) is None


def starts_fiction(text: str, pieces: Pieces) -> int | None:
    """Where the user begins to play somebody else; None when they do not."""
    patterns = _patterns()
    for match in patterns.fiction_starts.finditer(text, pieces):
        ends = _SENTENCE_ENDS.search(text, match.end())
        until = ends.start() if ends else len(text)
        if not patterns.lasting_role.pattern.search(text, _sentence_start(text, match.start()), until):
            return match.start()
    return None


def ends_fiction(text: str, pieces: Pieces) -> bool:
    """Whether the text says that a play is over."""
    return _patterns().fiction_ends.search(text, pieces) is not None


_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_SENTENCE_ENDS = re.compile(r"[。!?\n;]|\.(?=\s|\Z)")
_QUOTES = {"“": "”", "「": "」", "『": "』", '"': '"', "«": "»", "‘": "’"}
_QUOTE = re.compile('[“「『"«‘]')
_APOSTROPHES = re.compile(r"(?<![\w'])'(?=\S)(?:[^'\n]|'(?=\w)){2,1000}'(?!\w)")
_HEADINGS = {"【": "】"}
_HEADING = re.compile("【")
_SHORT_HEADING = 9  # code points, marks included; shorter ones are words that are set off
_ENCLOSED = 4_000  # code points between two such marks, at most
_RECORD = re.compile(r"\{[^{}\n:]{1,200}:[^{}\n]{1,1000}\}")
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
    patterns = _patterns()
    quotes = [*_enclosed(text, _QUOTE, _QUOTES)]
    if "'" in text:
        quotes += [match.span() for match in _APOSTROPHES.finditer(text)]
    if not quotes:
        return quotes
    introduced = any(_matches(patterns.introduces, text, pieces))
    return [
        (start, end)
        for start, end in quotes
        if (introduced and _SPEAKS.search(text, max(0, start - 16), start))
        or patterns.reporters.pattern.search(text, max(0, start - 12), start)
        or (end - start > _LONG_QUOTE and _SENTENCE_WITHIN.search(text, start, end))
        or (end - start > _SHORT_QUOTE and _SPEAKER_WITHIN.search(text, start, end))
        or text[start - 1 : start] == "="
        or patterns.orders.search(text[start:end], pieces)
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


_COLON_OR_LINE = re.compile(r"[^\n。!?]{0,60}?(?::|\n)")
_COLON_OR_ANY_LINE = re.compile(r"[^\n。!?]{0,60}?:|[^\n]{0,120}\n")
_NEXT_LINE = re.compile(r"[^\n]{0,120}\n")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_SPACE = re.compile(r"\s*")


def _reported(text: str, pieces: Pieces) -> list[tuple[int, int]]:
    """Text before "translate the above", what somebody else says, and wording that is worked on."""
    patterns = _patterns()
    for sought in (patterns.points_back, patterns.asks_about) if "\n" in text else (patterns.points_back,):
        back = sought.search(text, pieces)
        if back is not None and back.start() > _LONG_QUOTE:
            return [(0, back.start())]
    told = []
    for match in patterns.tells.finditer(text, pieces):
        ends = _SENTENCE_ENDS.search(text, match.end())
        told.append((match.start(), ends.start() if ends else len(text)))
    for sought, behind in ((patterns.worked_on, True), (patterns.rendered, False)):
        for match in sought.finditer(text, pieces):
            if not _is_standing(text, match.start(), match.end()):
                told.append((match.end(), len(text)) if behind else match.span())
    return told


def _introduced(text: str, pieces: Pieces) -> Iterator[tuple[int, int]]:
    """Text behind "translate this:"."""
    patterns = _patterns()
    ways = [(patterns.introduces, _COLON_OR_LINE), (patterns.headings, _COLON_OR_LINE)]
    ways.append((patterns.requests, _COLON_OR_ANY_LINE))
    if "\n" in text:
        ways.append((patterns.requests_above, _NEXT_LINE))
    for patterns_of_a_way, way in ways:
        for match in _matches(patterns_of_a_way, text, pieces):
            behind = way.match(text, match.end())
            if behind is None or _is_standing(text, match.start(), behind.end()):
                continue
            body = _body(text, behind.end(), len(text))
            if body is not None:
                yield body


def _matches(patterns: Sequence[Sought], text: str, pieces: Pieces) -> Iterator[re.Match[str]]:
    """The matches of each pattern: each is tried for itself, because together they take twice the time."""
    for pattern in patterns:
        yield from pattern.finditer(text, pieces)


def _is_standing(text: str, start: int, end: int) -> bool:
    """Whether a request is one for every such text, and what follows says how: "when you translate: ..."."""
    begins = _sentence_start(text, start)
    return _patterns().standing.pattern.search(text, begins, end) is not None


def _sentence_start(text: str, at: int) -> int:
    """Where the sentence around a place begins; not further back than a sentence goes."""
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(text, max(0, at - _BACK), at)]
    return ends[-1] if ends else max(0, at - _BACK)


_BACK = 120


def _body(text: str, at: int, end: int) -> tuple[int, int] | None:
    """The text that is shown from a place on: a quotation, or all up to the end.

    None when there is none, or when its lines are marked as shown: then what follows them is the user's.
    """
    space = _SPACE.match(text, at)
    start = space.end() if space else at
    if start >= end or text.startswith(("```", "~~~", ">"), start):
        return None
    if text[start] in _QUOTES:
        for quote in _enclosed(text[start : start + _ENCLOSED + 2], _QUOTE, _QUOTES):
            if quote[0] == 0:
                return start, start + quote[1]
            break
    return start, end


_LEAD_IN = re.compile(r"[^\n,。!?;:]{1,60}:\s*\Z")


def _lead_ins(text: str, found: Sequence[Material]) -> Iterator[Material]:
    """The clauses that end in a colon before what is shown: they say whose words follow, and nothing else."""
    for part in found:
        if part.kind in ("document", "quote"):
            before = _LEAD_IN.search(text, max(0, part.start - _BACK), part.start)
            if before is not None:
                yield Material(before.start(), part.start, part.kind)


def _announced(text: str, pieces: Pieces) -> Iterator[tuple[int, int]]:
    """What speaks as an office, as somebody else, as the system, or as a mail."""
    patterns = _patterns()
    for sought in (patterns.notices, patterns.others):
        for match in _matches(sought, text, pieces):
            blank = _BLANK_LINE.search(text, match.end())
            body = _body(text, match.end(), blank.start() if blank else len(text))
            if body is not None:
                yield match.start(), body[1]
    for sought in (patterns.forged, patterns.mail_heads):
        found = sought.search(text, pieces)
        if found is not None:
            yield found.start(), len(text)


def _shaped(text: str) -> Iterator[Material]:
    """What the shape of the lines tells."""
    shapes, lines = _patterns().shapes, lines_of(text)
    yield from (Material(*span, "code") for span in code_in(lines, shapes))
    yield from (Material(*span, "document") for span in transcript_in(lines, shapes))
    yield from (Material(*span, "document") for span in blocks_in(lines, shapes))


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
