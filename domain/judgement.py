"""The gate's answer about a turn: is it worth extracting from?"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .values import Value

Category = Literal[
    "preference",
    "boundary",
    "relationship_goal",
    "conversation_style",
    "important_fact",
    "identity_profile",
    "temporary_emotion",
    "small_talk",
    "assistant_generated",
    "duplicate",
    "unsafe",
    "unclear",
]

Stability = Literal["stable", "likely_stable", "temporary", "unclear"]

GateRoute = Literal["blocked", "fast_reject", "rules", "keywords", "model"]
"""Which station gave the answer: the safety boundary, the fast reject, the rule candidates, the
keyword fallback (a model was asked and failed) or a model."""


class Judgement(Value):
    """Whether a turn deserves extraction, and how sure the judge is.

    `confidence` lies in 0..1, `importance` in 0..5. `rule` names the deterministic rule or the
    model's route that decided.
    """

    should_extract: bool
    confidence: float = Field(ge=0, le=1)
    category: Category
    stability: Stability
    importance: int = Field(ge=0, le=5)
    reason: str = Field(max_length=300)
    candidate_facts: tuple[str, ...] = Field(default=(), max_length=3)
    """At most three, each of at most 120 characters; a hint for the extractor, not a memory."""
    route: GateRoute
    rule: str
