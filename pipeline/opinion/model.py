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
from functools import cache, cached_property
from importlib import resources
from operator import itemgetter

QUESTIONS = ("keep", "says", "mood", "about", "lasting", "attribute")
"""What is asked of a clause; see training/README.md for the answers."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One possible answer to a question: `scale` times the summed weights is added to `bias`."""

    name: str
    bias: float
    scale: float
    weights: array[int]


@dataclass(frozen=True)
class Model:
    """Places of features among the weights, and the answers to each question."""

    name: str
    places: Mapping[str, int]
    answers: Mapping[str, tuple[Answer, ...]]

    @cached_property
    def _keep(self) -> Mapping[str, int]:
        return dict(zip(self.places, self.answers["keep"][0].weights, strict=True))

    def known(self, features: Sequence[str]) -> list[int]:
        """The places of those features that the model has weights for."""
        places = self.places
        return [places[one] for one in features if one in places]

    def worth_keeping(self, features: Sequence[str]) -> float:
        """How probable it is, 0..1, that a clause with these features is worth keeping."""
        found = [*map(self._keep.get, features)]  # asked of every clause: by feature, not by place
        keep = self.answers["keep"][0]
        known = len(found) - found.count(None)
        return _probability(keep.bias + keep.scale * sum(filter(None, found)) / math.sqrt(known or 1))

    def answer(self, question: str, known: Sequence[int]) -> str:
        """The most probable answer to a question; of equals the first."""
        return self._scored(question, known)[0][1]

    def sure_answer(self, question: str, known: Sequence[int]) -> tuple[str, float]:
        """The most probable answer, and its probability among all others, 0..1."""
        score, name = self._scored(question, known)[0]
        return name, _probability(score)

    def _scored(self, question: str, known: Sequence[int]) -> list[tuple[float, str]]:
        """The answers with their scores, the best first."""
        pick = itemgetter(*known) if len(known) > 1 else None  # of one place it gives no tuple
        share = 1.0 / math.sqrt(len(known) or 1)
        scored = []
        for one in self.answers[question]:
            weights = one.weights
            total = sum(pick(weights)) if pick else sum(weights[place] for place in known)
            scored.append((one.bias + one.scale * total * share, one.name))
        return sorted(scored, key=lambda pair: -pair[0])

    def weightiest(self, features: Sequence[str], count: int) -> list[str]:
        """The features that speak most for keeping a clause, the weightiest first."""
        weights = self.answers["keep"][0].weights
        found = [(weights[self.places[one]], one) for one in features if one in self.places]
        found.sort(key=lambda pair: -pair[0])
        return [one for weight, one in found[:count] if weight > 0]


def _probability(score: float) -> float:
    return 1.0 / (1.0 + math.exp(-score))


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
