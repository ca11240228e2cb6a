"""What is missing skips on a developer's machine and fails where it was promised."""

from collections.abc import Callable
from pathlib import Path

import pytest

NEEDS_A_SERVICE = """
def test_it(requires_service):
    assert requires_service("PostgreSQL", "MEMSTRATA_TEST_NOWHERE") == "postgresql://there"
"""
NEEDS_DATA = """
def test_it(golden_dir, data_dir):
    assert golden_dir.is_dir() and data_dir.is_dir()
"""

Outcome = Callable[..., tuple[str, str]]


@pytest.fixture
def outcome(pytester: pytest.Pytester, repository_root: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """Run one test under the project's conftest in an empty place; return what became of it and why."""
    pytester.makeconftest((repository_root / "tests" / "conftest.py").read_text("utf-8"))
    for variable in ("CI", "MEMSTRATA_REQUIRE_SERVICES", "MEMSTRATA_GOLDEN_DIR", "MEMSTRATA_DATA_DIR"):
        monkeypatch.delenv(variable, raising=False)

    def run(test: str, **environment: str) -> tuple[str, str]:
        for variable, value in environment.items():
            monkeypatch.setenv(variable, value)
        pytester.makepyfile(test)
        result = pytester.runpytest_inprocess("-ra", "-p", "no:cacheprovider")
        (name,) = result.parseoutcomes()
        return name.rstrip("s"), result.stdout.str()

    return run


def test_a_missing_service_skips_and_says_what_to_set(outcome: Outcome) -> None:
    became, why = outcome(NEEDS_A_SERVICE)

    assert became == "skipped"
    assert "needs PostgreSQL; set MEMSTRATA_TEST_NOWHERE" in why


def test_a_missing_service_that_is_required_fails(outcome: Outcome) -> None:
    became, why = outcome(NEEDS_A_SERVICE, MEMSTRATA_REQUIRE_SERVICES="1")

    assert became in {"error", "failed"}
    assert "needs PostgreSQL" in why


def test_a_service_is_used_where_there_is_one(outcome: Outcome) -> None:
    became, _ = outcome(NEEDS_A_SERVICE, MEMSTRATA_TEST_NOWHERE="postgresql://there")

    assert became == "passed"


def test_missing_reference_data_skips_and_says_what_to_set(outcome: Outcome) -> None:
    became, why = outcome(NEEDS_DATA, MEMSTRATA_GOLDEN_DIR="nowhere")

    assert became == "skipped"
    assert "set MEMSTRATA_GOLDEN_DIR" in why


def test_missing_reference_data_fails_in_ci(outcome: Outcome) -> None:
    became, why = outcome(NEEDS_DATA, MEMSTRATA_GOLDEN_DIR="nowhere", CI="true")

    assert became in {"error", "failed"}
    assert "set MEMSTRATA_GOLDEN_DIR" in why


def test_reference_data_is_used_where_it_lies(outcome: Outcome, tmp_path: Path) -> None:
    became, _ = outcome(NEEDS_DATA, MEMSTRATA_GOLDEN_DIR=str(tmp_path), MEMSTRATA_DATA_DIR=str(tmp_path))

    assert became == "passed"
