"""The rates over many cases, and the report that is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .cases import Case
from .judging import Verdict

RATES: dict[str, Callable[[Verdict], bool | None]] = {
    "wrong_write": lambda verdict: verdict.wrong_write,
    "missed_write": lambda verdict: verdict.missed_write,
    "scope_error": lambda verdict: verdict.scope_error,
    "over_generalised": lambda verdict: verdict.over_generalised,
    "conflict_accuracy": lambda verdict: verdict.conflict_right,
    "lifetime_error": lambda verdict: verdict.lifetime_error,
    "reason_accuracy": lambda verdict: verdict.reason_right,
    "type_error": lambda verdict: verdict.type_error,
}
"""What each rate is the share of, among the cases that it counts; 0..1."""


@dataclass(frozen=True)
class Evaluation:
    """The verdicts of all cases, in their order."""

    verdicts: Sequence[Verdict]

    @property
    def leaks(self) -> int:
        """Cases in which a string was found that must not be there."""
        return sum(verdict.leaked for verdict in self.verdicts)

    def rate(self, name: str) -> float | None:
        """One rate, rounded to four digits; None when it counts no case."""
        counted = [hit for verdict in self.verdicts if (hit := RATES[name](verdict)) is not None]
        return round(sum(counted) / len(counted), 4) if counted else None

    def to_document(self) -> dict[str, object]:
        """The report as plain data, fit for JSON."""
        return {
            "cases": len(self.verdicts),
            "rates": {name: self.rate(name) for name in RATES},
            "leaks": self.leaks,
            "by_kind": self._grouped(lambda case: case.kind),
            "by_lang": self._grouped(lambda case: case.lang),
            "failures": [
                {"id": verdict.case.id, "why": " | ".join(verdict.why)}
                for verdict in self.verdicts
                if not verdict.right
            ],
        }

    def _grouped(self, key: Callable[[Case], str]) -> dict[str, dict[str, int]]:
        """Cases and right ones by group, in the order in which the groups first occur."""
        groups: dict[str, dict[str, int]] = {}
        for verdict in self.verdicts:
            group = groups.setdefault(key(verdict.case), {"cases": 0, "right": 0})
            group["cases"] += 1
            group["right"] += verdict.right
        return groups
