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


_Z = 1.959964
"""Of the normal distribution: 95 % lie within."""


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `of` cases, at least 1; `low` and `high` bound the 95 % interval, 0..1."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        """The share, 0..1."""
        return self.hits / self.of

    @property
    def low(self) -> float:
        """What it is at least. Wilson's interval, which holds for few cases and for 0 of them too."""
        return max(self._middle - self._margin, 0.0)

    @property
    def high(self) -> float:
        """What it is at most."""
        return min(self._middle + self._margin, 1.0)

    @property
    def _middle(self) -> float:
        return (self.share + _Z**2 / (2 * self.of)) / (1 + _Z**2 / self.of)

    @property
    def _margin(self) -> float:
        spread = self.share * (1 - self.share) / self.of + _Z**2 / (4 * self.of**2)
        return float(_Z * spread**0.5 / (1 + _Z**2 / self.of))


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
        counted = self.share(name)
        return None if counted is None else round(counted.share, 4)

    def share(self, name: str) -> Share | None:
        """One rate with the cases that it counts; None when it counts no case."""
        counted = [hit for verdict in self.verdicts if (hit := RATES[name](verdict)) is not None]
        return Share(sum(counted), len(counted)) if counted else None

    def confusion(self) -> dict[str, dict[str, dict[str, int]]]:
        """How often what was expected (`write`, `nothing`, `open`) became what (`write`, `hold`, `nothing`).

        By kind, in the order in which they first occur; combinations that do not occur are left out.
        """
        kinds: dict[str, dict[str, dict[str, int]]] = {}
        for verdict in self.verdicts:
            expected = kinds.setdefault(verdict.case.kind, {}).setdefault(verdict.expected, {})
            expected[verdict.taken] = expected.get(verdict.taken, 0) + 1
        return kinds

    def to_document(self) -> dict[str, object]:
        """The report as plain data, fit for JSON."""
        return {
            "cases": len(self.verdicts),
            "rates": {name: self.rate(name) for name in RATES},
            "counts": {name: _form(self.share(name)) for name in RATES},
            "leaks": self.leaks,
            "by_kind": self._grouped(lambda case: case.kind),
            "by_lang": self._grouped(lambda case: case.lang),
            "confusion": self.confusion(),
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


def _form(share: Share | None) -> dict[str, float] | None:
    if share is None:
        return None
    return {"hits": share.hits, "of": share.of, "low": round(share.low, 4), "high": round(share.high, 4)}
