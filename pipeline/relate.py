"""Finds the memories that a candidate is about, by the words that both hold.

Slots settle most of it. Words are for what has no slot: free text, imports without an attribute, and
phrases that point at a memory ("the rule about blockers"). Nothing here knows a clock or a model, so
that the same state gives the same relations whenever a decision is taken again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Literal

from ..domain.candidate import Candidate
from ..domain.decision import REACHING, Relation
from ..domain.directory import Index
from ..domain.frame import is_change, is_contrast, is_correction, is_instruction, is_lasting
from ..domain.memory import Memory
from ..domain.owner_state import OwnerState
from ..domain.policy import Policy
from ..domain.slot import Registry, fold_value
from ..domain.statement import Statement
from ..domain.turn import TurnContext
from .carrying import carried, in_place_of_value
from .carrying_en import has_number, shares_words
from .keywords import NO_WORDS, KeyWordReader, says
from .likeness import Kept, Said, against, relate
from .pointing import Pointing
from .text import normalise

_TELLS_HOW = ("preference", "conversation_style", "constraint", "boundary")
_CACHED = 50_000


POINTED = ("named", "same", "opposite", "paraphrase")
"""The relations by which a retraction finds what it takes back."""

_Key = str | tuple[Literal["attribute", "aspect"], str]
"""What a memory is compared by: a term of its words, an attribute that it is on or that its words tell
of, an aspect of which they say something."""


class WordRelations:
    """Compares key words, with the thresholds and word lists of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._rules = policy.rules.relations
        self._registry = policy.registry
        self._loose = frozenset(self._rules.loose_attributes)
        self._attitudes = frozenset(self._rules.attitude_attributes)
        self._reach = frozenset(f"~{group}" for group in policy.rules.words.reach)
        reader, pointing = KeyWordReader(policy), self._rules.pointing
        self._read = reader.read
        self._pointing = Pointing(policy, pointing, reader) if pointing is not None else None
        self._kept = lru_cache(maxsize=_CACHED)(self._keep)
        self._by_words = Index(self._word_keys)

    def relations(
        self, candidate: Candidate, statement: Statement | None, context: TurnContext, state: OwnerState
    ) -> Sequence[Relation]:
        """Relations to the active memories, surest first; of equals, the later memory first."""
        if statement is None:
            return ()
        said, contrast = self._said(candidate, statement), is_contrast(candidate)
        replaces = said.asserts and (is_change(candidate) or is_correction(candidate))
        former = candidate.former_value if replaces else None
        found: list[tuple[float, int, Relation]] = []
        compared = self._worth_comparing(candidate, said, state)
        for order, (memory_id, now) in enumerate(_standing(statement.subject, context, compared)):
            kept = self._kept(now.attribute, now.type, now.content, now.value, now.polarity)
            if contrast:
                if now.provenance.turn_id == context.turn_id:
                    continue  # what the same words have just said is not what they contrast with
                found += self._contrasted(candidate, now, kept, memory_id, order)
                continue
            relation = (
                against(said, kept, now.scope) if said.passing else relate(said, kept, now.scope, self._rules)
            )
            if former and self._holds_former(former, candidate, said, now, kept):
                relation = ("named", 0.95)
            if relation is not None:
                kind, score = relation
                score = round(min(score, 1.0), 4)
                found.append((-score, -order, Relation(kind, memory_id, score)))
        relations = [relation for *_, relation in sorted(found, key=lambda entry: entry[:2])]
        if any(relation.kind in POINTED for relation in relations):
            return relations
        if not said.asserts:
            return self._pointed_at(candidate, statement, context, state)
        if is_correction(candidate) and not contrast:
            return [*self._corrected(candidate, statement, context, state), *relations]
        return relations

    def _pointed_at(
        self, candidate: Candidate, statement: Statement, context: TurnContext, state: OwnerState
    ) -> Sequence[Relation]:
        """The memory that is taken back by words that name it loosely, if it is clear which one.

        A model takes for a retraction what only sounds like one, so that its words must say so.
        """
        words = candidate.target_words or candidate.former_value or candidate.value
        if self._pointing is None or not words:
            return ()
        if candidate.channel == "model" and not self._pointing.lets_go(words):
            return ()
        found = self._pointing.meant(words, state, partial(_standing, statement.subject, context))
        return () if found is None else (Relation("named", *found),)

    def _corrected(
        self, candidate: Candidate, statement: Statement, context: TurnContext, state: OwnerState
    ) -> Sequence[Relation]:
        """The memory that is wrong if this is right: on the same matter, or on no registered one."""
        if self._pointing is None:
            return ()

        def on_it(memories: Iterable[Memory]) -> Iterator[tuple[str, Statement]]:
            for memory_id, now in _standing(statement.subject, context, memories):
                name = self._registry.canonical(now.attribute)
                on_none = name in self._loose or name not in self._registry.attributes
                if now.provenance.turn_id != context.turn_id and (on_none or name == statement.attribute):
                    yield memory_id, now

        quoted = " ".join(quote for item in candidate.evidence for quote in item.quotes)
        found = self._pointing.meant(quoted, state, on_it)
        return () if found is None else (Relation("named", *found),)

    def _worth_comparing(self, candidate: Candidate, said: Said, state: OwnerState) -> Iterable[Memory]:
        """The active memories to which there may be a relation: those that share a word or the attribute.

        An attribute of many values is shared by many: there it counts for words that reach over values.
        Words that point at a memory may name it by a piece of a word, so they look at all of them.
        """
        if said.points or is_contrast(candidate):
            return state.active()
        if said.passing:
            asked = said.words.aspects | said.quoted.aspects
            return state.find(self._by_words, *{("aspect", aspect) for aspect, _ in asked})
        keys: set[_Key] = set(said.terms)
        if not (said.free or said.loose) and (said.single or candidate.has(*REACHING)):
            keys.add(("attribute", said.attribute))
        return state.find(self._by_words, *keys)

    def _word_keys(self, memory: Memory, _: Registry) -> Iterator[_Key]:
        if memory.current is None:
            return
        now = memory.current.statement
        kept = self._kept(now.attribute, now.type, now.content, now.value, now.polarity)
        yield from kept.words.terms
        for attribute in (kept.attribute, *kept.cues):
            yield "attribute", attribute
        for aspect, _value in kept.words.aspects:
            yield "aspect", aspect

    def _holds_former(
        self, former: str, candidate: Candidate, said: Said, now: Statement, kept: Kept
    ) -> bool:
        """Whether a memory on the same matter, or on none in particular, holds what is so no longer."""
        on_it = kept.loose or kept.attribute == said.attribute
        return on_it and carried(former, candidate.value or "", now.content, now.value) is not None

    def _contrasted(
        self, candidate: Candidate, now: Statement, kept: Kept, memory_id: str, order: int
    ) -> list[tuple[float, int, Relation]]:
        """The memory as the one that a contrast is about: it holds what was so, or is on the matter named."""
        former, new, matter = candidate.former_value, candidate.value, candidate.target_words
        if new is None:
            return []
        if former:
            wording = carried(former, new, now.content, now.value)
            score = 0.9 + 0.1 * min(len(former) / max(len(now.content), 1), 1.0)
            if former.isascii() and has_number(former):
                quoted = " ".join(quote for item in candidate.evidence for quote in item.quotes)
                on_it = shares_words(quoted, now.content)
                score = score if on_it else 0.7
                wording = wording if on_it or is_correction(candidate) else None
        else:
            named = bool(matter) and not kept.instructs and self._is_on(matter or "", kept, now.content)
            wording = (
                in_place_of_value(new, now.content, now.value) or (candidate.content, new) if named else None
            )
            score = 0.8
        if wording is None or wording[0] == now.content:
            return []
        return [(-score, -order, Relation("named", memory_id, score, wording))]

    def _is_on(self, matter: str, kept: Kept, content: str) -> bool:
        """Whether a memory is on a matter, by a name of its attribute or by its own words."""
        entry = self._registry.get(kept.attribute)
        names = [alias for alias in (*entry.aliases, *entry.label.values()) if not alias.isascii()]
        asked = normalise(matter).text
        if self._pointing is not None and kept.attribute in self._pointing.cues(asked):
            return True
        return any(name in asked for name in names) or asked in normalise(content).text

    def _said(self, candidate: Candidate, statement: Statement) -> Said:
        attribute = self._registry.canonical(statement.attribute)
        entry = self._registry.get(attribute)
        retracts = candidate.kind == "retraction" or candidate.intent in ("retract", "end")
        naming = candidate.target_words or candidate.former_value
        if naming is None and retracts:
            naming = candidate.value or statement.content
        limited = candidate.has("limiting", "exception", "passing")
        of_this_answer = candidate.kind == "answer_instruction" or (candidate.kind == "style" and limited)
        words = self._read(statement.content)
        quoted = self._read(" ".join(quote for item in candidate.evidence for quote in item.quotes))
        value = self._read(candidate.value) if candidate.value else NO_WORDS
        named = self._read(naming) if naming else NO_WORDS
        return Said(
            scope=statement.scope,
            attribute=attribute,
            single=entry.cardinality == "single",
            free=entry.free,
            loose=attribute in self._loose,
            attitude=attribute in self._attitudes,
            instructs=is_instruction(candidate, self._policy) or candidate.kind == "style",
            points=retracts
            or is_change(candidate)
            or is_correction(candidate)
            or (candidate.intent == "add" and candidate.target_words is not None),
            asserts=not retracts,
            changes=is_change(candidate),
            passing=of_this_answer and not is_lasting(candidate),
            negative=statement.polarity == "negative" or words.negated,
            words=words,
            quoted=quoted,
            told=candidate.value,
            value=value,
            naming=named,
            terms=words.terms | quoted.terms | value.terms | named.terms,
            asked=words.terms - self._reach,
        )

    def _keep(self, attribute: str, type_: str, content: str, value: str | None, polarity: str) -> Kept:
        attribute = self._registry.canonical(attribute)
        entry = self._registry.get(attribute)
        told_how = attribute in (*self._policy.rules.scope.instruction_attributes, "constraint")
        loose = value is None and (entry.free or attribute not in self._registry.attributes) and not told_how
        words = self._read(content if value is None else f"{content} {value}")
        instructs = attribute in self._policy.rules.scope.instruction_attributes or (
            attribute in self._loose and type_ in _TELLS_HOW
        )
        return Kept(
            attribute=attribute,
            loose=loose,
            value=value,
            instructs=instructs,
            attitude=attribute in self._attitudes,
            negative=polarity == "negative" or words.negated,
            words=words,
            cues=self._cues(content) if loose else frozenset(),
            asked=words.terms - self._reach,
        )

    def _cues(self, content: str) -> frozenset[str]:
        """The single-valued attributes that the words of a text give away."""
        text = normalise(content).text
        return frozenset(
            attribute.name
            for attribute in self._registry.attributes.values()
            if attribute.cardinality == "single"
            and any(says(text, alias) for alias in attribute.aliases if "_" not in alias)
        )


def _standing(
    subject: str, context: TurnContext, memories: Iterable[Memory]
) -> Iterator[tuple[str, Statement]]:
    """The statements of the subject that stand when this is said, in the memories' order."""
    folded = fold_value(subject)
    for memory in memories:
        if memory.current is None:
            continue
        now = memory.current.statement
        if now.end.at is not None and now.end.at <= context.said_at:
            continue
        if now.subject == subject or fold_value(now.subject) == folded:
            yield memory.memory_id, now
