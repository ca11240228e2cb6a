"""Scope, confidence, end and type, computed from what was observed."""

from __future__ import annotations

from typing import Any

import pytest

from memstrata.domain.candidate import Candidate
from memstrata.domain.frame import frame

from .deciding import POLICY, Story, candidate, during

TASK = {"task_id": "t1"}
WEEKLY = {"task_id": "w1", "task": "写周报", "task_family": "writing"}


def _scope(said: Candidate, **where: Any) -> str:
    scope = frame(said, Story().context(**where), POLICY).scope
    return f"{scope.name}/{scope.anchor}" if scope.anchor else scope.name


def preference(content: str, *signals: str, **fields: Any) -> Candidate:
    return candidate(content, *signals, kind="preference", category="preference", **fields)


@pytest.mark.parametrize(
    ("said", "where", "scope"),
    [
        (candidate("用户住在成都", attribute="city", value="成都"), TASK, "global"),
        (candidate("用户住在成都", "passing:现在", attribute="city", value="成都"), {}, "global"),
        (preference("用户喜欢榴莲", attribute="taste", value="榴莲"), WEEKLY, "global"),
        (preference("用户要靠窗", "limiting", attribute="taste", value="靠窗"), TASK, "current_task/t1"),
        (
            preference("用户要靠窗", "limiting", attribute="taste", value="靠窗"),
            {},
            "current_task/session:s1",
        ),
        (
            preference("写周报先写进展", attribute="instruction", family="writing"),
            {},
            "writing_tasks/writing",
        ),
        (preference("先写进展", "lasting", attribute="instruction"), WEEKLY, "writing_tasks/writing"),
        (preference("一律用公制", "lasting", attribute="instruction"), {}, "global"),
        (preference("用公制", attribute="instruction"), TASK, "current_task/t1"),
        (
            preference("时间写24小时制", "everything", attribute="instruction", family="writing"),
            WEEKLY,
            "global",
        ),
        (preference("先给结论再解释", "lasting", attribute="answer_style"), WEEKLY, "global"),
        (
            preference("在这篇里都用全称", "lasting", "limiting", attribute="instruction"),
            WEEKLY,
            "current_task/w1",
        ),
        (candidate("聊天轻松一点", kind="style", attribute="answer_style"), WEEKLY, "global"),
        (
            candidate("不要叫用户宝宝", kind="boundary", attribute="address_form", value="宝宝"),
            WEEKLY,
            "global",
        ),
        (
            candidate("周报短一点", "limiting", kind="constraint", attribute="constraint"),
            WEEKLY,
            "current_task/w1",
        ),
        (
            candidate("不打球", kind="constraint", attribute="constraint", time=during(None, "2026-04-01")),
            {},
            "global",
        ),
        (
            candidate("用 Go", "project", kind="project_fact", attribute="tech_stack"),
            {"project": "p"},
            "project/p",
        ),
        (candidate("不动表结构", "limiting", kind="constraint"), {"project": "p", **TASK}, "current_task/t1"),
        (candidate("用 Go", "project", kind="project_fact"), TASK, "current_task/t1"),
        (
            candidate("要靠里", kind="hint", attribute="habit", hint_key="靠里"),
            {"task": "订场"},
            "订场_tasks/订场",
        ),
        (candidate("要点", kind="hint", attribute="habit", hint_key="要点"), WEEKLY, "writing_tasks/writing"),
    ],
)
def test_nothing_reaches_further_than_the_words_say(
    said: Candidate, where: dict[str, Any], scope: str
) -> None:
    assert _scope(said, **where) == scope


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        (candidate("x"), 0.92),
        (candidate("x", "remember"), 0.96),
        (candidate("x", "emotion"), 0.87),
        (candidate("x", source="repeated_behaviour"), 0.82),
        (candidate("x", source="single_task_inference"), 0.65),
        (candidate("x", source="other"), 0.5),
        (candidate("x", "hedge"), 0.77),
        (candidate("x", certainty="uncertain"), 0.6),
        (candidate("x", "hedge", certainty="reported"), 0.6),
    ],
)
def test_confidence_follows_the_source_and_is_moved_by_signals(said: Candidate, confidence: float) -> None:
    assert frame(said, Story().context(), POLICY).confidence == confidence


def test_a_constraint_ends_with_its_task() -> None:
    end = frame(candidate("短一点", "limiting", kind="constraint"), Story().context(**TASK), POLICY).end

    assert (end.kind, end.task_id) == ("task_finished", "t1")


def test_a_date_ends_what_is_dated() -> None:
    said = candidate(
        "用户在上海", attribute="whereabouts", value="上海", time=during("2026-03-02", "2026-03-16")
    )

    statement = frame(said, Story().context(), POLICY)

    assert statement.end.last_day("Asia/Shanghai") == "2026-03-15"
    assert statement.scope.name == "global"


def test_a_stage_ends_with_its_process() -> None:
    said = candidate("用户在面试", kind="state", attribute="job_search_status", value="面试")

    assert frame(said, Story().context(), POLICY).end.process == "job_search"


@pytest.mark.parametrize(
    ("said", "type_"),
    [
        (candidate("x", kind="preference"), "preference"),
        (candidate("x", kind="style"), "conversation_style"),
        (candidate("x", category="identity_profile"), "identity_profile"),
        (candidate("x", category="unclear"), "important_fact"),
        (candidate("x", "limiting", kind="preference"), "constraint"),
        (candidate("x", "lasting", kind="constraint", family="writing"), "preference"),
        (candidate("x", kind="hint", attribute="habit", family="writing"), "preference"),
    ],
)
def test_the_type_follows_from_kind_and_category(said: Candidate, type_: str) -> None:
    assert frame(said, Story().context(**TASK), POLICY).type == type_
