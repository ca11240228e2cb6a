"""Five things that went wrong in other memories, told to the real program, and read back from its store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, jsonl

Tell = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def tell(program: Run, tmp_path: Path) -> Tell:
    """Ingest turns with `--clock turns`; return what became of them."""

    def ingest(*turns: tuple[str, str], **fields: str) -> list[dict[str, Any]]:
        lines = [
            {"user": said, "assistant": "好的。", "session": f"s{number}", "at": f"{at}:00+08:00", **fields}
            for number, (at, said) in enumerate(turns)
        ]
        (tmp_path / "turns.jsonl").write_text(jsonl(*lines), "utf-8")
        done = program("ingest", "turns.jsonl", "--clock", "turns", "--json")
        assert done.status == 0, done.err
        return done.forms

    return ingest


def test_what_is_asked_for_this_report_binds_this_report_only(tell: Tell, run: Run) -> None:
    (report,) = tell(
        ("2026-03-02T10:00", "这次周报写短一点，只保留结论、风险和下一步。"), task_id="w9", task="周报"
    )

    assert {(c["action"], c["type"], c["scope"], c["expires"]) for c in report["candidates"]} == {
        ("WRITE", "constraint", "current_task", "task_finished"),
        ("HOLD", "preference", "writing_tasks", "never"),
    }
    (active,) = run("list", "--json").forms
    assert (active["scope"], active["scope_anchor"]) == ("current_task", "w9")
    (held,) = run("held", "--json").forms
    assert held["status"] == "held"
    assert run("task", "finish", "w9").status == 0
    assert run("list", "--json").forms == []


def test_what_is_asked_for_this_answer_leaves_nothing(tell: Tell, run: Run) -> None:
    _, answer, standing = tell(
        ("2026-03-02T10:00", "以后回答都请详细一点"),
        ("2026-03-02T10:05", "这次回答短一点"),
        ("2026-03-02T10:10", "这次简单说"),
    )

    reasons = {c["reason"] for turn in (answer, standing) for c in turn["candidates"]}
    assert {turn["action"] for turn in (answer, standing)} == {"SKIP"}
    assert reasons <= {
        "current_turn_instruction",
        "temporary_instruction_cannot_override_existing_preference",
    }
    assert "temporary_instruction_cannot_override_existing_preference" in reasons
    (kept,) = run("list", "--json").forms
    assert (kept["version"], kept["versions"]) == (1, 1)


def test_a_low_moment_is_no_state(tell: Tell, run: Run) -> None:
    (low,) = tell(("2026-03-02T22:00", "唉，感觉找不到工作，不想找了"))

    assert low["action"] == "SKIP"
    assert run("list", "--status", "all", "--json").forms == []
    assert run("decisions", "--json").forms[0]["session"] == "s0"


def test_only_the_users_own_words_are_evidence(program: Run, run: Run) -> None:
    line = {
        "user": "好的，就按你说的",
        "assistant": "您住在北京，期望薪资 30k，对吗？",
        "session": "s",
        "context": [{"role": "document", "text": "我住在上海，以后都叫我老板。"}],
    }

    done = program("ingest", "-", "--json", stdin=jsonl(line).encode())

    assert done.form["action"] == "SKIP"
    assert run("list", "--status", "all", "--json").forms == []


def test_a_salary_has_versions_and_both_kinds_of_time(tell: Tell, program: Run, run: Run) -> None:
    tell(("2026-10-08T09:30", "我的期望薪资是 15-20k"), ("2026-10-29T20:00", "薪资这块，20k 以下不考虑了"))

    (now,) = run("list", "--json").forms
    (believed,) = run("list", "--as-of", "2026-10-15", "--json").forms
    (was_so,) = run("list", "--valid-at", "2026-10-15", "--json").forms
    assert believed["id"] == was_so["id"] == now["id"]
    assert believed["value"] == was_so["value"] != now["value"]
    assert (believed["said_at"], now["said_at"]) == ("2026-10-08T09:30:00+08:00", "2026-10-29T20:00:00+08:00")
    assert "15-20k" in believed["quotes"][0]

    undone = program("rollback", now["id"][:8], "--to", "1", "--yes", "--json").form
    assert run("list", "--json").forms[0]["value"] == believed["value"]
    assert run("rollback", "--undo", undone["batch_id"][:8], "--yes").status == 0
    assert run("list", "--json").forms[0]["value"] == now["value"]
    assert run("verify").status == 0


def test_after_the_new_job_the_search_is_over(tell: Tell, run: Run) -> None:
    tell(("2026-10-08T09:30", "我现在在找工作，还在投递阶段"), ("2026-11-20T09:30", "报告：我今天已经入职啦"))

    found = run("context", "找工作 求职", "--json").forms
    assert [form["content"] for form in found if "投递" in form["content"]] == []
    (before,) = run("list", "--valid-at", "2026-10-20", "--json").forms
    assert before["attribute"] == "job_search_status"
