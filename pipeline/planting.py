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

from .segment import MAX_LENGTH, Segmented, Sentence
from .sought import Needs, Pieces, Sought, pieces_of
from .text import undisguised


@dataclass(frozen=True, slots=True)
class _Together:
    """Marks of which a message must hold every one of `all` and none of `unless`."""

    all: tuple[str, ...]
    unless: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Words:
    alone: Sought
    marks: Mapping[str, Sought]
    together: Sequence[_Together]
    leads: Needs
    """Of what is an attempt alone, and of the first mark of each combination."""


@cache
def _words() -> _Words:
    raw = tomllib.loads(resources.files(__package__).joinpath("lexicon/planting.toml").read_text("utf-8"))
    marks = {name: Sought(_either(part["patterns"])) for name, part in raw["marks"].items()}
    together = [_Together(tuple(rule["all"]), tuple(rule.get("unless", ()))) for rule in raw["planting"]]
    alone = Sought(_either(raw["alone"]["patterns"]))
    leads = Needs.of_any([alone, *(marks[rule.all[0]] for rule in together)])
    return _Words(alone, marks, together, leads)


def _either(patterns: Sequence[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def plants_something(parts: Segmented) -> bool:
    """Whether a message speaks to the memory, or to the model behind the assistant, in the user's name."""
    words = _words()
    whole = parts.norm.text[:MAX_LENGTH]
    if undisguised(whole) is not whole:
        plain = undisguised("\n".join(_stretches(parts)))
        said = [(plain, pieces_of(plain))]
    elif words.leads.met_in(whole, pieces_of(whole)):
        told = map(_told, (*parts.sentences, *parts.foreign))
        said = [(text, pieces) for text, pieces in told if text]
    else:
        return False
    if any(words.alone.search(text, pieces) for text, pieces in said):
        return True
    known: dict[str, bool] = {}

    def stands(mark: str) -> bool:
        if mark not in known:
            sought = words.marks[mark]
            known[mark] = any(sought.search(text, pieces) for text, pieces in said)
        return known[mark]

    return any(all(map(stands, rule.all)) and not any(map(stands, rule.unless)) for rule in words.together)


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
    if not any(clause.question for clause in sentence.clauses):
        return sentence.text, sentence.pieces
    text = ",".join(clause.text for clause in sentence.clauses if not clause.question)
    return text, pieces_of(text)
