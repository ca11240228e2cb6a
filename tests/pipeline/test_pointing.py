"""Loose words point at one memory or at none, whatever else is remembered and in whatever order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain.candidate import Candidate
from memstrata.domain.decide import decide
from memstrata.domain.decision import Decision
from memstrata.pipeline.one_value import is_one_value
from memstrata.pipeline.relate import WordRelations

from ..domain.deciding import POLICY, Story, candidate

FINDER = WordRelations(POLICY)

KEPT = {
    "drink": "The user does not drink alcohol",
    "question": "The user wants every answer to end with a question",
    "licence": "用户打算年底前考下驾照",
    "early": "用户坚持每天早上五点起床",
    "diary": "用户每天晚上写日记",
    "proverb": "用户希望每次回答末尾附一句英文谚语",
    "salary": "用户期望月薪一万五",
    "cello": "The user plays the cello",
}
"""Memories that have nothing in common but what everybody says."""


def letting_go(words: str, **over: object) -> Candidate:
    return candidate(
        words, attribute="note", kind="retraction", intent="retract", target_words=words, quote=words, **over
    )


def decided(contents: list[tuple[str, str]], said: Candidate) -> tuple[Decision, dict[str, str]]:
    """What the candidate comes to where these memories stand; and the name of each memory by its id."""
    story, names = Story(), dict[str, str]()
    for name, content in contents:
        names[story.given(content)] = name
    return decide(said, story.context(), story.state, POLICY, FINDER), names


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("the off-the-drink stuff", "drink"),
        ("ending on a question every time", "question"),
        ("以前跟你说要考驾照那条", "licence"),
        ("五点起床那个flag", "early"),
        ("末尾挂一句谚语的那个规矩", "proverb"),
        ("the cello lark", "cello"),
    ],
)
@given(order=st.permutations(sorted(KEPT)))
def test_the_memory_that_is_clearly_ahead_is_the_one(words: str, meant: str, order: list[str]) -> None:
    decision, names = decided([(name, KEPT[name]) for name in order], letting_go(words))
    assert decision.action == "DELETE"
    assert [names[command.memory_id] for command in decision.commands] == [meant]  # type: ignore[union-attr]


@pytest.mark.parametrize("words", ["the gardening thing", "那件事", "the stuff you noted"])
@given(names=st.sets(st.sampled_from(sorted(KEPT))))
def test_words_that_share_nothing_that_tells_end_nothing(words: str, names: set[str]) -> None:
    decision, _ = decided([(name, KEPT[name]) for name in sorted(names)], letting_go(words))
    assert (decision.reason, decision.commands) == ("nothing_to_retract", ())


@given(one=st.sampled_from(["Bath", "York", "Hull"]), other=st.sampled_from(["Ayr", "Rhyl", "Cork"]))
def test_between_two_that_are_as_likely_none_is_taken(one: str, other: str) -> None:
    contents = [
        (one, f"The user rows on the canal in {one}"),
        (other, f"The user rows on the canal in {other}"),
    ]
    decision, _ = decided(contents, letting_go("chuck out that old barge and canal malarkey for me"))
    assert decision.reason == "nothing_to_retract"


def test_a_model_must_have_seen_words_that_let_something_go() -> None:
    contents = [("salary", "用户期望月薪一万五")]
    for words, action in (("月薪那条划掉吧", "DELETE"), ("月薪预期往上提，改成两万三，之前的作废", "SKIP")):
        decision, _ = decided(contents, letting_go(words, channel="model"))
        assert decision.action == action, words


VALUES = POLICY.rules.relations.values


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("幼师", "幼儿园老师", True),
        ("上海", "上海市", True),
        ("NYC", "New York City", True),
        ("an accountant", "Accountant", True),
        ("老师", "老年康复师", True),
        ("上海", "上饶市", False),
        ("医生", "幼儿园老师", False),
        ("UK", "United Kingdom", False),
        ("老师", "律师", False),
        ("sous chef", "head chef", False),
    ],
)
def test_a_value_is_known_again_in_full_and_for_short(one: str, other: str, same: bool) -> None:
    assert VALUES is not None
    assert is_one_value(one, other, VALUES) is same
    assert is_one_value(other, one, VALUES) is same


@given(st.text(max_size=12), st.text(max_size=12))
def test_whether_two_values_are_one_does_not_depend_on_their_order(one: str, other: str) -> None:
    assert VALUES is not None
    assert is_one_value(one, other, VALUES) == is_one_value(other, one, VALUES)
