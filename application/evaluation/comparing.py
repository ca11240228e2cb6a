"""What another policy decides otherwise, case by case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .judging import Verdict
from .rates import RATES, Evaluation


@dataclass(frozen=True, slots=True)
class Changed:
    """A case of which the decisions differ."""

    before: Verdict
    after: Verdict

    @property
    def outcome(self) -> str:
        """`mended`, `broken`, or `right` or `wrong` before and after."""
        match self.before.right, self.after.right:
            case False, True:
                return "mended"
            case True, False:
                return "broken"
            case True, True:
                return "right"
            case _:
                return "wrong"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two evaluations of the same cases."""

    before: Evaluation
    after: Evaluation

    def changed(self) -> Iterator[Changed]:
        """The cases that were decided otherwise, in their order."""
        for before, after in zip(self.before.verdicts, self.after.verdicts, strict=True):
            if (before.decided, before.taken, before.why) != (after.decided, after.taken, after.why):
                yield Changed(before, after)

    def to_document(self) -> dict[str, object]:
        """The report as plain data, fit for JSON."""
        return {
            "cases": len(self.after.verdicts),
            "rates": {
                name: {"before": self.before.rate(name), "after": self.after.rate(name)} for name in RATES
            },
            "leaks": {"before": self.before.leaks, "after": self.after.leaks},
            "right": {"before": _right(self.before), "after": _right(self.after)},
            "changed": [
                {
                    "id": one.after.case.id,
                    "outcome": one.outcome,
                    "before": one.before.decided,
                    "after": one.after.decided,
                }
                for one in self.changed()
            ],
        }


def _right(evaluation: Evaluation) -> int:
    return sum(verdict.right for verdict in evaluation.verdicts)
