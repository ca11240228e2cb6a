"""Whether somebody tries to plant a memory or an instruction by the user's own part of a message.

What is only shown (`material.py`) is not read here. The words are data (`lexicon/planting.toml`): some are an
attempt by themselves, others only together, wherever in the message they stand.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from .segment import Sentence
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
    """Of all that is looked for by the first mark of each combination."""


@cache
def _words() -> _Words:
    raw = tomllib.loads(resources.files(__package__).joinpath("lexicon/planting.toml").read_text("utf-8"))
    marks = {name: Sought(_either(part["patterns"])) for name, part in raw["marks"].items()}
    together = [_Together(tuple(rule["all"]), tuple(rule.get("unless", ()))) for rule in raw["planting"]]
    leads = Needs.of_any(marks[name] for name in dict.fromkeys(rule.all[0] for rule in together))
    return _Words(Sought(_either(raw["alone"]["patterns"])), marks, together, leads)


def _either(patterns: Sequence[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def plants_something(sentences: Sequence[Sentence]) -> bool:
    """Whether the sentences speak to the memory, or to the model behind the assistant, in the user's name."""
    words = _words()
    said = [text for text in map(_told, sentences) if text[0]]
    if any(words.alone.search(text, pieces) for text, pieces in said):
        return True
    if not any(words.leads.met_in(text, pieces) for text, pieces in said):
        return False
    return any(
        all(_stands(mark, said) for mark in rule.all) and not any(_stands(mark, said) for mark in rule.unless)
        for rule in words.together
    )


def _stands(mark: str, said: Sequence[tuple[str, Pieces]]) -> bool:
    sought = _words().marks[mark]
    return any(sought.search(text, pieces) for text, pieces in said)


def _told(sentence: Sentence) -> tuple[str, Pieces]:
    """The words of a sentence without the clauses that ask, and nothing hidden in them.

    Who asks what an attack looks like plants nothing.
    """
    text = sentence.text
    if any(clause.question for clause in sentence.clauses):
        text = ",".join(clause.text for clause in sentence.clauses if not clause.question)
    plain = undisguised(text)
    return plain, sentence.pieces if plain is sentence.text else pieces_of(plain)
