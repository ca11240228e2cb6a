"""Judges without a model, and the skips that no judge passes by."""

import pytest

from memstrata.domain.candidate import Candidate
from memstrata.domain.judgement import Judgement
from memstrata.pipeline.extract import RuleExtractor
from memstrata.pipeline.judge import KeywordFallbackJudge, RuleJudge, normalise_judgement

from .reading_a_turn import prepared


def _judged(text: str, *, task: str | None = None) -> tuple[Judgement, list[Candidate]]:
    turn = prepared(text, task=task)
    candidates = list(RuleExtractor().extract(turn))
    return normalise_judgement(RuleJudge().judge(turn, candidates), candidates), candidates


def _answer(**changes: object) -> Judgement:
    fields: dict[str, object] = {
        "should_extract": True,
        "confidence": 0.9,
        "category": "preference",
        "stability": "stable",
        "importance": 3,
        "reason": "r",
        "route": "model",
        "rule": "model",
    }
    return Judgement.model_validate(fields | changes)


def test_the_best_candidate_decides() -> None:
    judgement, _ = _judged("我喜欢猫，我对青霉素过敏")
    assert judgement.should_extract
    assert judgement.rule == "zh.allergy"
    assert judgement.category == "important_fact"
    assert "青霉素" in judgement.reason
    assert any("猫" in fact for fact in judgement.candidate_facts)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("今天好累啊", "temporary_emotion"),
        ("这份笔记整理得很清楚，太感谢了", "small_talk"),
        ("中午吃了黄焖鸡，有点咸", "small_talk"),
    ],
)
def test_without_a_candidate_there_is_nothing_to_extract(text: str, category: str) -> None:
    judgement, candidates = _judged(text)
    assert not candidates
    assert not judgement.should_extract
    assert judgement.category == category


def test_an_order_for_one_answer_reaches_the_policy_which_refuses_it_with_its_own_reason() -> None:
    judgement, candidates = _judged("这次回答短一点。")
    assert judgement.should_extract
    assert [candidate.kind for candidate in candidates] == ["answer_instruction"]


def test_a_reason_never_grows_beyond_its_limit() -> None:
    judgement, _ = _judged("以后写周报" + "先写进展" * 200)
    assert len(judgement.reason) <= 300
    assert all(len(fact) <= 120 for fact in judgement.candidate_facts)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("记住我不吃辣", "keywords.remember"),
        ("这个话题让我不舒服", "keywords.boundary"),
        ("更希望安静一点", "keywords.preference"),
        ("我的生日快到了", "keywords.fact"),
        ("remember that I'm vegan", "keywords.remember"),
    ],
)
def test_key_words_stand_in_for_a_model_that_failed(text: str, rule: str) -> None:
    judgement = KeywordFallbackJudge().judge(prepared(text), ())
    assert (judgement.should_extract, judgement.rule, judgement.route) == (True, rule, "keywords")


def test_without_key_words_the_fallback_says_no() -> None:
    judgement = KeywordFallbackJudge().judge(prepared("天空为什么是蓝的"), ())
    assert (judgement.should_extract, judgement.rule) == (False, "keywords.none")


@pytest.mark.parametrize(
    "category", ["small_talk", "temporary_emotion", "assistant_generated", "duplicate", "unsafe"]
)
def test_some_categories_are_never_extracted_from(category: str) -> None:
    judgement = normalise_judgement(_answer(category=category), ())
    assert (judgement.should_extract, judgement.rule) == (False, f"forced.{category}")


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"stability": "temporary"}, "forced.temporary"),
        ({"importance": 0}, "forced.no_importance"),
        ({"confidence": 0.54}, "forced.low_confidence"),
    ],
)
def test_what_weighs_too_little_is_skipped_by_a_named_rule(changes: dict[str, object], rule: str) -> None:
    judgement = normalise_judgement(_answer(**changes), ())
    assert (judgement.should_extract, judgement.rule) == (False, rule)


@pytest.mark.parametrize("changes", [{"confidence": 0.55}, {"confidence": 0.3, "importance": 4}])
def test_what_weighs_enough_passes(changes: dict[str, object]) -> None:
    answer = _answer(**changes)
    assert normalise_judgement(answer, ()) == answer


def test_something_passing_that_a_task_or_a_date_ends_is_no_passing_matter() -> None:
    for text, task in (("这份简历控制在一页以内", "改简历"), ("我到3月15号为止都在上海出差", None)):
        _, candidates = _judged(text, task=task)
        assert normalise_judgement(_answer(stability="temporary"), candidates).should_extract


def test_a_judge_that_said_no_keeps_its_reason() -> None:
    answer = _answer(should_extract=False, category="small_talk")
    assert normalise_judgement(answer, ()) == answer
