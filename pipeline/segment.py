"""Cut a message into what the user says and what is only shown, then into sentences and clauses.

First the material is set apart: code, quoted text, documents, logs, text behind "translate this:", role
play. Nothing in it is the user speaking. What is left is cut into sentences and clauses, whose offsets
are those of the normalised text (`Segmented.norm` maps them to the original).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal

from .memo import of_last_texts
from .sought import Pieces, Sought, pieces_of
from .text import NormText, normalise

MaterialKind = Literal["code", "quote", "document", "log", "fiction"]

MASK = "■"
"""Stands for one code point of a masked secret."""

MAX_CLAUSES = 600
"""Clauses analysed per message; a person does not say more in one turn, a pasted document does."""

MAX_LENGTH = 40_000
"""Code points analysed per message, for the same reason."""

_SHORT_MESSAGE = 160
"""Code points up to which the pieces of the message serve its sentences too: taking them costs more than
the patterns that they keep from being tried."""

MAX_SENTENCE = 800
"""Code points of one sentence; what goes on for longer is no sentence, but text without marks."""


@dataclass(frozen=True, slots=True)
class Material:
    """A stretch that is shown, not said: half-open offsets into the normalised text."""

    start: int
    end: int
    kind: MaterialKind


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch between two commas or the like. `text` is normalised; offsets as in `Material`."""

    text: str
    start: int
    end: int
    question: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """Clauses up to a full stop, a line end, an emoji or a word such as "by the way"."""

    text: str
    start: int
    end: int
    clauses: tuple[Clause, ...]
    tail: int
    """Where the emoji and marks that end it are over: they may say how it is meant."""
    question: bool = False
    """Whether it ends with a question mark; the clause before the mark is the one that asks."""
    pieces: Pieces = field(default=None, repr=False, compare=False)
    """What `Sought` patterns go by: the pieces of the sentence, or of the short message around it."""


@dataclass(frozen=True, slots=True)
class Segmented:
    """A message in parts. `cut` says why not everything was analysed, None when it was."""

    norm: NormText
    sentences: tuple[Sentence, ...]
    material: tuple[Material, ...]
    cut: str | None = None

    @property
    def fictional(self) -> bool:
        """Whether the user plays somebody else from some point of this message on."""
        return any(part.kind == "fiction" for part in self.material)


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The compiled word lists of `lexicon/segment.toml`."""

    introduces: Sought
    points_back: Sought
    fiction_starts: Sought
    fiction_ends: Sought
    lasting_role: Sought
    log_line: Sought
    splits: Sought
    asks: Sought
    asks_not: Sought
    requests: Sought


@cache
def _patterns() -> _Patterns:
    raw: dict[str, Any] = tomllib.loads(
        resources.files(__package__).joinpath("lexicon/segment.toml").read_text("utf-8")
    )
    return _Patterns(**{name: Sought("|".join(raw[name]["patterns"])) for name in raw})


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

_EMOJI = "\u2190-\u21ff\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff"
_SENTENCE_END = re.compile(  # the look ahead passes over letters at a third of the time
    rf"(?=[。!?\n…;.~{_EMOJI}])(?:(?:[。!?\n…]|;(?![a-z]))+|\.{{2,}}|\.(?=[\s\"”')\]{_EMOJI}]|\Z)|[~]+|[{_EMOJI}]+)"
)
_CLAUSE_END = re.compile(
    r"(?=[,:—\s])(?:[,:](?![0-9])|——|—|(?<=[0-9])[:,](?=[^0-9])|(?<=[\u4e00-\u9fff])\s+(?=我))"
)


@of_last_texts(16)
def segment(text: str, *, in_fiction: bool = False) -> Segmented:
    """Cut the masked text of one message.

    `in_fiction` says that a former turn began a role play; all of the text is then fiction, up to the
    words that end it.
    """
    norm = normalise(text)
    looked_at = norm.text[:MAX_LENGTH]
    pieces = pieces_of(looked_at)
    material = _material(looked_at, pieces, in_fiction)
    sentences: list[Sentence] = []
    clauses = 0
    cut = None if len(norm.text) <= MAX_LENGTH else f"only the first {MAX_LENGTH} code points were analysed"
    for start, end, question in _sentence_spans(looked_at, pieces, material):
        if end - start > MAX_SENTENCE:
            end, question = start + MAX_SENTENCE, False
            cut = cut or f"only the first {MAX_SENTENCE} code points of a sentence were analysed"
        sentence = _sentence(looked_at, pieces, start, end, question)
        if sentence is None:
            continue
        clauses += len(sentence.clauses)
        if clauses > MAX_CLAUSES:
            cut = f"only the first {MAX_CLAUSES} clauses of the message were analysed"
            break
        sentences.append(sentence)
    return Segmented(norm, tuple(sentences), material, cut)


def plays_on(history: Sequence[str]) -> bool:
    """Whether a role play that one of the former messages began still goes on. Oldest first."""
    return _plays_on(tuple(history))


@lru_cache(maxsize=2)
def _plays_on(history: tuple[str, ...]) -> bool:
    turns = (_turns_play(said) for said in reversed(history))
    return next((on for on in turns if on is not None), False)


@of_last_texts(256)
def _turns_play(said: str) -> bool | None:
    """Whether role play goes on behind a message; None when the message leaves it as it was."""
    text = normalise(said).text
    pieces = pieces_of(text)
    if _patterns().fiction_ends.search(text, pieces):
        return False
    return True if _starts_fiction(text, pieces) is not None else None


def _starts_fiction(text: str, pieces: Pieces) -> int | None:
    patterns = _patterns()
    match = patterns.fiction_starts.search(text, pieces)
    if match is None or patterns.lasting_role.search(text, pieces):
        return None
    return match.start()


def _material(text: str, pieces: Pieces, in_fiction: bool) -> tuple[Material, ...]:
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
    fiction = 0 if in_fiction else _starts_fiction(text, pieces)
    if fiction is not None and not (in_fiction and patterns.fiction_ends.search(text, pieces)):
        found.append(Material(fiction, len(text), "fiction"))
    return _merged(found)


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


def _sentence_spans(text: str, pieces: Pieces, material: tuple[Material, ...]) -> list[tuple[int, int, bool]]:
    spans: list[tuple[int, int, bool]] = []
    at = 0
    for part in (*material, Material(len(text), len(text), "quote")):
        spans += _split_stretch(text, pieces, at, part.start)
        at = part.end
    return spans


def _split_stretch(text: str, pieces: Pieces, start: int, end: int) -> list[tuple[int, int, bool]]:
    spans: list[tuple[int, int, bool]] = []
    at = start
    for match in _SENTENCE_END.finditer(text, start, end):
        spans += _split_by_words(text, pieces, at, match.start(), "?" in match.group())
        at = match.end()
    if at < end:
        spans += _split_by_words(text, pieces, at, end, False)
    return spans


def _split_by_words(
    text: str, pieces: Pieces, start: int, end: int, question: bool
) -> list[tuple[int, int, bool]]:
    """Cut at words that open a new subject (对了, by the way); they stay at the head of what follows."""
    spans: list[tuple[int, int, bool]] = []
    at = start
    for match in _patterns().splits.finditer(text, pieces, start, end):
        if match.start() > at:
            spans.append((at, match.start(), False))
            at = match.start()
    if at < end:
        spans.append((at, end, question))
    return spans


def _sentence(text: str, pieces: Pieces, start: int, end: int, question: bool) -> Sentence | None:
    start, end = _strip(text, start, end)
    if start >= end:
        return None
    words = text[start:end]
    if len(text) > _SHORT_MESSAGE:
        pieces = pieces_of(words)
    clauses: list[Clause] = []
    at = start
    for match in _CLAUSE_END.finditer(text, start, end):
        _add_clause(clauses, text, pieces, at, match.start(), False)
        at = match.end()
    _add_clause(clauses, text, pieces, at, end, question)
    if not clauses:
        return None
    after = _TAIL.match(text, end)
    tail = after.end() if after else end
    return Sentence(words, start, end, tuple(clauses), tail, question, pieces)


_TAIL = re.compile(rf"[{_EMOJI}!?~。 ]{{0,20}}")


def _add_clause(
    clauses: list[Clause], text: str, pieces: Pieces, start: int, end: int, question: bool
) -> None:
    start, end = _strip(text, start, end)
    if start < end:
        words = text[start:end]
        patterns = _patterns()
        asks = question or (
            patterns.asks.pattern.search(words) is not None and not patterns.asks_not.search(words, pieces)
        )
        asks = asks and patterns.requests.search(words, pieces) is None
        clauses.append(Clause(words, start, end, asks))


_INVISIBLE = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_EDGE = frozenset(f" \t\r\n,;:。.!?、·…~-—\"'“”‘’()[]{{}}<>*#|{_INVISIBLE}")


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _EDGE:
        start += 1
    while end > start and text[end - 1] in _EDGE:
        end -= 1
    return start, end
