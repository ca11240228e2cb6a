"""What an agent is given back: filtered by scope, ranked by words, within a budget of tokens."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..domain.owner import Owner
from ..domain.ports import Clock
from ..domain.scope import Reach
from ..domain.statement import Statement
from ..domain.zone import zone_of
from ..pipeline.narrowing import Narrowing
from ..pipeline.signals import family_of
from ..pipeline.text import is_han, language_of, tokens
from ..projections.ports import Listed, Views

_HALF_LIFE_DAYS = 180.0
"""Age at which recency weighs half; a first guess, to be measured when recall gets its own set."""

_SOURCE_WEIGHT = {"single_task_inference": 0.5, "other": 0.6}


@dataclass(frozen=True, slots=True)
class Line:
    """One memory to be shown to an agent.

    `text` says what is remembered and when it was said, in the memory's language. `score` orders
    lines and means nothing else. `cost` is the estimated number of tokens of the text.
    """

    memory_id: str
    chain_version: int
    text: str
    score: float
    cost: int
    statement: Statement


class Recall:
    """Finds memories by words."""

    def __init__(self, views: Views, clock: Clock, narrowing: Narrowing) -> None:
        self._views, self._clock, self._narrowing = views, clock, narrowing

    def search(self, owner: Owner, query: str, *, limit: int) -> Sequence[Line]:
        """Memories that hold now and share words with the query, best first; at most `limit`."""
        lines = self._ranked(self._views.memories(owner, valid_at=self._clock.now()), query)
        return [line for line, overlap in lines if overlap > 0][:limit]

    def context(
        self,
        owner: Owner,
        query: str,
        *,
        task: str | None,
        project: str | None,
        session: str | None,
        families: tuple[str, ...],
        budget: int,
    ) -> Sequence[Line]:
        """Memories whose scope covers the question, best first, as many as the budget takes.

        Uncertain and reported statements are left out: they are no facts.
        """
        named = families or tuple(filter(None, (family_of(query), family_of(task))))
        anchor = task or (f"session:{session}" if session else "")
        reach = Reach(task_anchor=anchor, project=project, families=named)
        covering = [
            listed
            for listed in self._views.memories(owner, valid_at=self._clock.now())
            if listed.statement is not None
            and listed.statement.scope.covers(reach)
            and listed.statement.certainty == "certain"
        ]
        chosen: list[Line] = []
        for line, _ in self._ranked(self._without_excepted(covering), query):
            if line.cost <= budget:
                chosen.append(line)
                budget -= line.cost
        return chosen

    def _without_excepted(self, covering: Sequence[Listed]) -> list[Listed]:
        """Leave out what a narrower memory says otherwise for its scope."""
        stated = [(one, one.statement) for one in covering if one.statement is not None]
        return [
            one
            for one, wide in stated
            if not any(self._narrowing.excepts(narrow, wide) for _, narrow in stated)
        ]

    def _ranked(self, listed: Sequence[Listed], query: str) -> list[tuple[Line, float]]:
        wanted = set(tokens(query))
        documents = [(one, set(one.memory.tokens.split())) for one in listed if one.statement is not None]
        frequency = Counter(token for _, there in documents for token in there & wanted)
        total = sum(_rarity(frequency[token], len(documents)) for token in wanted) or 1.0
        now = self._clock.now()
        ranked = []
        for one, there in documents:
            assert one.statement is not None
            overlap = sum(_rarity(frequency[token], len(documents)) for token in there & wanted) / total
            ranked.append((self._line(one, one.statement, overlap, now), overlap))
        return sorted(ranked, key=lambda pair: (-pair[0].score, pair[0].memory_id))

    def _line(self, one: Listed, statement: Statement, overlap: float, now: datetime) -> Line:
        text = f"{statement.content}{_when(statement)}"
        age = max((now - statement.provenance.said_at).total_seconds() / 86_400, 0.0)
        weight = (
            statement.confidence
            * (1 + statement.importance)
            / 6
            * (0.5 + 0.5 * 0.5 ** (age / _HALF_LIFE_DAYS))
            * _SOURCE_WEIGHT.get(statement.provenance.source, 1.0)
        )
        narrow = (3 - statement.scope.rank) * 0.05
        pinned = 1.0 if one.memory.pinned else 0.0
        version = one.period.number if one.period else one.memory.chain_version
        return Line(
            one.memory.memory_id,
            version,
            text,
            overlap * 2 + weight + narrow + pinned,
            estimated_tokens(text),
            statement,
        )


def estimated_tokens(text: str) -> int:
    """About how many model tokens a text takes: one per Hanzi, one per four other characters."""
    han = sum(1 for character in text if is_han(character))
    return han + math.ceil((len(text) - han) / 4)


def _rarity(frequency: int, documents: int) -> float:
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def _when(statement: Statement) -> str:
    said = statement.provenance.said_at.astimezone(zone_of(statement.provenance.zone))
    if language_of(statement.content) == "en":
        return f" (said in {said:%B %Y})"
    return f"（用户于{said.year}年{said.month}月提及）"
