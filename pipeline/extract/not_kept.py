"""How far "don't keep this" reaches: the sentence, what it names, or all of the turn."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ..segment import Sentence
from ..signals import Seen

_PIPELINE = __package__.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class TurnWide:
    """A signal that may bear on other sentences than its own.

    `seen` counts from `start`, the beginning of its sentence. It bears on what lies within `stretch`
    (half-open, in the normalised text), and on words that hold one of the pairs of characters in
    `named`. A `stretch` of None is all of the turn.
    """

    seen: Seen
    start: int
    stretch: tuple[int, int] | None = None
    named: frozenset[str] = frozenset()

    def bears_on(self, start: int, end: int, words: str) -> bool:
        """Whether it bears on the words that stand from `start` to `end`."""
        if self.stretch is None:
            return True
        within = start < self.stretch[1] and self.stretch[0] < end
        return within or any(pair in words for pair in self.named)


@cache
def _words() -> dict[str, re.Pattern[str]]:
    raw = tomllib.loads(resources.files(_PIPELINE).joinpath("lexicon/not_kept.toml").read_text("utf-8"))
    return {name: re.compile("|".join(f"(?:{p})" for p in part["patterns"])) for name, part in raw.items()}


def turn_wide(sentences: Sequence[Sentence], index: int, seen: Seen) -> TurnWide:
    """What a signal of one sentence bears on; only "don't keep …" bears on less than the turn.

    Words such as "just saying" are about all of the turn. Otherwise the request is about what its clause
    names, about the sentence around it, or, standing alone, about the sentence before or the whole turn.
    """
    sentence = sentences[index]
    if seen.entry.kind == "joke":  # "kidding": of what came before it
        return TurnWide(seen, sentence.start, (0, sentence.end))
    if seen.entry.kind != "no_memory" or seen.entry.value == "turn":
        return TurnWide(seen, sentence.start)
    at = sentence.start + seen.start
    clause = next((c for c in sentence.clauses if c.start <= at < c.end), sentence.clauses[-1])
    meant = _bare(clause.text[: at - clause.start]) or _bare(clause.text[at - clause.start + _length(seen) :])
    around = (sentence.start, sentence.end)
    if meant and _words()["former"].fullmatch(meant):
        return TurnWide(seen, sentence.start, (clause.start, clause.end))
    if meant and not _words()["near"].fullmatch(meant):
        return TurnWide(seen, sentence.start, (clause.start, clause.end), _pairs(meant))
    if len(sentence.clauses) > 1:
        return TurnWide(seen, sentence.start, around)
    if meant and index > 0:
        return TurnWide(seen, sentence.start, (sentences[index - 1].start, sentence.end))
    return TurnWide(seen, sentence.start)


def _length(seen: Seen) -> int:
    return seen.end - seen.start


def _bare(words: str) -> str:
    return _words()["filler"].sub("", words).strip()


_SAID = re.compile(
    r"(?:刚才|刚刚|前面|之前|上面)?(?:我)?(?:说|讲|提|聊)(?:到|过)?的"
    r"|的?(?:那|这)(?:个|条|句|段|些)?|的?事情?|的话"
)


def _pairs(meant: str) -> frozenset[str]:
    """Pairs of characters and whole Latin words by which the thing is known again."""
    bare = _SAID.sub(" ", meant)
    latin = {word for word in re.findall(r"[a-z0-9]{3,}", bare) if word not in ("the", "that", "this")}
    pairs = (bare[i : i + 2] for i in range(len(bare) - 1))
    han = {pair for pair in pairs if re.fullmatch(r"[\u4e00-\u9fff]{2}", pair)}
    return frozenset(latin | han)
