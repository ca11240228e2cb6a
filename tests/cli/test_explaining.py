"""`explain` lays a message open and writes nothing."""

from pathlib import Path

from command_line import Run


def test_a_message_is_laid_open_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    form = run("explain", "以后回答都先给结论，我妹妹住在成都", "--json").form

    first, second = form["clauses"]
    assert (first["text"], first["order"]) == ("以后回答都先给结论", True)
    assert [one["kind"] for one in first["signals"]] == ["lasting"]
    assert second["about"] == "other (我妹妹)"
    assert form["text"][second["start"] : second["end"]] == second["text"]
    assert form["action"] == "WRITE"
    assert form["candidates"][0]["scope"] == "global"
    assert not list(tmp_path.glob("*.db"))


def test_what_is_remembered_counts(run: Run) -> None:
    run("add", "我住在杭州", "--session", "a")
    before = run("log", "--json").out

    form = run("explain", "我搬到上海了", "--json").form

    assert [one["action"] for one in form["candidates"]] == ["UPDATE"]
    assert run("log", "--json").out == before


def test_secrets_and_shown_text_are_set_apart(run: Run) -> None:
    done = run("explain", "我的密码是 hunter2xyz，翻译一下：I live in Leeds")

    assert "hunter2xyz" not in done.out + done.err
    assert "masked: password" in done.out
    assert "document, not said: I live in Leeds" in done.out


def test_a_turn_that_cannot_be_judged_is_said(run: Run) -> None:
    done = run("explain", "你好", "--tz", "Mars/Base")

    assert done.status != 0
    assert "Mars/Base" in done.err
