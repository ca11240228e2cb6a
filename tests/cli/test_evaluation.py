"""`eval` plays golden cases and prints rates."""

import json
from pathlib import Path

from command_line import Run

CASE = {
    "id": "zh-slot_create-001",
    "kind": "slot_create",
    "lang": "zh",
    "turns": [{"user": "我住在杭州。", "assistant": "好的。"}],
    "expect": {"write": True, "action": "WRITE", "scope": "global", "contains": [["杭州"]]},
}


def test_rates_are_one_object(run: Run, tmp_path: Path) -> None:
    wrong = {**CASE, "id": "zh-slot_create-002", "expect": {"write": False, "action": "SKIP"}}
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, (CASE, wrong))), "utf-8")

    form = run("eval", "cases.jsonl", "--json").form
    shown = run("eval", "cases.jsonl")

    assert (form["cases"], form["leaks"], form["rates"]["wrong_write"]) == (2, 0, 1.0)
    assert form["rates"]["lifetime_error"] is None
    assert [failure["id"] for failure in form["failures"]] == ["zh-slot_create-002"]
    assert "wrong_write" in shown.out
    assert "no case" in shown.out


def test_a_malformed_case_names_line_and_field(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(json.dumps({**CASE, "expects": {}}), "utf-8")

    done = run("eval", "cases.jsonl")

    assert done.status == 1
    assert "cases.jsonl" in done.err
    assert "expects" in done.err


def test_rates_say_how_sure_they_are_and_kinds_what_became_of_what(run: Run, tmp_path: Path) -> None:
    wrong = {**CASE, "id": "zh-slot_create-002", "expect": {"write": False, "action": "SKIP"}}
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, (CASE, wrong))), "utf-8")

    form = run("eval", "cases.jsonl", "--json").form
    shown = run("eval", "cases.jsonl").out

    # Wilson's interval of 1 of 1 begins at 1 / (1 + z²), z = 1.96.
    assert form["counts"]["wrong_write"] == {"hits": 1, "of": 1, "low": 0.2065, "high": 1.0}
    assert form["counts"]["lifetime_error"] is None
    assert form["confusion"] == {"slot_create": {"write": {"write": 1}, "nothing": {"write": 1}}}
    assert "wrongly written" in shown


def test_cases_of_one_kind_can_be_picked(run: Run, tmp_path: Path) -> None:
    other = {**CASE, "id": "zh-question-001", "kind": "question", "expect": {"write": False}}
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, (CASE, other))), "utf-8")

    form = run("eval", "cases.jsonl", "--kind", "question", "--json").form
    none = run("eval", "cases.jsonl", "--kind", "thanks")

    assert list(form["by_kind"]) == ["question"]
    assert none.status == 1
    assert "question, slot_create" in none.err


def test_two_policies_are_compared_case_by_case(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE), "utf-8")
    strict = json.loads(run("policy", "show", "--json").out)["document"]["admission"]
    strict |= {"min_importance": 5}
    values = (f"{key} = {json.dumps(value)}" for key, value in strict.items())
    (tmp_path / "strict.toml").write_text("[admission]\n" + "\n".join(values), "utf-8")

    form = run("eval", "cases.jsonl", "--compare", "default", "strict.toml", "--json").form
    same = run("eval", "cases.jsonl", "--compare", "default", "default").out
    shown = run("eval", "cases.jsonl", "--compare", "default", "strict.toml").out

    assert form["rates"]["missed_write"] == {"before": 0.0, "after": 1.0}
    assert form["right"] == {"before": 1, "after": 0}
    [changed] = form["changed"]
    assert (changed["id"], changed["outcome"]) == ("zh-slot_create-001", "broken")
    assert "WRITE" in changed["before"]
    assert "not_important" in changed["after"]
    assert "Every case is decided alike." in same
    assert "(broken)" in shown


def test_a_comparison_names_both_policies(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE), "utf-8")

    done = run("eval", "cases.jsonl", "--compare", "default", "default", "--policy", "x.toml")

    assert done.status == 2
    assert "leave --policy out" in done.err
