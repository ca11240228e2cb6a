"""Cut a message into what the user says and what is only shown, then into sentences and clauses.

First the material is set apart (`material.py`): nothing in it is the user speaking. What is left is cut
into sentences and clauses, whose offsets are those of the normalised text (`Segmented.norm` maps them to
the original).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from .foreign import is_about_the_shown, is_foreign, may_be_foreign
from .material import Material, is_unusual, material_in
from .memo import of_last_texts
from .playing import ends_fiction, starts_fiction
from .sought import Pieces, Sought, pieces_of
from .text import NormText, normalise

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
    foreign: tuple[Sentence, ...] = ()
    """Sentences that are material for their own words; who plants something may betray it by them."""

    @property
    def fictional(self) -> bool:
        """Whether the user plays somebody else from some point of this message on."""
        return any(part.kind == "fiction" for part in self.material)


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The compiled word lists of `lexicon/segment.toml`."""

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


_EMOJI = "\u2190-\u21ff\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff"
_SENTENCE_END = re.compile(  # the look ahead passes over letters at a third of the time
    rf"(?=[。!?\n…;.~{_EMOJI}])(?:(?:[。!?\n…]|;(?![a-z]))+|\.{{2,}}|(?<!\bdr)(?<!\bmr)(?<!\bmrs)(?<!\bms)(?<!\bst)(?<!\bprof)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)\.(?=[\s\"”')\]{_EMOJI}]|\Z)|[~]+|[{_EMOJI}]+)"
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
    unusual = is_unusual(looked_at, pieces)
    material = material_in(looked_at, pieces, in_fiction=in_fiction, unusual=unusual)
    doubtful = unusual and may_be_foreign(looked_at, pieces)
    sentences: list[Sentence] = []
    foreign: list[Sentence] = []
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
        if doubtful and is_foreign(sentence.text, sentence.pieces):
            foreign.append(sentence)
        else:
            sentences.append(sentence)
    if material or foreign:
        kept: list[Sentence] = []
        for one in sentences:
            (foreign if is_about_the_shown(one.text, one.pieces) else kept).append(one)
        sentences = kept
        apart = [Material(one.start, one.end, "document") for one in foreign]
        material = tuple(sorted((*material, *apart), key=lambda part: part.start))
    return Segmented(norm, tuple(sentences), material, cut, tuple(foreign))


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
    if ends_fiction(text, pieces):
        return False
    return True if starts_fiction(text, pieces) is not None else None


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
