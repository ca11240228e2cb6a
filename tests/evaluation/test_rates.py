"""Every rate counts a planted error, and nothing else."""

from datetime import datetime
from typing import Any

import pytest
from evaluation.scripting import case_of, city, constraint, fact, play_all, play_one

from memstrata.application.evaluation import RATES, Evaluation

CITY = {"id": "m1", "content": "用户住在杭州", "attribute": "city", "value": "杭州"}
PEANUTS = {"id": "m2", "content": "用户对花生过敏", "attribute": "allergy", "value": "花生"}
BIRTHDAY = {"id": "m3", "content": "用户生日是10月23日", "attribute": "birthday", "value": "10-23"}
TASK = {"session": {"task": "写周报", "task_id": "w-1"}}


def given(*memories: dict[str, Any]) -> dict[str, Any]:
    return {"memories": list(memories)}


def rates(evaluation: Evaluation) -> dict[str, float]:
    """The rates that count the case."""
    return {name: rate for name in RATES if (rate := evaluation.rate(name)) is not None}


def why(evaluation: Evaluation) -> list[str]:
    return [part for verdict in evaluation.verdicts for part in verdict.why]


class TestWrongWrite:
    def test_a_memory_that_must_not_be_is_counted(self) -> None:
        outcome = play_one(case_of({"write": False}), fact("用户喜欢爬山"))

        assert rates(outcome) == {"wrong_write": 1.0}
        assert why(outcome)[0].startswith("wrote: global important_fact")

    def test_nothing_written_is_right(self) -> None:
        assert rates(play_one(case_of({"write": False, "action": "SKIP"}))) == {"wrong_write": 0.0}

    def test_a_changed_memory_is_counted(self) -> None:
        case = case_of({"write": False}, given=given(CITY))

        assert rates(play_one(case, city("上海", intent="change"))) == {"wrong_write": 1.0}

    def test_an_ended_memory_is_counted(self) -> None:
        case = case_of({"write": False}, given=given(CITY))
        taken_back = fact("用户住在杭州", kind="retraction", intent="retract", target_words="住在杭州")

        outcome = play_one(case, taken_back)

        assert rates(outcome) == {"wrong_write": 1.0}
        assert why(outcome) == ["wrote: an end"]

    def test_a_repetition_is_no_change(self) -> None:
        case = case_of({"write": False, "action": "SKIP"}, given=given(CITY))

        assert play_one(case, city("杭州")).verdicts[0].right

    def test_only_the_last_turn_counts(self) -> None:
        case = case_of({"write": False}, "我喜欢爬山", "嗯")

        assert rates(play_all([case], {"我喜欢爬山": [fact("用户喜欢爬山")]})) == {"wrong_write": 0.0}


class TestMissedWrite:
    def test_nothing_written_is_counted(self) -> None:
        assert rates(play_one(case_of({"write": True, "contains": [["爬山"]]}))) == {"missed_write": 1.0}

    def test_something_else_written_is_counted(self) -> None:
        case = case_of({"write": True, "contains": [["爬山"], ["周末"]]})

        assert rates(play_one(case, fact("用户喜欢爬山"))) == {"missed_write": 1.0}

    def test_each_group_is_satisfied_by_any_of_its_strings(self) -> None:
        case = case_of({"write": True, "contains": [["登山", "爬山"], ["周末"]]})

        assert rates(play_one(case, fact("用户周末爬山"))) == {"missed_write": 0.0}

    @pytest.mark.parametrize("written", ["用户用 WINDOWS", "用户用 Ｗindows"])
    def test_case_and_width_do_not_matter(self, written: str) -> None:
        case = case_of({"write": True, "contains": [["windows"]]})

        assert rates(play_one(case, fact(written))) == {"missed_write": 0.0}

    def test_the_value_counts_as_well_as_the_content(self) -> None:
        case = case_of({"write": True, "contains": [["成都"]]})

        assert rates(play_one(case, city("成都", content="用户的家"))) == {"missed_write": 0.0}

    def test_a_held_proposal_is_no_write(self) -> None:
        case = case_of({"write": True, "action": "WRITE", "contains": [["爬山"]]})

        outcome = play_one(case, fact("用户喜欢爬山", certainty="uncertain"))

        assert rates(outcome) == {"missed_write": 1.0}
        assert [part.partition(":")[0] for part in why(outcome)] == ["missed", "action"]

    def test_for_a_delete_it_counts_that_the_target_still_stands(self) -> None:
        case = case_of({"write": True, "action": "DELETE", "target": "m1"}, given=given(CITY))

        outcome = play_one(case, fact("用户搬走了"))

        assert rates(outcome) == {"missed_write": 1.0, "conflict_accuracy": 0.0}

    def test_for_a_delete_it_suffices_that_the_target_is_gone(self) -> None:
        case = case_of({"write": True, "action": "DELETE", "target": "m1"}, given=given(CITY))
        taken_back = fact("用户住在杭州", kind="retraction", intent="retract", target_words="住在杭州")

        outcome = play_one(case, taken_back)

        assert rates(outcome) == {"missed_write": 0.0, "conflict_accuracy": 1.0}
        assert outcome.verdicts[0].right

    def test_where_an_update_will_do_as_well_the_target_must_change(self) -> None:
        case = case_of({"write": True, "action": ["DELETE", "UPDATE"], "target": "m1"}, given=given(CITY))

        assert rates(play_one(case, city("上海", intent="change")))["missed_write"] == 0.0
        assert rates(play_one(case, fact("用户喜欢爬山")))["missed_write"] == 1.0


class TestScope:
    def test_another_scope_is_an_error(self) -> None:
        case = case_of({"scope": "global", "contains": [["一页"]]}, given=TASK)

        outcome = play_one(case, constraint("这份周报一页以内"))

        assert rates(outcome) == {"scope_error": 1.0, "over_generalised": 0.0}
        assert why(outcome) == ["scope: current_task"]

    def test_a_wider_scope_is_over_generalised_too(self) -> None:
        case = case_of({"scope": "current_task", "contains": [["一页"]]}, given=TASK)

        assert rates(play_one(case, fact("周报一页以内"))) == {"scope_error": 1.0, "over_generalised": 1.0}

    def test_a_family_is_wider_than_a_project_and_narrower_than_everything(self) -> None:
        written = {
            "content": "周报一页以内",
            "kind": "preference",
            "attribute": "instruction",
            "family": "writing",
        }

        def rate(scope: str | list[str]) -> float | None:
            case = case_of({"scope": scope}, given=TASK)
            return play_one(case, written).rate("over_generalised")

        assert (rate("project"), rate("writing_tasks"), rate("global")) == (1.0, 0.0, 0.0)
        assert rate(["current_task", "coding_tasks"]) == 0.0

    def test_it_is_not_counted_where_nothing_was_written(self) -> None:
        assert rates(play_one(case_of({"scope": "global"}))) == {}

    def test_of_several_memories_the_one_meant_is_judged(self) -> None:
        case = case_of(
            {"write": True, "scope": "current_task", "type": "constraint", "contains": [["一页"]]}, given=TASK
        )

        outcome = play_one(case, fact("用户喜欢爬山"), fact("一页的周报最好"), constraint("这份周报一页以内"))

        assert outcome.verdicts[0].right


class TestLifetime:
    @pytest.mark.parametrize(
        ("expected", "end", "rate"),
        [
            ("2026-03-15", "2026-03-16T00:00:00+08:00", 0.0),
            ("2026-03-15", "2026-03-15T23:30:00+08:00", 0.0),
            ("2026-03-15", "2026-03-15T00:00:00+08:00", 1.0),
            ("2026-03-15", None, 1.0),
            ("never", None, 0.0),
            ("never", "2026-03-16T00:00:00+08:00", 1.0),
            ("task_finished", None, 1.0),
        ],
    )
    def test_another_end_is_an_error(self, expected: str, end: str | None, rate: float) -> None:
        case = case_of({"expires": expected})
        time = {"end": datetime.fromisoformat(end)} if end else None

        assert rates(play_one(case, fact("用户在上海", time=time))) == {"lifetime_error": rate}

    def test_the_last_day_is_one_of_the_turns_zone(self) -> None:
        case = case_of({"expires": "2026-03-15"}, now="2026-03-02T21:00:00-05:00")
        time = {"end": datetime.fromisoformat("2026-03-16T12:00:00+08:00")}

        assert rates(play_one(case, fact("用户在上海", time=time))) == {"lifetime_error": 0.0}

    def test_what_ends_with_its_task_is_told_apart(self) -> None:
        case = case_of({"expires": "task_finished"}, given=TASK)

        assert rates(play_one(case, constraint("这份周报一页以内"))) == {"lifetime_error": 0.0}

    def test_what_begins_later_counts_as_written(self) -> None:
        case = case_of({"write": True, "expires": "2026-03-15"})
        time = {
            "start": datetime.fromisoformat("2026-03-10T00:00:00+08:00"),
            "end": datetime.fromisoformat("2026-03-16T00:00:00+08:00"),
        }

        assert play_one(case, fact("用户在上海", time=time)).verdicts[0].right


class TestConflicts:
    def test_a_changed_memory_that_must_stay_is_an_error(self) -> None:
        case = case_of({"unchanged": ["m1"]}, given=given(CITY, PEANUTS))

        outcome = play_one(case, city("上海", intent="change"))

        assert rates(outcome) == {"conflict_accuracy": 0.0}
        assert why(outcome) == ["conflict: m1 changed"]

    def test_others_may_change(self) -> None:
        case = case_of({"unchanged": ["m2"]}, given=given(CITY, PEANUTS))

        assert rates(play_one(case, city("上海", intent="change"))) == {"conflict_accuracy": 1.0}

    def test_a_target_that_stays_is_an_error(self) -> None:
        case = case_of({"target": "m1"}, given=given(CITY, PEANUTS))

        assert rates(play_one(case)) == {"conflict_accuracy": 0.0}

    def test_beside_a_target_no_other_may_change(self) -> None:
        case = case_of({"target": "m1"}, given=given(CITY, BIRTHDAY))
        moved = city("上海", intent="change")
        born = fact("用户生日是11月23日", attribute="birthday", value="11-23", intent="correct")

        assert rates(play_one(case, moved)) == {"conflict_accuracy": 1.0}
        assert rates(play_one(case, moved, born)) == {"conflict_accuracy": 0.0}


class TestActionsReasonsTypes:
    def test_a_wrong_reason_is_counted(self) -> None:
        said = fact("回答短一点", kind="answer_instruction", attribute="answer_style")

        right = play_one(case_of({"reason": "current_turn_instruction"}), said)
        wrong = play_one(case_of({"reason": ["joke", "question"]}), said)
        none = play_one(case_of({"reason": "joke"}))

        assert [outcome.rate("reason_accuracy") for outcome in (right, wrong, none)] == [1.0, 0.0, 0.0]

    def test_any_candidates_reason_may_be_the_one(self) -> None:
        case = case_of({"reason": "current_turn_instruction"})
        said = fact("回答短一点", kind="answer_instruction", attribute="answer_style")

        assert play_one(case, fact("用户喜欢爬山"), said).rate("reason_accuracy") == 1.0

    def test_a_wrong_type_is_counted_among_all_cases_that_name_one(self) -> None:
        case = case_of({"type": ["boundary", "preference"]})

        assert play_one(case, fact("用户喜欢爬山")).rate("type_error") == 1.0
        assert play_one(case, fact("不提前任", kind="boundary")).rate("type_error") == 0.0
        assert play_one(case).rate("type_error") == 0.0

    @pytest.mark.parametrize(
        ("action", "right"),
        [("WRITE", True), ("HOLD", False), (["HOLD", "SKIP"], True), (["UPDATE", "SKIP"], False)],
    )
    def test_the_strongest_action_counts_and_of_a_list_any(self, action: Any, right: bool) -> None:
        found = [fact("用户喜欢爬山"), fact("用户喜欢滑雪", certainty="uncertain")]

        outcome = play_one(case_of({"action": action}), *found)

        assert outcome.verdicts[0].right is right

    def test_the_action_is_that_of_the_memory_meant(self) -> None:
        case = case_of({"action": "WRITE", "contains": [["爬山"]]}, given=given(CITY))

        outcome = play_one(case, city("上海", intent="change"), fact("用户喜欢爬山"))

        assert outcome.verdicts[0].right

    @pytest.mark.parametrize(
        ("kind", "right"), [("weak_inference", True), ("secret", False), ("duplicate", False)]
    )
    def test_holding_is_as_good_as_skipping_but_for_some_kinds(self, kind: str, right: bool) -> None:
        case = case_of({"write": False, "action": "SKIP"}, kind=kind)

        outcome = play_one(case, fact("用户喜欢滑雪", certainty="uncertain"))

        assert outcome.verdicts[0].right is right


class TestLeaks:
    SECRET = 'Tr0ub4dor"&3'

    def test_a_string_in_an_event_is_found(self) -> None:
        case = case_of({"write": False, "absent": [self.SECRET]})

        outcome = play_one(case, fact(f"用户说 {self.SECRET}", certainty="uncertain"))

        assert outcome.leaks == 1
        assert why(outcome)[-1] == "leak: events, tables, report"

    def test_case_and_width_do_not_hide_it(self) -> None:
        case = case_of({"absent": ["HUNTER2"]})

        assert play_one(case, fact("用户说 ｈunter2", certainty="uncertain")).leaks == 1

    @pytest.mark.parametrize("cell", ['{"a": "Tr0ub4dor\\"&3"}', b'\x00\xffTr0ub4dor"&3\xfe', 'tr0ub4dor"&3'])
    def test_a_string_in_a_table_alone_is_found(self, cell: str | bytes) -> None:
        case = case_of({"absent": [self.SECRET]})

        outcome = play_one(case, planted=[cell])

        assert why(outcome) == ["leak: tables"]

    def test_a_string_that_is_nowhere_is_not_found(self) -> None:
        case = case_of({"absent": [self.SECRET]})

        assert play_one(case, fact("用户喜欢爬山"), planted=["something else"]).leaks == 0

    def test_every_table_is_searched(self) -> None:
        case = case_of({"absent": ["用户喜欢爬山", "scripted/1"]})
        outcome = play_one(case, fact("用户喜欢爬山"))

        assert why(outcome) == ["leak: active, events, tables, report"]

    def test_what_other_cases_wrote_is_not_held_against_one(self) -> None:
        first = case_of({}, "我说爬山", id="c-1")
        second = case_of({"absent": ["爬山"]}, "我说滑雪", id="c-2")

        outcome = play_all([first, second], {"我说爬山": [fact("用户喜欢爬山")]})

        assert outcome.leaks == 0

    def test_the_report_itself_does_not_tell_the_secret(self) -> None:
        case = case_of({"write": False, "absent": [self.SECRET]})

        outcome = play_one(case, fact(f"用户说 {self.SECRET}"))

        assert self.SECRET not in str(outcome.to_document())
        assert outcome.leaks == 1

    def test_an_active_memory_alone_is_searched_where_the_case_says_so(self) -> None:
        case = case_of({"absent": ["爬山"], "absent_in": "active"})

        held = play_one(case, fact("用户喜欢爬山", certainty="uncertain"))
        active = play_one(case, fact("用户喜欢爬山"))

        assert (held.leaks, active.leaks) == (0, 1)
        assert why(active) == ["leak: active"]


def test_the_report_counts_cases_by_kind_and_language() -> None:
    cases = [
        case_of({"write": False}, "a", id="zh-1", kind="thanks"),
        case_of({"write": False}, "b", id="en-1", kind="thanks", lang="en"),
        case_of({"write": True}, "c", id="en-2", kind="secret", lang="en"),
    ]

    document = play_all(cases, {"b": [fact("用户喜欢爬山")], "c": [fact("用户喜欢滑雪")]}).to_document()

    assert list(document) == [
        "cases",
        "rates",
        "counts",
        "leaks",
        "by_kind",
        "by_lang",
        "confusion",
        "failures",
    ]
    assert document["cases"] == 3
    assert document["rates"] == {
        "wrong_write": 0.5,
        "missed_write": 0.0,
        "scope_error": None,
        "over_generalised": None,
        "conflict_accuracy": None,
        "lifetime_error": None,
        "reason_accuracy": None,
        "type_error": None,
    }
    assert document["leaks"] == 0
    assert document["by_kind"] == {"thanks": {"cases": 2, "right": 1}, "secret": {"cases": 1, "right": 1}}
    assert document["by_lang"] == {"zh": {"cases": 1, "right": 1}, "en": {"cases": 2, "right": 1}}
    assert document["failures"] == [
        {"id": "en-1", "why": "wrote: global important_fact fact=None '用户喜欢爬山'"}
    ]
