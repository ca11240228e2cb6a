"""Relations by words: the same, the opposite, the memory that is meant, the one put better."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from memstrata.domain.candidate import Candidate
from memstrata.domain.decide import decide
from memstrata.domain.decision import REACHING
from memstrata.domain.frame import frame
from memstrata.domain.memory import Memory
from memstrata.domain.owner_state import OwnerState
from memstrata.pipeline.keywords import KeyWordReader
from memstrata.pipeline.likeness import Said
from memstrata.pipeline.relate import WordRelations

from ..domain.deciding import POLICY, WRITING, Story, candidate, during

READ = KeyWordReader(POLICY).read


def related(story: Story, said: Candidate) -> list[tuple[str, str]]:
    context = story.context()
    found = WordRelations(POLICY).relations(said, frame(said, context, POLICY), context, story.state)
    assert all(0 <= relation.score <= 1 for relation in found)
    assert [r.score for r in found] == sorted((r.score for r in found), reverse=True)
    return [(relation.kind, relation.memory_id) for relation in found]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Keep all answers short", "from now on please keep every reply brief"),
        ("用户不喜欢香菜", "我讨厌香菜"),
        ("不要叫用户宝宝", "别喊我宝宝"),
        ("reports lead with blockers", "The report should lead with blockers"),
        ("用戶喜歡鳳梨", "用户喜欢凤梨"),
    ],
)
def test_texts_of_one_meaning_have_the_same_key_words(one: str, other: str) -> None:
    assert READ(one).terms == READ(other).terms != frozenset()


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("用户不吃辣", True),
        ("用户吃辣", False),
        ("The user doesn’t eat meat", True),
        ("The user knows nothing about it", False),
        ("别叫我宝宝", True),
    ],
)
def test_negation_is_seen_beside_hanzi_and_in_whole_latin_words(text: str, negated: bool) -> None:
    assert READ(text).negated is negated


def test_aspects_are_read_with_their_values() -> None:
    assert ("length", "short") in READ("简单说").aspects
    assert ("language", "english") in READ("reply in English").aspects
    assert not READ("the Englishman's shortbread").aspects


@pytest.mark.parametrize(
    ("standing", "fields", "kind"),
    [
        ("用户喜欢榴莲", {"attribute": "taste", "value": "榴莲", "polarity": "negative"}, "opposite"),
        ("用户喜欢榴莲", {"attribute": "taste", "value": "榴莲"}, "paraphrase"),
        (
            "The user's manager is Dana",
            {"attribute": "manager", "value": "Rashid", "intent": "change"},
            "named",
        ),
        ("期望薪资 15-20k", {"attribute": "expected_salary", "value": "20000-"}, "covers"),
    ],
)
def test_an_import_without_an_attribute_is_found_by_its_words(
    standing: str, fields: dict[str, Any], kind: str
) -> None:
    story = Story()
    memory = story.given(standing)
    content = {
        "taste": "用户吃榴莲",
        "manager": "Rashid manages the user",
        "expected_salary": "期望薪资 20k 起",
    }

    assert related(story, candidate(content[fields["attribute"]], **fields)) == [(kind, memory)]


def test_words_point_at_the_memory_that_holds_most_of_them() -> None:
    story = Story()
    story.given("用户喜欢草莓蛋糕")
    meant = story.given("用户喜欢蓝莓蛋糕")

    found = related(
        story, candidate("忘掉", kind="retraction", intent="retract", target_words="蓝莓蛋糕那条")
    )

    assert found[0] == ("named", meant)


def test_another_matter_of_the_same_kind_is_not_related() -> None:
    story = Story()
    story.given("给客户的邮件结尾用“祝好”", scope=WRITING)
    story.given("用户住在杭州", "city", "杭州")

    said = candidate("周报用要点", "lasting", kind="preference", attribute="instruction", family="writing")

    assert related(story, said) == []


def test_what_is_over_and_what_is_about_others_is_not_related() -> None:
    story = Story()
    story.given("用户喜欢榴莲", subject="Ines")
    over = candidate("用户喜欢榴莲", attribute="taste", value="榴莲", time=during(None, "2026-03-03"))
    story.decide(over)
    story.at("2026-03-20")

    assert related(story, candidate("用户喜欢榴莲", attribute="taste", value="榴莲")) == []


def test_of_equals_the_later_memory_comes_first() -> None:
    story = Story()
    first, second = story.given("用户有一只猫", kind="important_fact"), story.given("用户有一只猫")

    found = related(story, candidate("忘掉猫", kind="retraction", intent="retract", target_words="一只猫"))

    assert [memory for _, memory in found] == [second, first]


class LooksAtAll(WordRelations):
    """Compares a candidate with every memory."""

    def _worth_comparing(self, candidate: Candidate, said: Said, state: OwnerState) -> Iterable[Memory]:
        return state.active()


SAID = (
    ("用户喜欢火锅", "taste", "火锅"),
    ("用户不吃香菜", "taste", "香菜"),
    ("用户住在杭州", "city", "杭州"),
    ("I moved to Hangzhou last year", "fact", None),
    ("周报写短一点，只保留结论", "report_style", None),
    ("reports lead with blockers", "report_style", None),
    ("answer in English, briefly", "answer_style", "short"),
    ("用户有两只猫", "pet", "猫"),
    ("the user's budget is 3000 yuan", "fact", None),
    ("the user works at a bakery", "fact", None),
    ("用户是腾飞的人", "employer", "腾飞"),
)


@pytest.mark.parametrize(("content", "attribute", "value"), [*SAID, ("爱吃荔枝", "taste", "荔枝")])
@pytest.mark.parametrize("kind", ["fact", "preference", "style", "constraint", "answer_instruction", "hint"])
@pytest.mark.parametrize(
    "signal", ["", "passing", "limiting", "exception", "change", "correction", "lasting", "everything"]
)
def test_nothing_is_lost_by_comparing_only_where_a_word_or_the_attribute_is_shared(
    content: str, attribute: str, value: str | None, kind: str, signal: str
) -> None:
    story = Story()
    for told, about, what in SAID:
        story.given(told, about, what)
        story.given(told, about, what, scope=WRITING)
    said = candidate(content, *filter(None, [signal]), kind=kind, attribute=attribute, value=value)
    some, every = WordRelations(POLICY), LooksAtAll(POLICY)
    context = story.context()
    asked = (said, frame(said, context, POLICY), context, story.state)

    found, all_of_them = some.relations(*asked), every.relations(*asked)
    assert [r for r in all_of_them if r.kind != "covers" or r in found] == found
    if said.has(*REACHING):
        assert all_of_them == found
    case = (said, context, story.state, POLICY)
    assert decide(*case, some) == decide(*case, every), "what is left out decides nothing"
