"""What an agent is given back: filtered by scope, ranked by words, within a budget of tokens."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from ..domain.owner import Owner
from ..domain.ports import Clock
from ..domain.scope import Reach
from ..domain.statement import Statement
from ..domain.zone import zone_of
from ..pipeline.narrowing import Narrowing
from ..pipeline.signals import family_of
from ..pipeline.text import count_han, language_of, tokens
from ..projections.ports import Views
from ..projections.rows import HeldRow

_HALF_LIFE_DAYS = 180.0
"""Age at which recency weighs half; a first guess, to be measured when recall gets its own set."""

_AT_ONCE = 32
"""How many statements are read at a time."""

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
        found = [one for one in self._ranked(self._held(owner), query) if one.overlap > 0][:limit]
        return self._lines(owner, found)

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
        held = self._held(owner)
        covers = {scope: scope.covers(reach) for scope in {one.scope for one in held}}
        covering = [one for one in held if one.certainty == "certain" and covers[one.scope]]
        return self._within(owner, self._ranked(self._narrowing.without_excepted(covering), query), budget)

    def _within(self, owner: Owner, ranked: Sequence[_Ranked], budget: int) -> list[Line]:
        """Lines in their order, but for those that do not fit any more."""
        chosen: list[Line] = []
        waiting = list(ranked)
        while waiting:
            # What cannot fit need not be read.
            fitting = [one for one in waiting if _may_fit(one.row.content, budget)]
            waiting = fitting[_AT_ONCE:]
            for line in self._lines(owner, fitting[:_AT_ONCE]):
                if line.cost <= budget:
                    chosen.append(line)
                    budget -= line.cost
        return chosen

    def _held(self, owner: Owner) -> Sequence[HeldRow]:
        return self._views.held(owner, self._clock.now())

    def _ranked(self, held: Sequence[HeldRow], query: str) -> list[_Ranked]:
        wanted = frozenset(tokens(query))
        shared = [wanted.intersection(one.tokens.split()) for one in held]
        frequency = Counter(token for there in shared for token in there)
        rarity = {token: _rarity(frequency[token], len(held)) for token in wanted}
        total, now = sum(rarity.values()) or 1.0, self._clock.now()
        ranked = []
        for one, there in zip(held, shared, strict=True):
            overlap = sum([rarity[token] for token in there]) / total if there else 0.0
            ranked.append(_Ranked(one, overlap, overlap * 2 + _weight(one, now)))
        return sorted(ranked, key=lambda one: (-one.score, one.row.memory_id))

    def _lines(self, owner: Owner, ranked: Sequence[_Ranked]) -> list[Line]:
        said = self._views.said(owner, [one.row.said_pos for one in ranked])
        return [_line(one.row, said[one.row.said_pos], one.score) for one in ranked]


class _Ranked(NamedTuple):
    row: HeldRow
    overlap: float
    score: float


def _line(row: HeldRow, statement: Statement, score: float) -> Line:
    text = f"{statement.content}{_when(statement)}"
    return Line(row.memory_id, row.number, text, score, estimated_tokens(text), statement)


def _weight(one: HeldRow, now: datetime) -> float:
    """What counts besides the words."""
    age = max((now - one.said_at).total_seconds() / 86_400, 0.0)
    recency = 0.5 + 0.5 * 0.5 ** (age / _HALF_LIFE_DAYS)
    weight: float = one.confidence * (1 + one.importance) / 6 * recency * _SOURCE_WEIGHT.get(one.source, 1.0)
    return weight + (3 - one.scope.rank) * 0.05 + (1.0 if one.pinned else 0.0)


def estimated_tokens(text: str) -> int:
    """About how many model tokens a text takes: one per Hanzi, one per four other characters."""
    han = count_han(text)
    return han + math.ceil((len(text) - han) / 4)


def _may_fit(content: str, budget: int) -> bool:
    """False where every line with this content costs more than the budget."""
    # Of most contents their length alone tells; counting Hanzi and telling languages takes longer.
    if len(content) + _LONGEST_END <= budget:
        return True
    if len(content) // 4 + _CHEAPEST_END > budget:
        return False
    return estimated_tokens(f"{content}{_said_in(content, _SHORT)}") <= budget


def _rarity(frequency: int, documents: int) -> float:
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def _when(statement: Statement) -> str:
    said = statement.provenance.said_at.astimezone(zone_of(statement.provenance.zone))
    return _said_in(statement.content, said)


def _said_in(content: str, moment: datetime) -> str:
    if language_of(content) == "en":
        return f" (said in {moment:%B %Y})"
    return f"（用户于{moment.year}年{moment.month}月提及）"


_SHORT, _LONG = datetime(2000, 5, 1, tzinfo=UTC), datetime(2000, 11, 1, tzinfo=UTC)
"""In months with a short and a long name and number."""

_CHEAPEST_END = min(estimated_tokens(_said_in(content, _SHORT)) for content in ("in English", "中文")) - 1
"""One less: two parts that are rounded up by themselves may cost one more than together."""

_LONGEST_END = max(len(_said_in(content, _LONG)) for content in ("in English", "中文"))
