"""Cases of our own: what the rules were developed with, and what they have not seen."""

from pathlib import Path

import pytest

from memstrata.bootstrap import evaluate

CASES = Path(__file__).resolve().parent / "cases"

AT_MOST = {
    "development": {"wrong_write": 0.02, "missed_write": 0.10, "scope_error": 0.03, "lifetime_error": 0.05},
    "heldout": {"wrong_write": 0.05, "missed_write": 0.35, "scope_error": 0.10, "lifetime_error": 0.10},
}


@pytest.mark.parametrize("half", AT_MOST)
def test_the_rates_stay_within_their_bars_and_nothing_leaks(half: str) -> None:
    evaluation = evaluate(sorted((CASES / half).glob("*.jsonl")))

    rates = {name: evaluation.rate(name) for name in AT_MOST[half]}
    assert {name: rate for name, rate in rates.items() if rate is None or rate > AT_MOST[half][name]} == {}
    assert evaluation.leaks == 0
