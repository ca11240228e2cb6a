"""Whether somebody tries to plant a memory or an instruction by the user's own part of a message.

What is only shown (`material.py`) is not read here. The words are data (`lexicon/planting.toml`): some are an
attempt by themselves, others only together, wherever in the message they stand.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from .segment import MAX_LENGTH, Clause, Segmented, Sentence
from .sought import AnyOf, Pieces, Sought, pieces_of
from .text import undisguised


@dataclass(frozen=True, slots=True)
class _Together:
    """Marks of which a message must hold every one of `all` and none of `unless`."""

    all: tuple[str, ...]
    unless: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Words:
    alone: AnyOf
    orders: Sought
    """Clauses with one of these ask for something to be done, whatever they look like."""
    machinery: Sought
    """Of what the assistant works by: its memory, its orders, the files that tell it what to do."""
    marks: Mapping[str, AnyOf]
    together: Sequence[_Together]

    def may_plant(self, text: str, pieces: Pieces) -> bool:
        """Whether a text holds the words of an attempt, or of all marks of one combination."""
        if self.alone.needs.met_in(text, pieces):
            return True
        known: dict[str, bool] = {}

        def may_stand(mark: str) -> bool:
            if mark not in known:
                known[mark] = self.marks[mark].needs.met_in(text, pieces)
            return known[mark]

        return any(all(map(may_stand, rule.all)) for rule in self.together)


@cache
def _words() -> _Words:
    raw = tomllib.loads(resources.files(__package__).joinpath("lexicon/planting.toml").read_text("utf-8"))
    alone = AnyOf(Sought(pattern) for pattern in raw["alone"]["patterns"])
    orders = Sought("|".join(raw["orders"]["patterns"]))
    machinery = Sought("|".join(raw["machinery"]["patterns"]))
    marks = {name: AnyOf(Sought(one) for one in part["patterns"]) for name, part in raw["marks"].items()}
    together = [_Together(tuple(rule["all"]), tuple(rule.get("unless", ()))) for rule in raw["planting"]]
    return _Words(alone, orders, machinery, marks, together)


def plants_something(parts: Segmented) -> bool:
    """Whether a message speaks to the memory, or to the model behind the assistant, in the user's name."""
    words = _words()
    whole = parts.norm.text[:MAX_LENGTH]
    if undisguised(whole) is not whole:
        plain = undisguised("\n".join(_stretches(parts)))
        said = [(plain, pieces_of(plain))]
    elif words.may_plant(whole, pieces_of(whole)):
        told = map(_told, (*parts.sentences, *parts.foreign))
        said = [(text, pieces) for text, pieces in told if text]
    else:
        return False
    if _stands(words.alone, said):
        return True
    known: dict[str, bool] = {}

    def stands(mark: str) -> bool:
        if mark not in known:
            known[mark] = _stands(words.marks[mark], said)
        return known[mark]

    return any(all(map(stands, rule.all)) and not any(map(stands, rule.unless)) for rule in words.together)


def speaks_of_machinery(text: str, pieces: Pieces) -> bool:
    """Whether a normalised text speaks of the assistant's memory, orders or files."""
    return _words().machinery.search(text, pieces) is not None


def _stands(patterns: AnyOf, said: Sequence[tuple[str, Pieces]]) -> bool:
    return any(patterns.stands_in(text, pieces) for text, pieces in said)


def _stretches(parts: Segmented) -> Iterator[str]:
    """What stands between the material, and what is material for its own words only."""
    at = 0
    own = {(one.start, one.end) for one in parts.foreign}
    for part in parts.material:
        if (part.start, part.end) not in own:
            yield parts.norm.text[at : part.start]
            at = part.end
    yield parts.norm.text[at:MAX_LENGTH]


def _told(sentence: Sentence) -> tuple[str, Pieces]:
    """The words of a sentence without the clauses that ask: who asks about an attack plants nothing."""
    told = [clause.text for clause in sentence.clauses if not _asks(clause, sentence.pieces)]
    if len(told) == len(sentence.clauses):
        return sentence.text, sentence.pieces
    text = ",".join(told)
    return text, pieces_of(text)


def _asks(clause: Clause, pieces: Pieces) -> bool:
    return clause.question and _words().orders.search(clause.text, pieces) is None
