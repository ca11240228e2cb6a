"""Remembered sentences, turned so that the rules can read them."""

from __future__ import annotations

import pytest

from memstrata.bootstrap import value_of
from memstrata.pipeline.first_person import in_first_person


@pytest.mark.parametrize(
    ("remembered", "said"),
    [
        ("用户住在苏州", "我住在苏州"),
        ("The user lives in Leeds", "I live in Leeds"),
        ("The user is a nurse", "I am a nurse"),
        ("The user's manager is Dana", "my manager is Dana"),
        ("Always answer in French", "Always answer in French"),
    ],
)
def test_the_user_becomes_i(remembered: str, said: str) -> None:
    assert in_first_person(remembered) == said


@pytest.mark.parametrize(
    ("content", "attribute", "value"),
    [
        ("用户住在苏州", "city", "苏州"),
        ("我住在苏州", "city", "苏州"),
        ("The user lives in Leeds", "city", "Leeds"),
        ("用户喜欢苏州", "city", None),
    ],
)
def test_a_persons_sentence_gives_the_value_of_its_attribute(
    content: str, attribute: str, value: str | None
) -> None:
    assert value_of(content, attribute) == value
