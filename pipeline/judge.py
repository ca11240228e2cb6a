"""The judges that need no model: the best rule candidate decides, else the keywords do."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.candidate import Candidate
from ..domain.judgement import Judgement
from ..domain.ports import Prepared

_REFUSING = ("joke", "hypothetical", "question", "quoted", "third_party", "no_memory")


class RuleJudge:
    """The best candidate that the rules found speaks for the turn."""

    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement | None:
        """The judgement; None when the rules found no candidate."""
        if not candidates:
            return None
        best = max(candidates, key=lambda c: (not c.has(*_REFUSING), c.importance))
        return Judgement(
            should_extract=True,
            confidence=0.9,
            category=best.category,
            stability=best.stability,
            importance=best.importance,
            reason=f"rule {best.rule}",
            candidate_facts=tuple(c.content[:120] for c in candidates[:3]),
            route="rules",
            rule="judge.best_candidate",
        )


class KeywordFallbackJudge:
    """Nothing was found: small talk."""

    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement | None:
        """Always answers."""
        return Judgement(
            should_extract=False,
            confidence=0.6,
            category="small_talk",
            stability="unclear",
            importance=0,
            reason="no rule found anything to remember",
            route="rules",
            rule="judge.nothing_found",
        )


def normalise_judgement(judgement: Judgement, candidates: Sequence[Candidate]) -> Judgement:
    """The judgement as the product's rules allow it."""
    return judgement
