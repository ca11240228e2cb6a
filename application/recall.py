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
from ..domain.scope import Reach, Scope, ScopeKind
from ..domain.statement import Statement
from ..domain.values import Certainty, Source
from ..domain.zone import zone_of
from ..pipeline.narrowing import Narrowing
from ..pipeline.signals import family_of
from ..pipeline.text import count_han, language_of, tokens
from ..projections.ports import Listed, Views
from ..projections.rows import MemoryRow

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
        listed = [(one, scope) for one in self._held(owner) if (scope := _scope_of(one)) is not None]
        shown = [_shown(one, scope) for one, scope in listed]
        found = [one for one in self._ranked(shown, query) if one.overlap > 0][:limit]
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
        covers: dict[tuple[ScopeKind | None, str], Scope | None] = {}
        covering = []
        for one in self._held(owner):
            where = (one.memory.scope_kind, one.memory.scope_anchor)
            if one.shows_memory and where in covers:
                scope = covers[where]
            else:
                scope = _scope_of(one)
                scope = scope if scope is not None and scope.covers(reach) else None
                if one.shows_memory:
                    covers[where] = scope
            if scope is not None and (shown := _shown(one, scope)).said.certainty == "certain":
                covering.append(shown)
        return self._within(owner, self._ranked(self._narrowing.without_excepted(covering), query), budget)

    def _within(self, owner: Owner, ranked: Sequence[_Ranked], budget: int) -> list[Line]:
        """Lines in their order, but for those that do not fit any more."""
        chosen: list[Line] = []
        waiting = [(_least_cost(one.shown.content), one) for one in ranked]
        while waiting:
            # What cannot fit need not be read.
            fitting = [(least, one) for least, one in waiting if least <= budget]
            waiting = fitting[_AT_ONCE:]
            for line in self._lines(owner, [one for _, one in fitting[:_AT_ONCE]]):
                if line.cost <= budget:
                    chosen.append(line)
                    budget -= line.cost
        return chosen

    def _held(self, owner: Owner) -> Sequence[Listed]:
        return self._views.memories(owner, valid_at=self._clock.now())

    def _ranked(self, shown: Sequence[_Shown], query: str) -> list[_Ranked]:
        wanted = frozenset(tokens(query))
        shared = [wanted.intersection(one.listed.memory.tokens.split()) for one in shown]
        frequency = Counter(token for there in shared for token in there)
        rarity = {token: _rarity(frequency[token], len(shown)) for token in wanted}
        total, now = sum(rarity.values()) or 1.0, self._clock.now()
        ranked = []
        for one, there in zip(shown, shared, strict=True):
            overlap = sum(rarity[token] for token in there) / total
            ranked.append(_Ranked(one, overlap, overlap * 2 + _weight(one, now)))
        return sorted(ranked, key=lambda one: (-one.score, one.shown.listed.memory_id))

    def _lines(self, owner: Owner, ranked: Sequence[_Ranked]) -> list[Line]:
        listed = [one.shown.listed for one in ranked]
        said = self._views.said(owner, [one.said_pos for one in listed if one.said_pos is not None])
        return [
            _line(one.shown.listed, said[position], one.score)
            for one in ranked
            if (position := one.shown.listed.said_pos) is not None
        ]


def _line(listed: Listed, statement: Statement, score: float) -> Line:
    text = f"{statement.content}{_when(statement)}"
    version = listed.period.number if listed.period else listed.memory.chain_version
    return Line(listed.memory_id, version, text, score, estimated_tokens(text), statement)


class _Shown:
    """What is needed to choose among memories: of the row where that shows the version that is listed."""

    __slots__ = ("listed", "said", "scope")

    def __init__(self, listed: Listed, said: MemoryRow | _Statement, scope: Scope) -> None:
        self.listed, self.said, self.scope = listed, said, scope

    @property
    def subject(self) -> str:
        return self.said.subject

    @property
    def attribute(self) -> str:
        return self.said.attribute

    @property
    def value(self) -> str | None:
        return self.said.value

    @property
    def content(self) -> str:
        return self.said.content


class _Statement(NamedTuple):
    """A statement with the names that its memory's row would have."""

    subject: str
    attribute: str
    value: str | None
    content: str
    certainty: Certainty
    confidence: float
    importance: int
    source: Source
    said_at: datetime


class _Ranked(NamedTuple):
    shown: _Shown
    overlap: float
    score: float


def _scope_of(listed: Listed) -> Scope | None:
    row = listed.memory
    if listed.shows_memory:
        return None if row.scope_kind is None else Scope(kind=row.scope_kind, anchor=row.scope_anchor)
    return listed.statement.scope if listed.statement is not None else None


def _shown(listed: Listed, scope: Scope) -> _Shown:
    if listed.shows_memory:
        return _Shown(listed, listed.memory, scope)
    said = listed.statement
    assert said is not None
    return _Shown(
        listed,
        _Statement(
            said.subject,
            said.attribute,
            said.value,
            said.content,
            said.certainty,
            said.confidence,
            said.importance,
            said.provenance.source,
            said.provenance.said_at,
        ),
        scope,
    )


def _weight(one: _Shown, now: datetime) -> float:
    """What counts besides the words."""
    said = one.said
    age = max((now - said.said_at).total_seconds() / 86_400, 0.0) if said.said_at else 0.0
    weight = (
        (said.confidence or 0.0)
        * (1 + said.importance)
        / 6
        * (0.5 + 0.5 * math.pow(0.5, age / _HALF_LIFE_DAYS))
        * _SOURCE_WEIGHT.get(said.source or "", 1.0)
    )
    return weight + (3 - one.scope.rank) * 0.05 + (1.0 if one.listed.memory.pinned else 0.0)


def estimated_tokens(text: str) -> int:
    """About how many model tokens a text takes: one per Hanzi, one per four other characters."""
    han = count_han(text)
    return han + math.ceil((len(text) - han) / 4)


def _rarity(frequency: int, documents: int) -> float:
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def _when(statement: Statement) -> str:
    said = statement.provenance.said_at.astimezone(zone_of(statement.provenance.zone))
    return _said_in(statement.content, said)


def _said_in(content: str, moment: datetime) -> str:
    if language_of(content) == "en":
        return f" (said in {moment:%B %Y})"
    return f"（用户于{moment.year}年{moment.month}月提及）"


_MAY = datetime(2000, 5, 1, tzinfo=UTC)
"""In a month with a short name and a short number."""


def _least_cost(content: str) -> int:
    """What a line with this content takes at least."""
    return estimated_tokens(f"{content}{_said_in(content, _MAY)}")
