"""How a candidate and one remembered statement relate, by their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..domain.policy import RelationRules
from ..domain.scope import Scope
from .keywords import KeyWords
from .one_value import is_one_value
from .text import is_han

RelationKind = Literal["same", "paraphrase", "opposite", "named", "better", "covers"]
Found = tuple[RelationKind, float] | None


@dataclass(frozen=True, slots=True)
class Kept:
    """What a remembered statement comes to in comparisons, but for its scope.

    `loose`: it has no attribute to speak of and is told by its words alone. `instructs`: it tells the
    agent how to do something. `cues` are the single-valued attributes that loose words give away.
    """

    attribute: str
    loose: bool
    value: str | None
    instructs: bool
    attitude: bool
    negative: bool
    words: KeyWords
    cues: frozenset[str]
    asked: frozenset[str] = frozenset()
    """As in `Said`."""


@dataclass(frozen=True, slots=True)
class Said:
    """A candidate's side of every comparison, worked out once.

    `points`: its words may name a memory (for a change, a correction, a retraction). `asserts`: it
    says that something is so. `passing`: it is an instruction for the answer at hand.
    """

    scope: Scope
    attribute: str
    single: bool
    free: bool
    loose: bool
    attitude: bool
    instructs: bool
    points: bool
    asserts: bool
    changes: bool
    passing: bool
    negative: bool
    words: KeyWords
    quoted: KeyWords
    told: str | None
    """The value as it was said."""
    value: KeyWords
    naming: KeyWords
    terms: frozenset[str]
    """All of its terms; a memory that holds none of them can only be related by its attribute."""
    asked: frozenset[str]
    """The terms of the content without those that only say how far it reaches."""


def relate(said: Said, kept: Kept, scope: Scope, rules: RelationRules) -> Found:
    """The relation of a remembered statement in that scope, and how sure it is; None for none.

    Words that point at the memory outweigh a mere likeness, but not one that makes both the same.
    """
    apart = kept.words.terms.isdisjoint(said.terms) and not _tells_of(said, kept)
    if apart and not (said.points and _names_by_one_character(said.naming, kept.words)):
        return None
    found = compare(said, kept, scope, rules) if said.asserts else None
    if not said.points or (found is not None and found[0] in ("same", "paraphrase")):
        return found
    return point(said, kept, scope, rules) or found


def against(said: Said, kept: Kept, scope: Scope) -> Found:
    """A passing instruction against a standing manner of answering: one aspect, another value."""
    if not kept.instructs or scope.kind == "current_task":
        return None
    asked = said.words.aspects | said.quoted.aspects
    shared = {aspect for aspect, _ in asked} & {aspect for aspect, _ in kept.words.aspects}
    if not shared:
        return None
    same = all(pair in kept.words.aspects for pair in asked if pair[0] in shared)
    denied = said.words.negated or said.quoted.negated
    return None if same and denied == kept.words.negated else ("opposite", 0.9)


def point(said: Said, kept: Kept, scope: Scope, rules: RelationRules) -> Found:
    """Whether the words that name something name this memory."""
    share = said.naming.share_in(kept.words)
    if share >= rules.named:
        return "named", 0.8 * share + 0.2 * said.naming.likeness(kept.words)
    if _names_by_one_character(said.naming, kept.words):
        return "named", 0.6
    tells_of = _tells_of(said, kept)
    if tells_of and (said.single or not (said.asserts or said.naming.terms)):
        return "named", 0.7
    one_scope = said.instructs and kept.instructs and scope == said.scope
    if not said.asserts or not (tells_of or one_scope):
        return None
    likeness = said.words.likeness(kept.words)
    return ("named", likeness) if likeness >= rules.changed else None


def _names_by_one_character(naming: KeyWords, words: KeyWords) -> bool:
    """Whether lone Hanzi (狗) are all that names it, and the memory's words hold each of them."""
    lone = [term for term in naming.terms if len(term) == 1 and is_han(term)]
    return (
        bool(lone)
        and len(lone) == len(naming.terms)
        and all(any(one in term for term in words.terms) for one in lone)
    )


def compare(said: Said, kept: Kept, scope: Scope, rules: RelationRules) -> Found:
    """Whether the memory says the same, the opposite, a part of it, or the same matter less well."""
    if said.single:
        if _tells_of(said, kept):
            if _same_value(said, kept, rules):
                return "same", 0.95
            return ("paraphrase", 0.9) if kept.loose and _holds_value(said, kept) else ("covers", 0.9)
        return alike(said, kept, scope, rules) if kept.loose else None
    if kept.loose or (said.attitude and kept.attitude):
        found = by_value(said, kept)
        if found is not None:
            return found
    same_attribute = kept.attribute == said.attribute
    if same_attribute and kept.value is not None and not said.free:
        return "covers", 0.4
    if kept.loose or said.loose or same_attribute or (said.instructs and kept.instructs):
        return alike(said, kept, scope, rules)
    return None


def _same_value(said: Said, kept: Kept, rules: RelationRules) -> bool:
    """Whether both tell one value of one attribute, in another spelling, and nothing is said to change."""
    if rules.values is None or said.told is None or kept.value is None or said.changes:
        return False
    return said.attribute == kept.attribute and is_one_value(said.told, kept.value, rules.values)


def by_value(said: Said, kept: Kept) -> Found:
    """The same thing, liked or disliked, whichever attribute or phrase tells of it."""
    value = said.value.terms
    if not value or not value <= kept.words.terms:
        return None
    rest = kept.words.terms - value - said.words.terms
    if len(rest) > len(value):
        return None
    score = 0.6 + 0.4 * len(value) / len(kept.words.terms)
    return ("paraphrase", score) if kept.negative == said.negative else ("opposite", score)


def alike(said: Said, kept: Kept, scope: Scope, rules: RelationRules) -> Found:
    """Two texts side by side. Where both name numbers, other numbers make another statement."""
    tells_how = said.instructs and kept.instructs
    if _differ(said.words.numbers, kept.words.numbers):
        if said.single and said.changes and kept.loose:
            return _but_for_the_numbers(said, kept, rules)
        return better(said, kept, scope, rules)
    if _repeats(said, kept, rules, tells_how=tells_how):
        if tells_how and scope.rank < said.scope.rank:
            return "covers", said.words.likeness(kept.words)
        score = max(said.words.likeness(kept.words), rules.paraphrase)
        return ("paraphrase", score) if kept.negative == said.negative else ("opposite", score)
    if tells_how and scope.rank < said.scope.rank:
        share = len(said.asked & kept.words.terms) / len(said.asked) if said.asked else 0.0
        return ("covers", share) if share >= rules.widened else None
    return better(said, kept, scope, rules)


def _but_for_the_numbers(said: Said, kept: Kept, rules: RelationRules) -> Found:
    """A change of what a text says in numbers: a date, a price, a port."""
    mine, theirs = said.words.terms - said.words.numbers, kept.words.terms - kept.words.numbers
    total = len(mine) + len(theirs)
    likeness = 2 * len(mine & theirs) / total if total else 0.0
    return ("named", likeness) if likeness >= rules.named else None


def better(said: Said, kept: Kept, scope: Scope, rules: RelationRules) -> Found:
    """A standing instruction of the same scope on the same matter."""
    if not (said.instructs and kept.instructs) or scope != said.scope:
        return None
    likeness = said.words.likeness(kept.words)
    one_matter = _share_a_matter(said.words, kept.words) and _exclude(said.words, kept.words)
    return ("better", likeness) if likeness >= rules.better or one_matter else None


def _share_a_matter(mine: KeyWords, theirs: KeyWords) -> bool:
    """Whether a word of both says what they are about; a lone Hanzi such as 写 does not."""
    return any(len(term) > 1 or not is_han(term) for term in mine.terms & theirs.terms)


def _repeats(said: Said, kept: Kept, rules: RelationRules, *, tells_how: bool) -> bool:
    """Whether the candidate adds nothing, or hardly anything, to what the memory says.

    An instruction that adds a word asks for something else; what is said to change is no repetition
    merely because it is shorter.
    """
    held = kept.words
    if not said.changes and len(said.words.terms) >= 2 and said.words.terms <= held.terms:
        return True
    if tells_how and said.words.aspects and said.asked == kept.asked and not said.changes:
        return True
    adds = bool(said.words.terms - held.terms) and bool(said.quoted.terms - held.terms)
    likeness = max(said.words.likeness(held), said.quoted.likeness(held))
    return likeness >= rules.paraphrase and not (tells_how and adds)


def _holds_value(said: Said, kept: Kept) -> bool:
    """Whether loose words on the candidate's attribute tell its value: its numbers, or its words."""
    if said.words.numbers or kept.words.numbers:
        return said.words.numbers == kept.words.numbers
    return bool(said.value.terms) and said.value.terms <= kept.words.terms


def _tells_of(said: Said, kept: Kept) -> bool:
    """Whether the memory is about the candidate's attribute, by its own or by its words."""
    if said.free or said.loose:
        return False
    return kept.attribute == said.attribute or said.attribute in kept.cues


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
