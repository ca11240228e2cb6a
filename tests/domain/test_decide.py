"""What becomes of a candidate: refusals, scope and time, repetition, change, taking back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from memstrata.domain.candidate import ModelOpinion
from memstrata.domain.decide import GateRefusal
from memstrata.domain.decision import ChangeProcess, CreateMemory, EndMemory, SupersedeMemory, UpdateMemory
from memstrata.domain.scope import Scope

from .deciding import WRITING, Story, candidate, during

PASSING = "temporary_instruction_cannot_override_existing_preference"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (candidate("用户住在成都", evidence=()), "no_evidence"),
        (candidate("暂无"), "empty_content"),
        (candidate("密码是 ■■■■"), "secret"),
        (candidate("用户是百万富翁", "joke"), "joke"),
        (candidate("用户想搬家", "hypothetical"), "hypothetical"),
        (candidate("用户住在哪里", "question"), "question"),
        (candidate("The user lives on Mars", "quoted"), "quoted_material"),
        (candidate("用户喜欢那家店", "no_memory"), "not_to_be_remembered"),
        (candidate("用户的室友不吃辣", "third_party"), "third_party"),
        (candidate("用户今天很累", category="temporary_emotion"), "temporary_emotion"),
        (candidate("用户打了个喷嚏", importance=0), "not_important"),
        (candidate("用户刚下班", stability="temporary"), "temporary_state"),
        (candidate("周六八点的场", kind="request_parameter"), "request_parameter"),
        (candidate("回答短一点", "limiting", kind="answer_instruction"), "current_turn_instruction"),
        (
            candidate("不用记薪资", kind="retraction", intent="retract", target_words="薪资"),
            "nothing_to_retract",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_is_not_remembered_is_refused_with_a_reason(said: Any, reason: str) -> None:
    story = Story()

    decision = story.decide(said)

    assert (decision.action, decision.outcome, decision.reason) == ("SKIP", "refused", reason)
    assert not decision.commands
    assert not list(story.state.active())


def test_the_gates_refusal_stands_with_its_own_rule() -> None:
    decision = Story().decide(candidate("用户住在成都"), GateRefusal("small_talk", "gate.ack"))

    assert (decision.outcome, decision.reason, decision.rule) == ("refused", "small_talk", "gate.ack")


# --- passing instructions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("standing", "asked"),
    [
        ("用户偏好详细、系统化的技术解释", "简单说"),
        ("用户要求所有回答都用中文", "用英文回复"),
        ("用户希望解释概念时先给例子", "例子先免了"),
        ("The user wants answers as tables", "bullet points will do"),
    ],
)
def test_a_passing_instruction_does_not_touch_a_standing_one(standing: str, asked: str) -> None:
    story = Story()
    kept = story.given(standing)

    decision = story.decide(candidate(asked, "limiting", kind="answer_instruction", attribute="answer_style"))

    assert (decision.action, decision.reason, decision.target) == ("SKIP", PASSING, kept)
    assert story.contents == [standing]


def test_a_passing_instruction_of_the_same_kind_is_merely_about_this_answer() -> None:
    story = Story()
    story.given("Keep all answers short")

    decision = story.decide(candidate("answer briefly", "limiting", kind="answer_instruction"))

    assert decision.reason == "current_turn_instruction"


def test_a_wish_for_today_does_not_touch_a_taste() -> None:
    story = Story()
    story.given("用户不吃辣")

    decision = story.decide(
        candidate("用户想吃辣", "passing:今天", kind="preference", attribute="taste", value="辣")
    )

    assert (decision.action, decision.reason) == ("SKIP", PASSING)


def test_these_days_is_not_today() -> None:
    story = Story()
    old = story.given("用户不喜欢林晚的歌")

    decision = story.decide(
        candidate("用户喜欢林晚的歌", "passing:现在", kind="preference", attribute="taste", value="林晚的歌")
    )

    assert (decision.action, decision.target, decision.reason) == ("UPDATE", old, "changed_polarity")
    assert story.contents == ["用户喜欢林晚的歌"]


# --- repetition --------------------------------------------------------------------------------------


def _hint(content: str = "周报只写关键事项", key: str = "关键事项") -> Any:
    return candidate(
        content,
        kind="hint",
        attribute="habit",
        source="single_task_inference",
        hint_key=key,
        family="writing",
        category="preference",
    )


def test_the_third_occasion_lets_a_hint_become_a_memory() -> None:
    story = Story()

    first = story.decide(_hint(), task_id="w1")
    again = story.decide(_hint(), task_id="w1")
    second = story.decide(_hint("周报压到关键事项"), task_id="w2")
    third = story.decide(_hint("周报老样子"), task_id="w3")

    assert [d.action for d in (first, again, second, third)] == ["HOLD", "HOLD", "HOLD", "WRITE"]
    assert (again.reason, third.reason) == ("seen_on_this_occasion", "promoted_by_repetition")
    [create] = third.commands
    assert isinstance(create, CreateMemory)
    assert create.memory_id == second.target
    assert [ref.version for ref in create.caused_by] == [1, 2, 3]
    assert create.statement.provenance.source == "repeated_behaviour"
    assert (create.statement.scope, create.statement.confidence) == (WRITING, 0.82)


def test_a_hint_of_what_is_remembered_confirms_it() -> None:
    story = Story()
    for task in ("w1", "w2", "w3"):
        story.decide(_hint(), task_id=task)

    decision = story.decide(_hint(), task_id="w4")

    assert (decision.action, decision.outcome) == ("SKIP", "confirmed")


def test_the_word_usual_alone_promotes_nothing() -> None:
    said = _hint().model_copy(update={"signals": candidate("x", "repetition").signals})

    assert Story().decide(said, task_id="w1").action == "HOLD"


def test_an_uncertain_statement_waits_and_a_clear_one_fills_its_place() -> None:
    story = Story()
    unsure = candidate("用户可能对头孢过敏", attribute="allergy", value="头孢", certainty="uncertain")

    held = story.decide(unsure)
    clear = story.decide(candidate("用户对头孢过敏", attribute="allergy", value="头孢"))

    assert (held.action, held.reason) == ("HOLD", "uncertain_statement")
    assert clear.action == "WRITE"
    assert len(story.state.memories) == 1


# --- one value, many values --------------------------------------------------------------------------


def test_a_new_value_of_a_single_attribute_is_a_new_version() -> None:
    story = Story()
    first = story.decide(candidate("用户住在成都", attribute="city", value="成都"))
    story.decide(candidate("用户住在重庆", attribute="city", value="重庆", intent="change"))

    [memory] = story.state.active()
    assert first.reason == "new"
    assert [v.statement.value for v in memory.versions] == ["成都", "重庆"]


def test_a_further_value_of_a_many_valued_attribute_overwrites_nothing() -> None:
    story = Story()
    story.given("用户喜欢打羽毛球", "sports", "羽毛球")

    decision = story.decide(candidate("用户喜欢打网球", kind="preference", attribute="hobby", value="网球"))

    assert decision.action == "WRITE"
    assert story.contents == ["用户喜欢打羽毛球", "用户喜欢打网球"]


def test_a_change_said_as_a_change_replaces_the_former_value() -> None:
    story = Story()
    old = story.given("用户用 Windows 电脑", "os", "Windows")

    decision = story.decide(
        candidate("用户用 Mac", attribute="device", value="Mac", former_value="Windows", intent="change")
    )

    [update] = decision.commands
    assert isinstance(update, UpdateMemory)
    assert (update.memory_id, update.kind, update.statement.attribute) == (old, "replace", "os")


def test_a_change_of_mind_is_a_new_version_of_the_same_memory() -> None:
    story = Story()
    story.decide(candidate("用户喜欢榴莲", kind="preference", attribute="taste", value="榴莲"))
    said = candidate(
        "用户不喜欢榴莲", kind="preference", attribute="taste", value="榴莲", polarity="negative"
    )

    decision = story.decide(said)

    assert (decision.action, decision.reason) == ("UPDATE", "changed_polarity")
    assert story.contents == ["用户不喜欢榴莲"]


def test_a_further_value_clears_an_only_in_the_same_decision() -> None:
    story = Story()
    only = {"attribute": "expected_city", "kind": "preference"}
    story.decide(candidate("用户只考虑杭州", value="杭州", exclusive=True, **only))

    decision = story.decide(candidate("用户考虑上海", value="上海", **only))

    create, refine = decision.commands
    assert isinstance(create, CreateMemory)
    assert isinstance(refine, UpdateMemory)
    assert (refine.kind, refine.statement.exclusive, len(refine.based_on)) == ("refine", False, 1)
    assert story.contents == ["用户考虑杭州", "用户考虑上海"]


def test_an_only_takes_the_place_of_the_others() -> None:
    story = Story()
    other = story.given("期望城市：杭州", "expected_city", "杭州")

    decision = story.decide(
        candidate(
            "用户只考虑上海", kind="preference", attribute="expected_city", value="上海", exclusive=True
        )
    )

    assert SupersedeMemory(other, decision.commands[1].at) == decision.commands[1]  # type: ignore[union-attr]
    assert story.contents == ["用户只考虑上海"]


def test_additive_facts_about_a_person_retire_nothing() -> None:
    story = Story()
    story.given("Priya is head of security at Northwind", subject="Priya", kind="important_fact")
    story.given("Priya lives in Leeds", subject="Priya", kind="important_fact")

    decision = story.decide(
        candidate("Priya administers the GitLab group", "third_party", subject="Priya", attribute="fact")
    )

    assert decision.action == "WRITE"
    assert len(story.contents) == 3


# --- the same again ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (
            "用户不喜欢香菜",
            {"kind": "preference", "attribute": "taste", "value": "香菜", "polarity": "negative"},
        ),
        ("I can't stand coriander", {"kind": "preference", "attribute": "taste", "value": "coriander"}),
    ],
    ids=["zh", "en"],
)
def test_a_taste_in_other_words_is_confirmed(standing: str, said: dict[str, Any]) -> None:
    story = Story()
    kept = story.given(standing)
    content = "用户吃不来香菜" if said["value"] == "香菜" else "The user does not like coriander"

    decision = story.decide(candidate(content, **said))

    assert (decision.outcome, decision.target) == ("confirmed", kept)
    assert story.contents == [standing]


def test_a_shorter_repetition_is_confirmed_and_counted() -> None:
    story = Story()
    kept = story.given("The office is on the 7th floor", kind="important_fact")

    for _ in range(2):
        decision = story.decide(candidate("7th floor", intent="correct", former_value="9th floor"))
        assert (decision.outcome, decision.target) == ("confirmed", kept)

    assert len(story.memory(kept).confirmations) == 2


def test_another_number_is_not_a_repetition() -> None:
    story = Story()
    story.given("The staging database listens on port 6543", kind="important_fact")

    decision = story.decide(candidate("The staging database listens on port 6544"))

    assert decision.outcome != "confirmed"


def test_a_standing_instruction_in_other_words_is_confirmed() -> None:
    story = Story()
    story.given("Keep all answers short")
    said = candidate("keep every reply brief", "everything", kind="preference", attribute="answer_style")

    assert story.decide(said).outcome == "confirmed"


# --- time --------------------------------------------------------------------------------------------


def test_salary_changed_corrected_and_told_late() -> None:
    def salary(content: str, value: str, **fields: Any) -> Any:
        return candidate(content, kind="preference", attribute="expected_salary", value=value, **fields)

    story = Story().at("2025-10-08")
    story.decide(salary("期望薪资 15-20k", "15000-20000"))
    story.at("2025-10-29").decide(salary("期望薪资 20k 以上", "20000-", intent="change"))
    corrected = story.at("2025-11-05").decide(
        salary("期望薪资 16-20k", "16000-20000", intent="correct", time=during("2025-10-08", "2025-10-09"))
    )
    late = story.at("2025-11-10").decide(
        salary("期望薪资 12k", "12000", intent="late", time=during("2025-09-01", "2025-10-01"))
    )

    [memory] = story.state.active()
    assert [v.kind for v in memory.versions] == ["create", "replace", "correct", "late"]
    assert (corrected.commands[0].of, late.reason) == (1, "late_fact")  # type: ignore[union-attr]
    assert memory.current is not None
    assert memory.current.statement.value == "20000-"
    holding = [
        version.statement.value if (version := memory.holding(datetime.fromisoformat(day))) else None
        for day in (
            "2025-09-15T12:00+08:00",
            "2025-10-05T12:00+08:00",
            "2025-10-15T12:00+08:00",
            "2025-11-01T12:00+08:00",
        )
    ]
    assert holding == ["12000", "12000", "16000-20000", "20000-"]

    gone = story.at("2025-11-15").decide(
        candidate(
            "忘掉薪资", kind="retraction", intent="retract", attribute="expected_salary", target_words="薪资"
        )
    )
    assert isinstance(gone.commands[0], EndMemory)
    assert gone.commands[0].kind == "retracted"


def test_a_move_last_month_is_a_change_from_the_time_it_was_said() -> None:
    story = Story()
    home = story.given("用户住在成都", "city", "成都")
    said = candidate(
        "用户住在重庆", attribute="city", value="重庆", intent="change", time=during("2026-02-01")
    )

    decision = story.decide(said)

    assert (decision.action, decision.target) == ("UPDATE", home)
    assert story.contents == ["用户住在重庆"]


def test_a_dated_stay_leaves_the_city_alone() -> None:
    story = Story()
    story.given("用户住在杭州", "city", "杭州")

    decision = story.decide(
        candidate("用户在上海出差", attribute="whereabouts", value="上海", time=during(None, "2026-03-16"))
    )

    assert decision.action == "WRITE"
    assert decision.statement is not None
    assert decision.statement.end.last_day("Asia/Shanghai") == "2026-03-15"
    assert "用户住在杭州" in story.contents


def test_the_end_of_a_process_goes_with_its_last_stage() -> None:
    story = Story()
    status = story.given("求职状态：面试中", "job_search_status", "面试中", kind="state")

    decision = story.decide(
        candidate("用户已入职", kind="state", attribute="job_search_status", value="已入职", final=True)
    )

    assert decision.target == status
    assert [type(command) for command in decision.commands] == [UpdateMemory, ChangeProcess]
    assert not list(story.state.active())


# --- taking back -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meant", "other", "naming"),
    [
        ("用戶喜歡榴槤", "用戶喜歡鳳梨", "我喜歡榴槤那條"),
        ("The user is vegetarian", "The user likes Thai food", "that I'm vegetarian"),
        (
            "Status reports should lead with blockers",
            "No exclamation marks in emails",
            "leading status reports with blockers",
        ),
        ("The user's ex is called Mark", "The user's brother is called Mateo", "my ex"),
        ("不要提用户的前任", "不要问用户的体重", "前任那个话题"),
    ],
)
def test_the_memory_that_the_words_name_is_taken_back(meant: str, other: str, naming: str) -> None:
    story = Story()
    target = story.given(meant)
    story.given(other)

    decision = story.decide(
        candidate("忘掉", kind="retraction", intent="retract", target_words=naming, quote=f"忘掉{naming}")
    )

    assert (decision.action, decision.target) == ("DELETE", target)
    assert story.contents == [other]


def test_what_was_just_said_is_taken_back() -> None:
    story = Story()
    story.decide(candidate("用户住在成都", attribute="city", value="成都"))
    story.decide(candidate("用户最喜欢国安", attribute="favorite", value="国安"))

    decision = story.decide(
        candidate("别记", "retraction=previous_turn", kind="retraction", intent="retract", target_words="")
    )

    assert decision.action == "DELETE"
    assert story.contents == ["用户住在成都"]


def test_taking_back_a_change_brings_the_former_value_back() -> None:
    story = Story()
    story.decide(candidate("用户住在成都", attribute="city", value="成都"), session="s0")
    story.decide(candidate("用户住在重庆", attribute="city", value="重庆", intent="change"))

    story.decide(candidate("别记", "retraction=previous_turn", kind="retraction", intent="retract"))

    [memory] = story.state.active()
    assert story.contents == ["用户住在成都"]
    assert [v.kind for v in memory.versions] == ["create", "replace", "correct"]


def test_what_another_session_said_is_not_just_said() -> None:
    story = Story()
    story.decide(candidate("用户住在成都", attribute="city", value="成都"), session="s0")

    decision = story.decide(
        candidate("别记", "retraction=previous_turn", kind="retraction", intent="retract")
    )

    assert decision.reason == "nothing_to_retract"


def test_a_correction_replaces_the_value_that_it_denies() -> None:
    story = Story()
    old = story.given("用户的女儿叫小雨", "child", "小雨")
    story.given("用户的儿子叫大壮", "child", "大壮")

    decision = story.decide(
        candidate(
            "用户的女儿叫小语", "correction", attribute="child", value="小语", quote="我女儿叫小语，不是小雨"
        )
    )

    assert (decision.action, decision.target) == ("UPDATE", old)
    assert story.contents == ["用户的女儿叫小语", "用户的儿子叫大壮"]


def test_a_correction_without_the_wrong_value_finds_the_most_alike() -> None:
    story = Story()
    old = story.given("用户的女儿叫小雨", "child", "小雨")
    story.given("用户养了三个孩子", "child", "三个孩子")

    decision = story.decide(
        candidate("用户的女儿叫小语", "correction", attribute="child", value="女儿叫小语")
    )

    assert decision.target == old


def test_a_date_in_other_words_is_no_change() -> None:
    story = Story()
    kept = story.given("用户的生日是6月1日", kind="important_fact")

    decision = story.decide(candidate("用户生日是6月1号", attribute="birthday", value="06-01"))

    assert (decision.outcome, decision.target) == ("confirmed", kept)


# --- scope -------------------------------------------------------------------------------------------


def test_what_holds_everywhere_is_not_said_again_for_a_family() -> None:
    story = Story()
    kept = story.given("以后 code review 用英文写 comment")
    said = candidate(
        "Code Review 用英文写 comment", "lasting", kind="preference", attribute="instruction", family="coding"
    )

    decision = story.decide(said)

    assert (decision.outcome, decision.target) == ("confirmed", kept)


def test_a_question_about_this_answer_is_an_instruction_for_it() -> None:
    said = candidate("what is a monad, ELI5", "question", kind="answer_instruction", attribute="answer_style")

    assert Story().decide(said).reason == "current_turn_instruction"


def test_a_better_instruction_supersedes_the_one_on_the_same_matter() -> None:
    story = Story()

    def reports(lead: str) -> Any:
        content = f"reports: lead with {lead}"
        return candidate(content, "lasting", kind="preference", attribute="instruction", family="writing")

    first, second, third = (story.decide(reports(lead)) for lead in ("blockers", "results", "risks"))

    assert [len(d.commands) for d in (first, second, third)] == [1, 2, 2]
    assert story.contents == ["reports: lead with risks"]
    assert [m.status for m in story.state.memories.values()] == ["superseded", "superseded", "active"]


def test_an_instruction_said_to_change_is_a_new_version_and_no_successor() -> None:
    story = Story()
    old = story.given("写汇报先给结论", "instruction", scope=WRITING)
    instructs = {"kind": "preference", "attribute": "instruction", "family": "writing"}
    said = candidate("写汇报改成先给风险", "lasting", "change", **instructs)

    decision = story.decide(said)

    assert (decision.action, decision.target, decision.reason) == ("UPDATE", old, "changed_value")


def test_another_matter_in_the_same_family_stays() -> None:
    story = Story()
    story.given("写汇报时先给结论再展开", scope=WRITING)

    decision = story.decide(
        candidate(
            "给客户的邮件结尾写祝好", "lasting", kind="preference", attribute="instruction", family="writing"
        )
    )

    assert decision.reason == "new"
    assert len(story.contents) == 2


def test_exception_update_widening_and_the_life_of_a_task() -> None:
    story = Story()
    m1 = story.given("写汇报先给结论", "instruction", scope=WRITING)
    where = {"task_id": "pm-3", "task": "写事故复盘汇报", "task_family": "writing"}

    exception = story.decide(
        candidate("复盘汇报按时间线写", "limiting", "exception", kind="constraint", attribute="constraint"),
        **where,
    )
    m2 = next(m.memory_id for m in story.state.active() if m.memory_id != m1)
    update = story.decide(
        candidate(
            "写汇报先给风险再给结论",
            "lasting",
            "family=writing",
            kind="preference",
            attribute="instruction",
            family="writing",
            intent="change",
        ),
        **where,
    )
    widening = story.decide(
        candidate("所有回答都先给风险", "lasting", "everything", kind="preference", attribute="instruction"),
        **where,
    )

    assert exception.statement is not None
    assert exception.statement.scope == Scope(kind="current_task", anchor="pm-3")
    assert exception.statement.end.task_id == "pm-3"
    assert [type(c) for c in exception.commands] == [CreateMemory]
    assert [(c.memory_id, c.kind) for c in update.commands] == [(m1, "replace")]  # type: ignore[union-attr]
    assert [(c.memory_id, c.kind) for c in widening.commands] == [(m1, "rescope")]  # type: ignore[union-attr]
    current = story.memory(m1).current
    assert current is not None
    assert (current.number, current.statement.scope.name) == (3, "global")
    assert story.memory(m2).status == "active"

    story.finish("pm-3")
    late = story.decide(
        candidate("这篇再短一点", "limiting", kind="constraint", attribute="constraint"), **where
    )
    assert (late.outcome, late.reason) == ("refused", "task_finished")


def test_an_update_with_the_old_text_is_refused() -> None:
    story = Story()
    kept = story.given("The user's manager is Dana", "manager", "Dana")
    opinion = ModelOpinion(action="UPDATE", target_id=kept)
    said = candidate(
        "The user's manager is Dana",
        attribute="manager",
        value="Dana",
        opinion=opinion,
        quote="Dana moved on; Rashid is my manager",
    )

    decision = story.decide(said)

    assert (decision.outcome, decision.reason, decision.target) == ("refused", "no_change", kept)


def test_a_contradiction_that_a_model_would_delete_gets_a_successor() -> None:
    story = Story()
    kept = story.given("The user enjoys spicy hotpot")
    said = candidate(
        "The user does not like spicy hotpot",
        kind="preference",
        attribute="taste",
        value="spicy hotpot",
        polarity="negative",
        opinion=ModelOpinion(action="DELETE", target_id=kept),
    )

    decision = story.decide(said)

    assert (decision.action, decision.target) == ("UPDATE", kept)
    assert story.contents == ["The user does not like spicy hotpot"]


def test_a_command_that_the_memory_refuses_becomes_a_refused_decision() -> None:
    story = Story()
    kept = story.given("用户住在成都", "city", "成都")

    decision = story.decide(candidate("用户住在成都", attribute="city", value="重庆", quote="用户住在成都"))

    assert (decision.outcome, decision.reason) == ("refused", "evidence_restates_stored")
    assert decision.target == kept
    assert story.contents == ["用户住在成都"]
