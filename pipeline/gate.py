"""The fast reject: turns that are not worth a second look, told apart without any model."""

from __future__ import annotations

from ..domain.judgement import Category, Judgement
from ..domain.ports import Prepared
from .text import fold_for_comparison


def fast_reject(prepared: Prepared) -> Judgement | None:
    """The judgement of a turn that says nothing; None when the turn deserves a look."""
    if not fold_for_comparison(prepared.text):
        return rejected("unclear", "gate.empty", "the message says nothing")
    return None


def rejected(category: Category, rule: str, reason: str) -> Judgement:
    """A judgement that lets nothing through."""
    return Judgement(
        should_extract=False,
        confidence=1.0,
        category=category,
        stability="unclear",
        importance=0,
        reason=reason,
        route="fast_reject",
        rule=rule,
    )
