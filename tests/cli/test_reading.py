"""What is remembered, then and now; the JSON has the documented fields."""

import re
from pathlib import Path
from typing import Any

import pytest
from command_line import Run


def keys_of(value: Any, inside: str = "") -> set[str]:
    """Every name of a field, at any depth; what events and policies say is not the console's."""
    if isinstance(value, list):
        return {key for one in value for key in keys_of(one)}
    if isinstance(value, dict):
        own = {"payload", "document", "candidate", "selector"}
        return set(value) | {k for name, one in value.items() if name not in own for k in keys_of(one)}
    return set()


@pytest.fixture(scope="session")
def documented(repository_root: Path) -> set[str]:
    page = (repository_root / "docs" / "reference" / "json.md").read_text("utf-8")
    return set(re.findall(r"`(\w+)`", page))


@pytest.mark.parametrize(
    "command",
    [
        ("list",), ("list", "--status", "all"), ("show", "ID"), ("history", "ID"), ("why", "ID"),
        ("diff", "ID", "1", "2"), ("log",), ("decisions",), ("decisions", "--stats"), ("held",),
        ("search", "薪资"), ("context", "薪资"), ("rollback", "ID", "--to", "1"), ("verify",), ("rebuild",),
        ("doctor",), ("policy", "show"), ("confirm", "ID"), ("task", "finish", "w1"), ("add", "我叫小林"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_field_of_the_json_is_documented(
    command: tuple[str, ...], salary: str, run: Run, documented: set[str]
) -> None:
    done = run(*(salary if word == "ID" else word for word in command), "--json")

    assert done.status == 0, done.err
    assert done.forms
    assert keys_of(done.forms) - documented == set()


def test_list_answers_as_of_and_valid_at(salary: str, run: Run) -> None:
    def value(*options: str) -> list[str]:
        return [form["value"] for form in run("list", "--json", *options).forms if form["id"] == salary]

    now, before = value(), value("--as-of", "2026-10-15")

    assert len(now) == 1
    assert before == value("--valid-at", "2026-10-15") == value("--as-of", "2026-10-15T12:00:00+08:00")
    assert before != now
    assert value("--as-of", "2026-10-07") == value("--valid-at", "2026-10-07") == value("--as-of", "0") == []


def test_list_filters_by_scope_and_status(story: Path, run: Run) -> None:
    assert {form["scope"] for form in run("list", "--json").forms} == {"global", "current_task"}
    assert {form["scope"] for form in run("list", "--scope", "current_task", "--json").forms} == {
        "current_task"
    }
    (held,) = run("list", "--status", "held", "--scope", "writing_tasks", "--json").forms
    assert held["status"] == "held"
    assert run("list", "--scope", "coding_tasks", "--status", "held", "--json").forms == []
    assert run("list", "--scope", "sometimes").status == 2
    assert run("list", "--status", "held", "--as-of", "2026-10-15").status == 2


def test_the_table_keeps_its_columns_under_hanzi(story: Path, run: Run) -> None:
    head, *rows = run("list").out.splitlines()

    assert head.split() == ["id", "status", "ver", "scope", "conf", "ends", "said", "content"]
    assert len(rows) == 3
    assert {row[:8].strip("0123456789abcdef") for row in rows} == {""}
    assert {row.index("2026-") for row in rows} == {head.index("said")}


def test_show_answers_for_another_time(salary: str, run: Run) -> None:
    now = run("show", salary[:10], "--json").form
    then = run("show", salary[:10], "--valid-at", "2026-10-15", "--json").form

    assert (now["version"], then["version"]) == (2, 1)
    assert then["valid_to"] is not None
    assert then["quotes"] != now["quotes"]
    assert run("show", salary, "--as-of", "2026-10-07").status == 3


def test_why_goes_back_to_the_users_words(salary: str, run: Run) -> None:
    form = run("why", salary, "--json").form
    text = run("why", salary, "--version", "1").out

    assert [link["version"] for link in form["links"]] == [2, 1]
    first = form["links"][1]
    assert first["words"] == "我现在住在杭州，期望薪资 15-20k。"
    assert first["statement"]["quotes"][0] in first["words"]
    assert first["decision"]["action"] == "WRITE"
    assert first["judgement"]["should_extract"] is True
    for part in ("← version 1", "decision", "candidate", "judgement", "words", "policy", "recorded"):
        assert part in text
    assert "version 2" not in text


def test_history_has_both_kinds_of_time(salary: str, run: Run) -> None:
    first, second = run("history", salary, "--json").forms

    (period,) = first["periods"]
    assert period["valid_to"] == second["periods"][0]["valid_from"]
    assert second["periods"][0]["valid_to"] is None
    assert first["recorded_at"] < second["recorded_at"]
    assert [form["version"] for form in run("history", salary, "--as-of", "2026-10-15", "--json").forms] == [
        1
    ]
    assert [
        form["version"] for form in run("history", salary, "--valid-at", "2026-10-15", "--json").forms
    ] == [1]


def test_diff_names_fields_and_words(salary: str, run: Run) -> None:
    form = run("diff", salary, "1", "2", "--json").form

    assert "value" in {change["field"] for change in form["changes"]}
    old = "".join(piece["text"] for piece in form["content"] if piece["op"] != "added")
    assert old == run("history", salary, "--json").forms[0]["statement"]["content"]
    assert "[-" in run("diff", salary, "1", "2").out


def test_log_filters_by_type_session_and_time(story: Path, run: Run) -> None:
    everything = run("log", "--json").forms

    def positions(*options: str) -> list[int]:
        return [form["position"] for form in run("log", "--json", *options).forms]

    assert [form["position"] for form in everything] == list(range(1, len(everything) + 1))
    assert positions("--type", "Updated") == positions("--type", "memory.updated")
    assert len(positions("--type", "Updated")) == 1
    assert {f["session"] for f in run("log", "--session", "s1", "--json").forms} == {"s1"}
    assert positions("--limit", "2") == [form["position"] for form in everything][-2:]
    early = positions("--until", "2026-10-10")
    assert early == positions("--session", "s1")
    assert early + positions("--since", "2026-10-10") == positions()
    assert run("log", "--type", "Forgotten").status == 2


def test_decisions_show_what_was_refused_and_judged(story: Path, run: Run) -> None:
    talk = run("decisions", "--session", "s2", "--json").form

    assert (talk["kind"], talk["category"]) == ("judged", "small_talk")
    turn = talk["turn_id"]
    assert run("decisions", "--turn", turn[:10], "--json").form == talk
    assert {form["outcome"] for form in run("decisions", "--outcome", "held", "--json").forms} == {"held"}
    stats = run("decisions", "--stats", "--json").forms
    assert sum(form["number"] for form in stats) == len(run("decisions", "--json").forms)


def test_held_can_be_confirmed_and_rejected(story: Path, run: Run) -> None:
    (held,) = run("held", "--json").forms

    done = run("confirm", held["id"][:8], "--json").form
    assert (done["done"], done["memories"]) == ("confirmed", [held["id"]])
    assert run("held", "--json").forms == []
    assert run("show", held["id"], "--json").form["status"] == "active"
    refused = run("reject", held["id"])
    assert refused.status == 4
    assert "use `memstrata forget`" in refused.err


def test_people_correct_pin_and_forget(salary: str, run: Run) -> None:
    assert run("correct", salary, "期望薪资 26k 以上").status == 0
    assert "pinned" in run("pin", salary).out
    assert "is pinned already" in run("pin", salary).out
    assert run("unpin", salary).status == 0
    assert "is not pinned" in run("unpin", salary).out
    assert run("forget", salary, "--actor", "mei").status == 0

    assert run("show", salary, "--json").form["status"] == "ended"
    assert run("forget", salary).status == 4
    last = run("log", "--limit", "1", "--json").form
    assert last["payload"]["actor"] == "operator:mei"


def test_search_and_context_find_by_words(salary: str, run: Run) -> None:
    assert run("search", "薪资", "--json").forms[0]["id"] == salary
    assert "（用户于2026年10月提及）" in run("search", "薪资").out
    assert run("search", "qqqq", "--json").forms == []
    with_task = run("context", "写周报", "--task", "w1", "--json").forms
    without = run("context", "写周报", "--json").forms
    assert {f["scope"] for f in with_task} - {f["scope"] for f in without} == {"current_task"}
    assert run("context", "薪资", "--budget", "1", "--json").forms == []
