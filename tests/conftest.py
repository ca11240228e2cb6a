"""What all tests share: where the reference data lies, and how a missing service is reported."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _switched_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in {"1", "true", "yes"}


def _missing(reason: str, *, fails: bool) -> NoReturn:
    """Skip with the reason, or fail where a skip would hide that nothing was tested."""
    if fails:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _reference_dir(variable: str, name: str) -> Path:
    directory = Path(os.environ.get(variable) or ROOT.parent / "shared" / name)
    if not directory.is_dir():
        _missing(f"no folder {directory}; set {variable}", fails=_switched_on("CI"))
    return directory


@pytest.fixture(scope="session")
def repository_root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    """The golden cases: MEMSTRATA_GOLDEN_DIR, else ../shared/golden. Missing: a skip, in CI a failure."""
    return _reference_dir("MEMSTRATA_GOLDEN_DIR", "golden")


@pytest.fixture(scope="session")
def cases_dir() -> Path:
    """The reported cases: MEMSTRATA_CASES_DIR, else beside the golden ones. Missing: as with those."""
    return _reference_dir("MEMSTRATA_CASES_DIR", "cases")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Public conversations: MEMSTRATA_DATA_DIR, else ../shared/data. Missing: a skip, in CI a failure."""
    return _reference_dir("MEMSTRATA_DATA_DIR", "data")


@pytest.fixture(scope="session")
def requires_service() -> Callable[[str, str], str]:
    """Return `f(name, variable)`, which gives the service's URL from an environment variable.

    Without it the test skips and says which variable to set; MEMSTRATA_REQUIRE_SERVICES=1 makes
    that a failure, so that a CI without the service cannot pass by skipping.
    """

    def url_of(name: str, variable: str) -> str:
        if url := os.environ.get(variable):
            return url
        _missing(f"needs {name}; set {variable} to its URL", fails=_switched_on("MEMSTRATA_REQUIRE_SERVICES"))

    return url_of
