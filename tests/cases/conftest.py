"""A story played on the real gate."""

from collections.abc import Callable

import pytest

from .stories import Case, Played, Story, story_of


@pytest.fixture
def play(request: pytest.FixtureRequest) -> Callable[[Case | Story], Played]:
    """Play a story, or a case of the file in the file's own words.

    Only the latter needs the file, so its folder is asked for when such a case comes.
    """
    return lambda case: Played(story_of(case, lambda: request.getfixturevalue("cases_dir")))
