"""Rollbacks are previewed, applied only when they are meant, and undone by their batch."""

from pathlib import Path

from command_line import Run


def test_without_yes_a_rollback_is_only_shown(salary: str, run: Run) -> None:
    before = run("log", "--json").out

    done = run("rollback", salary, "--to", "1")

    assert done.status == 0
    assert "1 event undone, 1 memory touched" in done.out
    assert "repeat it with --yes" in done.err
    assert run("log", "--json").out == before


def test_a_memory_goes_back_to_a_version_and_forward_again(salary: str, run: Run) -> None:
    def version() -> int:
        return int(run("show", salary, "--json").form["version"])

    done = run("rollback", salary, "--to", "1", "--yes", "--reason", "try", "--json").form
    assert (done["applied"], done["effects"][0]["fate"]) == (True, "changed")
    assert version() == 1
    assert [form["in_force"] for form in run("history", salary, "--json").forms] == [True, False]

    assert run("rollback", "--undo", done["batch_id"][:8], "--yes").status == 0
    assert version() == 2

    again = run("rollback", "--undo", done["batch_id"], "--yes", "--json")
    assert again.status == 4
    assert again.error["error"] == "BatchStateError"
    assert [form["kind"] for form in run("batches", "--json").forms] == ["rollback", "undo"]


def test_a_session_is_rolled_back_and_what_has_support_stays(salary: str, run: Run) -> None:
    plan = run("rollback", "--session", "s1", "--json").form

    fates = {effect["id"]: effect["fate"] for effect in plan["effects"]}
    assert fates[salary] == "survives"
    assert sorted(fates.values()) == ["survives", "withdrawn"]
    assert plan["applied"] is False
    done = run("rollback", "--session", "s1", "--yes")
    assert done.status == 0
    assert "applied as batch" in done.out


def test_selectors_combine(story: Path, run: Run) -> None:
    both = run("rollback", "--session", "s1", "--rule", "no.such.rule", "--json").form

    assert both["selected"] == []
    assert "nothing to undo" in run("rollback", "--session", "nowhere", "--yes").out
    everything = run("rollback", "--extractor", "rules/1", "--json").form
    assert len(everything["effects"]) >= 3
    window = run("rollback", "--since", "2026-10-20", "--until", "2026-10-30", "--json").form
    assert [effect["fate"] for effect in window["effects"]] == ["changed"]


def test_what_means_nothing_is_a_wrong_use(salary: str, run: Run) -> None:
    assert run("rollback").status == 2
    assert run("rollback", "--to", "1").status == 2
    assert run("rollback", salary, "--undo", "abc").status == 2
    assert run("rollback", salary, "--to", "9").status == 3
    assert run("rollback", "--undo", "ffff").status == 3


def test_a_finished_task_ends_what_held_for_it_and_opens_again(story: Path, run: Run) -> None:
    def scopes() -> set[str]:
        return {form["scope"] for form in run("list", "--json").forms}

    done = run("task", "finish", "w1", "--json").form
    assert (done["done"], len(done["memories"])) == ("finished", 1)
    assert scopes() == {"global"}
    assert run("task", "finish", "w1", "--json").form["done"] is None
    plan = run("rollback", "--undo", done["batch_id"], "--yes", "--json").form
    assert plan["tasks_reopened"] == ["w1"]
    assert scopes() == {"global", "current_task"}
    assert "is open already" in run("task", "start", "w1").out or run("task", "start", "w1").status == 0
