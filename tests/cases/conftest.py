"""The case file, where it is, and a story played on the real gate."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .stories import Case, Played, Story, story_of

ROOT = Path(__file__).resolve().parents[2]


def _cases_dir() -> Path:
    """The reported cases: MEMSTRATA_CASES_DIR, else beside the clone. Missing: a skip, in CI a failure."""
    directory = Path(os.environ.get("MEMSTRATA_CASES_DIR") or ROOT.parent / "shared" / "cases")
    if not directory.is_dir():
        reason = f"no folder {directory}; set MEMSTRATA_CASES_DIR"
        if os.environ.get("CI", "").lower() in {"1", "true", "yes"}:
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return directory


@pytest.fixture
def play() -> Callable[[Case | Story], Played]:
    """Play a story, or a case of the file in the file's own words."""
    return lambda case: Played(story_of(case, _cases_dir))
