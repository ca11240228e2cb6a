"""Which memory loose words mean: "the off-the-drink stuff", 末尾挂谚语那个规矩.

Such words repeat pieces of what is remembered and hide them among others. The owner's memories are
weighed by the pieces that they share with the words, a piece that few of them hold counting most. One
is meant only when it is clearly ahead of all others: a wrong target is worse than none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

from ..domain.directory import Index
from ..domain.memory import Memory
from ..domain.owner_state import OwnerState
from ..domain.policy import PointingRules, Policy
from ..domain.slot import Registry
from ..domain.statement import Statement
from .keywords import KeyWordReader, phrase_pattern
from .text import is_han, normalise

_CACHED = 50_000

Piece = str | tuple[str, str]
"""A term; `("cue", attribute)` for an attribute that words give away; `("plain", word)` for a word that
everybody uses."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text taken apart. `hanzi` are those of its terms one by one; `value` the terms of the value."""

    all: frozenset[Piece]
    hanzi: frozenset[str]
    value: frozenset[Piece] = frozenset()

    def hold(self, piece: Piece, gapped: float) -> float:
        """1 when the piece stands here, `gapped` when its Hanzi stand here apart, else 0."""
        if piece in self.all:
            return 1.0
        apart = isinstance(piece, str) and is_han(piece[0]) and all(one in self.hanzi for one in piece)
        return gapped if apart else 0.0


class Pointing:
    """Finds the one memory that words point at, with the thresholds and words of one policy."""

    def __init__(self, policy: Policy, rules: PointingRules, reader: KeyWordReader) -> None:
        self._rules, self._registry, self._read = rules, policy.registry, reader.read
        self._lets_go = phrase_pattern(rules.lets_go)
        self._renews = phrase_pattern(rules.renews)
        self._empty = phrase_pattern([*rules.lets_go, *rules.empty])
        self._plain = phrase_pattern(rules.plain)
        self._cues = {name: phrase_pattern(words) for name, words in rules.cues.items()}
        self._of_memory = lru_cache(maxsize=_CACHED)(self._taken_apart)
        self._index = Index(self._keys)

    def lets_go(self, words: str) -> bool:
        """Whether words speak of letting something go, and name nothing to stand in its place."""
        text = normalise(words).text
        return self._lets_go.search(text) is not None and self._renews.search(text) is None

    def cues(self, words: str) -> frozenset[str]:
        """The attributes that words give away, by a word that is used for little else."""
        text = normalise(words).text
        return frozenset(name for name, pattern in self._cues.items() if pattern.search(text))

    def meant(
        self,
        words: str,
        state: OwnerState,
        standing: Callable[[Iterable[Memory]], Iterator[tuple[str, Statement]]],
    ) -> tuple[str, float] | None:
        """The memory that the words mean, and how sure that is; None when two are about as likely."""
        asked = self._apart(self._empty.sub(" ", normalise(words).text))
        if not asked.all:
            return None
        weights = {piece: self._weight(piece, state) for piece in asked.all}
        scores = [
            (self._score(asked, weights, now, state), memory_id)
            for memory_id, now in standing(state.find(self._index, *asked.all, *asked.hanzi))
        ]
        ranked = sorted((one for one in scores if one[0] > 0), key=lambda one: -one[0])
        if not ranked or (len(ranked) > 1 and ranked[0][0] < self._rules.ahead * ranked[1][0]):
            return None
        score, memory_id = ranked[0]
        return (memory_id, round(min(score, 1.0), 4)) if score >= self._rules.least else None

    def _score(
        self, asked: Pieces, weights: Mapping[Piece, float], now: Statement, state: OwnerState
    ) -> float:
        """The mean of two shares: of the words in the memory, and of the memory in the words."""
        held = self._of_memory(now.attribute, now.content, now.value)
        gapped = self._rules.gapped
        found = {piece: held.hold(piece, gapped) for piece in weights}
        # A word that everybody uses tells nothing, a lone character little: a whole word must be shared too.
        if not any(share and _is_telling(piece) for piece, share in found.items()):
            return 0.0
        mine = sum(weight * found[piece] for piece, weight in weights.items()) / sum(weights.values())
        theirs = max(
            (self._share(some, asked, state) for some in (held.all, held.value) if some), default=0.0
        )
        enough = mine >= self._rules.of_words and theirs >= self._rules.of_memory
        return sqrt(mine * theirs) if enough else 0.0

    def _share(self, some: frozenset[Piece], asked: Pieces, state: OwnerState) -> float:
        weights = {piece: self._weight(piece, state) for piece in some}
        held = sum(weight * asked.hold(piece, self._rules.gapped) for piece, weight in weights.items())
        return held / sum(weights.values())

    def _weight(self, piece: Piece, state: OwnerState) -> float:
        """How much a piece tells: less when many memories hold it, little when everybody uses it."""
        rare = 1.0 / (1.0 + log(max(len(state.find(self._index, piece)), 1)))
        if isinstance(piece, tuple) and piece[0] == "plain":
            return rare * self._rules.of_plain
        return rare * self._rules.gapped if _is_lone(piece) else rare

    def _keys(self, memory: Memory, _: Registry) -> Iterator[Piece]:
        if memory.current is not None:
            now = memory.current.statement
            held = self._of_memory(now.attribute, now.content, now.value)
            yield from held.all | held.hanzi

    def _taken_apart(self, attribute: str, content: str, value: str | None) -> Pieces:
        held = self._apart(normalise(content if value is None else f"{content} , {value}").text)
        of_value = self._apart(normalise(value).text).all if value else frozenset[Piece]()
        name = self._registry.canonical(attribute)
        own: frozenset[Piece] = frozenset({("cue", name)} if name in self._cues else ())
        return Pieces(held.all | own, held.hanzi, of_value)

    def _apart(self, text: str) -> Pieces:
        """A normalised text in its pieces; what everybody says is cut out first, and counted apart."""
        terms = self._read(self._plain.sub(" , ", text)).terms
        pieces: set[Piece] = {*terms, *(("cue", name) for name in self.cues(text))}
        pieces.update(("plain", match.group()) for match in self._plain.finditer(text))
        hanzi = frozenset(one for term in terms if is_han(term[0]) for one in term)
        return Pieces(frozenset(pieces), hanzi)


def _is_lone(piece: Piece) -> bool:
    return isinstance(piece, str) and len(piece) == 1 and is_han(piece)


def _is_telling(piece: Piece) -> bool:
    return piece[0] == "cue" if isinstance(piece, tuple) else not _is_lone(piece)
