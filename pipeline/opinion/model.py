"""The linear model: for each question a few answers, each with a weight for every feature.

Trained by `training/train.py` on clauses with labels. Plain integers, so that the same clause gets the
same answer on every machine.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

QUESTIONS = ("keep", "says", "mood", "about", "lasting", "attribute")
"""What is asked of a clause; see training/README.md for the answers."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One possible answer to a question: `scale` times the summed weights is added to `bias`."""

    name: str
    bias: float
    scale: float
    weights: array[int]


@dataclass(frozen=True, slots=True)
class Model:
    """Places of features among the weights, and the answers to each question."""

    name: str
    places: Mapping[str, int]
    answers: Mapping[str, tuple[Answer, ...]]

    def known(self, features: Sequence[str]) -> list[int]:
        """The places of those features that the model has weights for."""
        places = self.places
        return [places[one] for one in features if one in places]

    def worth_keeping(self, known: Sequence[int]) -> float:
        """How probable it is, 0..1, that a clause with these features is worth keeping."""
        return _probability(_sum(self.answers["keep"][0], known))

    def answer(self, question: str, known: Sequence[int]) -> str:
        """The most probable answer to a question; of equals the first."""
        return max(self.answers[question], key=lambda one: _sum(one, known)).name

    def sure_answer(self, question: str, known: Sequence[int]) -> tuple[str, float]:
        """The most probable answer, and its probability among all others, 0..1."""
        best = max(self.answers[question], key=lambda one: _sum(one, known))
        return best.name, _probability(_sum(best, known))

    def weightiest(self, features: Sequence[str], count: int) -> list[str]:
        """The features that speak most for keeping a clause, the weightiest first."""
        weights = self.answers["keep"][0].weights
        found = [(weights[self.places[one]], one) for one in features if one in self.places]
        found.sort(key=lambda pair: -pair[0])
        return [one for weight, one in found[:count] if weight > 0]


def _probability(score: float) -> float:
    return 1.0 / (1.0 + math.exp(-score))


def _sum(answer: Answer, known: Sequence[int]) -> float:
    if not known:
        return answer.bias
    weights = answer.weights
    return answer.bias + answer.scale * sum([weights[place] for place in known]) / math.sqrt(len(known))


@cache
def the_model() -> Model:
    """The model of the package, read once."""
    folder = resources.files(__package__)
    about = json.loads(folder.joinpath("model.json").read_text("utf-8"))
    names = folder.joinpath("features.txt").read_text("utf-8").split("\n")
    raw = array("b", folder.joinpath("weights.bin").read_bytes())
    answers: dict[str, tuple[Answer, ...]] = {}
    at = 0
    for question in QUESTIONS:
        read = []
        for answer in about["answers"][question]:
            weights = raw[at : at + len(names)]
            at += len(names)
            read.append(Answer(answer["name"], answer["bias"], answer["scale"], weights))
        answers[question] = tuple(read)
    return Model(about["name"], dict(zip(names, range(len(names)), strict=True)), answers)
