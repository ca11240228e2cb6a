"""The offline gate against the golden development set."""

from pathlib import Path

import pytest

from memstrata.application.evaluation import Evaluation
from memstrata.bootstrap import evaluate

AT_MOST = {
    "wrong_write": 0.05,
    "missed_write": 0.35,
    "scope_error": 0.10,
    "over_generalised": 0.01,
    "lifetime_error": 0.10,
}
AT_LEAST = {"conflict_accuracy": 0.85}


@pytest.fixture(scope="module")
def evaluation(golden_dir: Path) -> Evaluation:
    files = sorted(golden_dir.glob("*.jsonl"))
    assert files, f"no cases in {golden_dir}"
    return evaluate(files)


@pytest.mark.parametrize(("name", "bar"), AT_MOST.items())
def test_an_error_rate_stays_below_its_bar(evaluation: Evaluation, name: str, bar: float) -> None:
    rate = evaluation.rate(name)

    assert rate is not None
    assert rate <= bar


@pytest.mark.parametrize(("name", "bar"), AT_LEAST.items())
def test_an_accuracy_stays_above_its_bar(evaluation: Evaluation, name: str, bar: float) -> None:
    rate = evaluation.rate(name)

    assert rate is not None
    assert rate >= bar


def test_nothing_leaks(evaluation: Evaluation) -> None:
    assert [verdict.case.id for verdict in evaluation.verdicts if verdict.leaked] == []
