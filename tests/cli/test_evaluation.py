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
