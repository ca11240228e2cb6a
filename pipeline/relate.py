"""Finds the memories that a candidate is about, by the words that both hold.

Slots settle most of it. Words are for what has no slot: free text, imports without an attribute, and
phrases that point at a memory ("the rule about blockers"). Nothing here knows a clock or a model, so
that the same state gives the same relations whenever a decision is taken again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..domain.candidate import Candidate
from ..domain.decision import Relation
from ..domain.frame import is_instruction, is_lasting
from ..domain.owner_state import OwnerState
from ..domain.policy import Policy
from ..domain.slot import fold_value
from ..domain.statement import Statement
from ..domain.turn import TurnContext
from .keywords import NO_WORDS, KeyWordReader, KeyWords, says
from .text import normalise

RelationKind = Literal["same", "paraphrase", "opposite", "named", "better", "covers"]
Found = tuple[RelationKind, float] | None

_POINTING = ("retract", "end", "change", "correct")
_TELLS_HOW = ("preference", "conversation_style", "constraint", "boundary")


@dataclass(frozen=True, slots=True)
class _Said:
    """A candidate's side of every comparison, worked out once."""

    statement: Statement
    attribute: str
    single: bool
    free: bool
    loose: bool
    attitude: bool
    instructs: bool
    points: bool
    asserts: bool
    changes: bool
    passing_answer: bool
    negative: bool
    words: KeyWords
    quoted: KeyWords
    value: KeyWords
    naming: KeyWords


class WordRelations:
    """Compares key words, with the thresholds and word lists of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._rules = policy.rules.relations
        self._registry = policy.registry
        self._loose = frozenset(self._rules.loose_attributes)
        self._attitudes = frozenset(self._rules.attitude_attributes)
        self._reach = frozenset(f"~{group}" for group in policy.rules.words.reach)
        self._read = KeyWordReader(policy).read
        self._canonical = lru_cache(maxsize=4096)(policy.registry.canonical)
        self._cues = lru_cache(maxsize=50_000)(self._find_cues)

    def relations(
        self, candidate: Candidate, statement: Statement | None, context: TurnContext, state: OwnerState
    ) -> Sequence[Relation]:
        """Relations to the active memories, surest first; of equals, the later memory first."""
        if statement is None:
            return ()
        said = self._said(candidate, statement)
        found: list[tuple[float, int, Relation]] = []
        for order, (memory_id, now) in enumerate(self._comparable(said, context, state)):
            relation = self._relate(said, now)
            if relation is not None:
                kind, score = relation
                score = round(min(score, 1.0), 4)
                found.append((-score, -order, Relation(kind, memory_id, score)))
        return [relation for *_, relation in sorted(found, key=lambda entry: entry[:2])]

    def _said(self, candidate: Candidate, statement: Statement) -> _Said:
        attribute = self._canonical(statement.attribute)
        entry = self._registry.get(attribute)
        words = self._read(statement.content)
        retracts = candidate.kind == "retraction" or candidate.intent in ("retract", "end")
        naming = candidate.target_words or candidate.former_value
        if naming is None and retracts:
            naming = candidate.value or statement.content
        limited = candidate.has("limiting", "exception", "passing")
        return _Said(
            statement=statement,
            attribute=attribute,
            single=entry.cardinality == "single",
            free=entry.free,
            loose=attribute in self._loose,
            attitude=attribute in self._attitudes or attribute == "address_form",
            instructs=is_instruction(candidate, self._policy) or candidate.kind == "style",
            points=retracts or candidate.intent in _POINTING,
            asserts=not retracts,
            changes=candidate.intent == "change",
            passing_answer=not is_lasting(candidate)
            and (candidate.kind == "answer_instruction" or (candidate.kind == "style" and limited)),
            negative=statement.polarity == "negative" or words.negated,
            words=words,
            quoted=self._read(" ".join(quote for item in candidate.evidence for quote in item.quotes)),
            value=self._read(candidate.value) if candidate.value else NO_WORDS,
            naming=self._read(naming) if naming else NO_WORDS,
        )

    def _comparable(
        self, said: _Said, context: TurnContext, state: OwnerState
    ) -> Iterator[tuple[str, Statement]]:
        """The statements of the same subject that stand when this is said, in the memories' order."""
        subject = said.statement.subject
        folded = fold_value(subject)
        for memory_id, memory in state.memories.items():
            version = memory.current
            if version is None:
                continue
            now = version.statement
            if now.end.at is not None and now.end.at <= context.said_at:
                continue
            if now.subject == subject or fold_value(now.subject) == folded:
                yield memory_id, now

    def _relate(self, said: _Said, now: Statement) -> Found:
        compared = self._compared(said, now) if said.asserts else None
        if not said.points or (compared is not None and compared[0] in ("same", "paraphrase")):
            return compared
        return self._pointed_at(said, now) or compared

    # --- pointing --------------------------------------------------------------------------------

    def _pointed_at(self, said: _Said, now: Statement) -> Found:
        """Whether the words that name something name this memory."""
        held = self._held(now)
        share = said.naming.share_in(held)
        if share >= self._rules.named:
            return "named", 0.8 * share + 0.2 * said.naming.likeness(held)
        if self._tells_of(said, now) and (said.single or not said.naming.terms):
            return "named", 0.7
        if not said.asserts or not said.instructs or now.scope != said.statement.scope:
            return None
        likeness = said.words.likeness(held)
        return ("named", likeness) if self._instructs(now) and likeness >= self._rules.changed else None

    def _tells_of(self, said: _Said, now: Statement) -> bool:
        """Whether the memory is about the candidate's attribute, by its own or by its words."""
        if said.free or said.loose:
            return False
        attribute = self._canonical(now.attribute)
        return attribute == said.attribute or (
            attribute in self._loose and said.attribute in self._cues(now.content)
        )

    # --- comparing -------------------------------------------------------------------------------

    def _compared(self, said: _Said, now: Statement) -> Found:
        if said.passing_answer:
            return self._against(said, now)
        attribute = self._canonical(now.attribute)
        loose = attribute in self._loose and now.value is None
        if said.single:
            if attribute == said.attribute:
                return "covers", 0.95
            if loose and said.attribute in self._cues(now.content):
                return "covers", 0.9
            return self._alike(said, now) if loose else None
        if loose or (said.attitude and attribute in self._attitudes):
            found = self._by_value(said, now)
            if found is not None:
                return found
        if attribute == said.attribute and now.value is not None and not said.free:
            return "covers", 0.4
        if loose or said.loose or attribute == said.attribute or (said.instructs and self._instructs(now)):
            return self._alike(said, now)
        return None

    def _by_value(self, said: _Said, now: Statement) -> Found:
        """The same thing, liked or disliked, whichever attribute or phrase tells of it."""
        held, value = self._held(now), said.value.terms
        if not value or not value <= held.terms:
            return None
        rest = held.terms - value - said.words.terms
        if len(rest) > len(value):
            return None
        score = 0.6 + 0.4 * len(value) / len(held.terms)
        return ("paraphrase", score) if _negative(now, held) == said.negative else ("opposite", score)

    def _alike(self, said: _Said, now: Statement) -> Found:
        """Two texts side by side: the same, the opposite, a wider one, or the same matter put better."""
        held = self._held(now)
        if _differ(said.words.numbers, held.numbers):
            return self._better(said, now, held)
        likeness = max(said.words.likeness(held), said.quoted.likeness(held))
        adds = bool(said.words.terms - held.terms) and bool(said.quoted.terms - held.terms)
        says_no_more = not said.changes and len(said.words.terms) >= 2 and said.words.terms <= held.terms
        tells_how = said.instructs and self._instructs(now)
        if says_no_more or (likeness >= self._rules.paraphrase and not (tells_how and adds)):
            if now.scope.rank < said.statement.scope.rank and tells_how:
                return "covers", likeness
            if _negative(now, held) == said.negative:
                return "paraphrase", max(likeness, self._rules.paraphrase)
            return "opposite", max(likeness, self._rules.paraphrase)
        if tells_how and now.scope.rank < said.statement.scope.rank:
            asked = said.words.terms - self._reach
            share = len(asked & held.terms) / len(asked) if asked else 0.0
            return ("covers", share) if share >= self._rules.widened else None
        return self._better(said, now, held)

    def _better(self, said: _Said, now: Statement, held: KeyWords) -> Found:
        """A standing instruction of the same scope on the same matter."""
        if not said.instructs or now.scope != said.statement.scope or not self._instructs(now):
            return None
        likeness = said.words.likeness(held)
        exclude = bool(said.words.terms & held.terms) and _exclude(said.words, held)
        return ("better", likeness) if likeness >= self._rules.better or exclude else None

    def _against(self, said: _Said, now: Statement) -> Found:
        """A passing instruction against a standing manner of answering: one aspect, another value."""
        if now.scope.kind == "current_task" or now.type not in _TELLS_HOW:
            return None
        held = self._held(now)
        asked = said.words.aspects | said.quoted.aspects
        shared = {aspect for aspect, _ in asked} & {aspect for aspect, _ in held.aspects}
        if not shared:
            return None
        same = all(pair in held.aspects for pair in asked if pair[0] in shared)
        denied = said.words.negated or said.quoted.negated
        return None if same and denied == held.negated else ("opposite", 0.9)

    # --- memories --------------------------------------------------------------------------------

    def _held(self, now: Statement) -> KeyWords:
        return self._read(now.content if now.value is None else f"{now.content} {now.value}")

    def _instructs(self, now: Statement) -> bool:
        """Whether the memory tells the agent how to do something."""
        attribute = self._canonical(now.attribute)
        if attribute in self._policy.rules.scope.instruction_attributes:
            return True
        return attribute in self._loose and now.type in _TELLS_HOW

    def _find_cues(self, content: str) -> frozenset[str]:
        """The single-valued attributes that the words of a text give away."""
        text = normalise(content).text
        return frozenset(
            attribute.name
            for attribute in self._registry.attributes.values()
            if attribute.cardinality == "single"
            and any(says(text, alias) for alias in attribute.aliases if "_" not in alias)
        )


def _negative(now: Statement, held: KeyWords) -> bool:
    return now.polarity == "negative" or held.negated


def _differ(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether both name numbers, and neither names all of the other's."""
    return bool(mine) and bool(theirs) and not (mine <= theirs or theirs <= mine)


def _exclude(mine: KeyWords, theirs: KeyWords) -> bool:
    """Whether both are about one aspect and give it different values."""
    aspects = {aspect for aspect, _ in mine.aspects} & {aspect for aspect, _ in theirs.aspects}
    return any(
        {value for name, value in mine.aspects if name == aspect}
        != {value for name, value in theirs.aspects if name == aspect}
        for aspect in aspects
    )
