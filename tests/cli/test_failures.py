"""Errors have a status by their type, one or two lines, and a next step; never a traceback."""

import sqlite3
from pathlib import Path

import pytest
from command_line import OWNER, STORY, Run, jsonl

from memstrata.adapters.console.failures import status_of
from memstrata.domain import errors


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InvalidInputError("at", "is wrong", "write it right"), 1),
        (errors.RefusedError("no_change", "it says so already"), 1),
        (errors.StoreTooNewError("x.db", 9, 1), 1),
        (errors.OwnerRequiredError(), 2),
        (errors.AmbiguousIdError("ab", ("abc", "abd")), 3),
        (errors.TurnEditedError("s", "m"), 4),
        (errors.OwnerPositionConflictError(1, 2), 4),
        (errors.VerificationFailedError("broken", 3), 5),
    ],
)
def test_the_type_of_an_error_decides_the_status(error: errors.MemstrataError, status: int) -> None:
    assert status_of(error) == status


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["show", "ffffffff"], 3, "no memory 'ffffffff' for this owner"),
        (["why", "zzz"], 3, "`memstrata list` shows what there is"),
        (["diff", "ID", "1", "7"], 3, "`memstrata history` shows them"),
        (["reject", "ID"], 4, "use `memstrata forget`"),
        (["correct", "ID", " "], 1, "empty_content"),
        (["list", "--owner", "/lin"], 2, "name the owner, for example 'acme/lin'"),
        (["list", "--as-of", "someday"], 2, "is no time; write"),
        (["policy", "check", "memstrata.db"], 1, "give a TOML file"),
    ],
)
def test_an_error_is_one_line_and_an_object_with_json(
    arguments: list[str], status: int, says: str, salary: str, run: Run
) -> None:
    given = [salary if word == "ID" else word for word in arguments]

    plain, machine = run(*given), run(*given, "--json")

    assert (plain.status, machine.status) == (status, status)
    assert says in plain.err
    assert "Traceback" not in plain.err
    assert plain.out == machine.out == ""
    assert machine.error["status"] == status
    assert says in machine.error["message"]


def test_without_a_store_nothing_is_remembered_and_no_file_appears(run: Run, tmp_path: Path) -> None:
    listed, shown, verified = run("list"), run("show", "abc"), run("verify")

    assert (listed.status, listed.out) == (0, "")
    assert f"there is no store at {tmp_path / 'memstrata.db'} yet" in listed.err
    assert shown.status == 3
    assert verified.status == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_store_is_refused_and_left_alone(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, but long enough to have a header" * 20)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE meta (x)")
    connection.close()
    before = text.read_bytes(), other.read_bytes()

    for file in (text, other):
        for command in (["list"], ["ingest", "-"], ["doctor"]):
            done = run(*command, "--db", str(file), stdin=jsonl(STORY[0]))
            assert done.status == 1
            assert "name another file with --db" in done.err + done.out

    assert (text.read_bytes(), other.read_bytes()) == before


def test_a_store_of_a_later_version_is_refused(story: Path, run: Run) -> None:
    with sqlite3.connect(story) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
    connection.close()

    done = run("list", "--json")

    assert done.status == 1
    assert (done.error["error"], done.error["found"]) == ("StoreTooNewError", 99)


def test_a_changed_event_is_found(story: Path, run: Run) -> None:
    assert run("verify").status == 0
    with sqlite3.connect(story) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE event SET state = replace(state, 'a', 'b') WHERE pos = 3")
    connection.close()

    done, diagnosed = run("verify", "--json"), run("doctor", "--json")

    assert done.status == 5
    assert (done.form["ok"], done.form["up_to"], done.form["position"]) == (False, 2, 3)
    assert diagnosed.status == 5


def test_a_drifted_projection_is_found_and_put_right(story: Path, run: Run) -> None:
    with sqlite3.connect(story) as connection:
        connection.execute("UPDATE memory SET importance = 0")
    connection.close()

    assert run("rebuild", "--check").status == 5
    assert run("doctor").status == 5
    assert run("rebuild").status == 0
    assert run("rebuild", "--check").status == 0
    assert run("doctor").status == 0


def test_store_and_owner_may_stand_before_and_after_the_command(
    story: Path, run: Run, tmp_path: Path
) -> None:
    moved = story.rename(tmp_path / "other.db")
    url = f"sqlite:///{moved}"
    expected = run("list", "--db", str(moved), "--owner", OWNER, "--json").forms

    assert len(expected) == 3
    assert run("--db", str(moved), "--owner", OWNER, "list", "--json").forms == expected
    assert run(
        "--db", "nowhere.db", "--owner", "a/b", "list", "--db", url, "--owner", OWNER, "--json"
    ).forms == (expected)
    assert run("list", "--db", url, "--owner", "acme/other", "--json").forms == []


def test_the_environment_names_store_and_owner(
    story: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTRATA_DB", str(story.rename(tmp_path / "other.db")))

    assert len(run("list", "--json").forms) == 3
    monkeypatch.delenv("MEMSTRATA_OWNER")
    nobody = run("list")
    assert nobody.out == ""
    assert "owner: local/default" in nobody.err
