"""Conversations go in from files and from standard input; what is wrong with them is said."""

import json
from pathlib import Path

import pytest
from command_line import STORY, Run, jsonl


def test_explain_prints_what_was_decided_and_why(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(jsonl(*STORY), "utf-8")

    done = run("ingest", "a.jsonl", "--explain", "--clock", "turns")

    assert done.status == 0
    lines = done.out.splitlines()
    turn = lines.index("2026-10-08 09:30+08  我现在住在杭州，期望薪资 15-20k。")
    assert lines[turn - 1] == "── session s1 ──"
    assert lines[turn + 1].startswith("  WRITE   ")
    assert "杭州  → " in lines[turn + 1]
    assert " · rule " in lines[turn + 2]
    assert " · global · 0.92 · never" in lines[turn + 2]
    assert any(line.startswith("  –       small_talk: ") for line in lines)
    assert " · current_task (w1) · " in done.out
    assert " · task_finished" in done.out
    assert "Active memories (3)" in done.out
    assert f"store: {tmp_path / 'memstrata.db'}  owner: acme/lin" in done.out


def test_explain_masks_secrets(run: Run) -> None:
    done = run("ingest", "-", "--explain", stdin=jsonl({"user": "我的手机号是13812345678", "session": "s"}))

    assert "13812345678" not in done.out
    assert "masked  phone" in done.out


def test_what_is_known_already_changes_nothing_and_is_said(run: Run) -> None:
    text = jsonl(*STORY[:2])
    run("ingest", "-", stdin=text)
    before = run("log", "--json").out

    again = run("ingest", "-", stdin=text)

    assert again.status == 0
    assert "2 turns: all known already, nothing was written" in again.out
    assert run("log", "--json").out == before


def test_json_is_one_object_a_turn(run: Run) -> None:
    done = run("ingest", "-", "--json", stdin=jsonl(*STORY))

    assert [form["status"] for form in done.forms] == ["new"] * 4
    assert [form["line"] for form in done.forms] == [1, 2, 3, 4]
    assert done.forms[0]["said_at"] == "2026-10-08T09:30:00+08:00"
    assert {c["attribute"] for c in done.forms[0]["candidates"]} == {"city", "expected_salary"}
    assert done.forms[3]["candidates"][0]["expires"] == "task_finished"


def test_a_malformed_line_and_an_unknown_field_are_reported_and_the_rest_goes_on(
    run: Run, tmp_path: Path
) -> None:
    lines = [STORY[0], '{"user": "half', {**STORY[2], "taskid": "w"}, STORY[1]]
    (tmp_path / "a.jsonl").write_text(jsonl(*lines), "utf-8")

    done = run("ingest", "a.jsonl")

    assert done.status == 1
    assert "error: a.jsonl, line 2: is no JSON" in done.err
    assert "error: a.jsonl, line 3: taskid: is an unknown field; did you mean 'task_id'?" in done.err
    assert "2 turns: 2 new, 2 lines could not be read" in done.out
    assert len(run("list", "--json").forms) == 2


def test_problems_are_objects_with_json(run: Run) -> None:
    done = run("ingest", "-", "--json", stdin=jsonl("nope", {"user": "a\0b", "session": "s"}))

    assert done.status == 1
    assert [form["status"] for form in done.forms] == ["failed"]
    errors = [json.loads(line) for line in done.err.splitlines()]
    assert [(e["error"], e["line"], e["status"]) for e in errors] == [
        ("UnreadableError", 1, 1),
        ("InvalidInputError", 2, 1),
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"user": "a\ud800"}, "user: holds a lone surrogate code point"),
        ({"tz": "Mars/Base"}, "tz: 'Mars/Base' is no known time zone"),
        ({"at": "2026-10-08T09:30:00"}, "has no offset from UTC"),
        ({"at": "2999-01-01T00:00:00+00:00"}, "is later than now"),
    ],
)
def test_a_turn_that_cannot_be_judged_writes_nothing(run: Run, change: dict[str, str], says: str) -> None:
    done = run("ingest", "-", stdin=json.dumps({**STORY[0], **change}))

    assert done.status == 1
    assert says in done.err
    assert run("log", "--json").forms == []


def test_an_edited_message_is_a_conflict_unless_it_is_revised(run: Run) -> None:
    run("ingest", "-", stdin=jsonl(STORY[0]))
    edited = jsonl({**STORY[0], "user": "我现在住在成都。"})

    refused = run("ingest", "-", stdin=edited)
    revised = run("ingest", "-", "--revise", stdin=edited)

    assert refused.status == 4
    assert "use --revise" in refused.err
    assert revised.status == 0
    assert [form["value"] for form in run("list", "--json").forms] == ["成都"]


def test_messages_of_a_chat_are_read_too(run: Run, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "I live in Leeds."}, {"role": "assistant", "content": "Nice."}]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": messages}, indent=2), "utf-8")

    done = run("ingest", "chat.json", "--json")

    assert done.status == 0
    assert (done.form["session"], done.form["candidates"][0]["value"]) == ("chat", "Leeds")


def test_several_files_go_in_and_a_missing_one_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(jsonl(STORY[0]), "utf-8")

    done = run("ingest", "nowhere.jsonl", "a.jsonl")

    assert done.status == 1
    assert "error: nowhere.jsonl: No such file or directory" in done.err
    assert "1 turn: 1 new" in done.out


def test_a_simulated_clock_behind_the_log_is_refused(run: Run) -> None:
    run("add", "我住在杭州")

    done = run("ingest", "-", "--clock", "turns", stdin=jsonl(*STORY))

    assert done.status == 1
    assert "use a fresh store" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_chat_decides_line_by_line(run: Run) -> None:
    done = run("chat", "--session", "c", stdin="我住在杭州\n\n好的\n")

    assert done.status == 0
    assert [line.split("  ")[1] for line in done.out.splitlines() if line.startswith("20")] == [
        "我住在杭州",
        "好的",
    ]
    assert "WRITE" in done.out


def test_add_says_what_was_decided(run: Run) -> None:
    first = run("add", "我住在杭州", "--json").form
    again = run("add", "我住在杭州", "--json").form

    assert (first["action"], first["candidates"][0]["value"]) == ("WRITE", "杭州")
    assert (again["status"], again["action"]) == ("new", "SKIP")


def test_add_with_an_empty_task_says_so(run: Run) -> None:
    done = run("add", "x", "--task-id", "")

    assert done.status == 1
    assert "task_id: is empty" in done.err


# --- the real program ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "locale",
    [
        {"LANG": "en_US.UTF-8"},
        {"LANG": "C", "LC_ALL": ""},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_chinese_goes_through_a_pipe_under_every_locale(program: Run, locale: dict[str, str]) -> None:
    done = program("add", "我养了一只猫", **locale)

    assert done.status == 0, done.err
    assert "我养了一只猫" in done.out
    assert "WRITE" in done.out


def test_standard_input_is_utf_8_whatever_the_locale(program: Run) -> None:
    done = program("ingest", "-", "--json", stdin=jsonl(STORY[0]).encode(), LC_ALL="C", PYTHONUTF8="0")

    assert done.status == 0
    assert "杭州" in done.forms[0]["candidates"][0]["content"]
