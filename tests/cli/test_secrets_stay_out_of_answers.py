"""No command prints a secret: not in its results, not in its talk, not in its errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run, jsonl

SECRETS = ("kR7-pass-04", "13900002222", "4111111111111111", "abcDEF123456ghiJKL")
TURNS = [
    {"user": "以后叫我小满，密码是 kR7-pass-04 (kR7-pass-04)", "session": "s1", "message_id": "m1"},
    {
        "user": "我住在泉州，手机号 13900002222",
        "session": "s1",
        "task": "给 13900002222 回电话",
        "task_id": "t1",
    },
    {"user": "I live in Leeds; my card is 4111111111111111", "session": "s2", "message_id": "m2"},
    {
        "user": "I'm allergic to nuts. token=abcDEF123456ghiJKL",
        "session": "s2",
        "project": "abcDEF123456ghiJKL",
    },
]
FAULTY = [
    '{"user": "密码是 kR7-pass-04',
    {"user": "密码是 kR7-pass-04\0", "session": "s1"},
    {"user": "密码是 kR7-pass-04", "session": "s1", "tz": "Mars"},
    {"user": "密码是 kR7-pass-04", "session": "s1", "at": "2999-01-01T00:00:00Z"},
    {"user": "my card is 4111111111111111, edited", "session": "s2", "message_id": "m2"},
    {"user": ["密码是 kR7-pass-04"], "session": "s1"},
    {"messages": [{"role": "user", "content": {"密码是": "kR7-pass-04"}}]},
]


def told(text: str) -> list[str]:
    plain = [
        text,
        *(json.dumps(json.loads(line), ensure_ascii=True) for line in text.splitlines() if line[:1] == "{"),
    ]
    return [secret for secret in SECRETS for one in plain if secret.lower() in one.lower()]


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "good.jsonl").write_text(jsonl(*TURNS), "utf-8")
    assert run("ingest", "good.jsonl").status == 0
    return tmp_path


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_ingest_names_no_secret(run: Run, tmp_path: Path, form: tuple[str, ...]) -> None:
    (tmp_path / "good.jsonl").write_text(jsonl(*TURNS), "utf-8")
    (tmp_path / "faulty.jsonl").write_text(jsonl(*FAULTY), "utf-8")

    good = run("ingest", "good.jsonl", *(form or ("--explain",)))
    faulty = run("ingest", "faulty.jsonl", *(form or ("--explain",)))

    assert (good.status, faulty.status > 0) == (0, True)
    assert "masked" in good.out
    assert [told(text) for text in (good.out, good.err, faulty.out, faulty.err)] == [[]] * 4


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("held",),
        ("decisions",),
        ("log",),
        ("batches",),
        ("search", "泉州 Leeds"),
        ("context", "泉州 Leeds"),
        ("rollback", "--session", "s1"),
        ("doctor",),
    ],
    ids=lambda command: command[0],
)
def test_no_answer_names_a_secret(
    run: Run, store: Path, command: tuple[str, ...], form: tuple[str, ...]
) -> None:
    done = run(*command, *form)

    assert done.status == 0
    assert told(done.out) + told(done.err) == []


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_what_is_told_of_one_memory_names_no_secret(run: Run, store: Path, form: tuple[str, ...]) -> None:
    ids = [form["id"] for form in run("list", "--json").forms]
    assert len(ids) >= 3
    for memory_id in ids:
        for command in ("show", "history", "why"):
            done = run(command, memory_id, *form)
            assert done.status == 0
            assert told(done.out) + told(done.err) == []


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_what_a_person_writes_is_masked_in_every_answer(run: Run, store: Path, form: tuple[str, ...]) -> None:
    memory_id = run("list", "--json").forms[0]["id"]

    said = [
        run("add", "密码是 kR7-pass-04，以后叫我阿满", *form),
        run("correct", memory_id, "密码是 kR7-pass-04", *form),
        run("forget", memory_id, "--note", "密码是 kR7-pass-04", *form),
        run("log", *form),
    ]

    assert [done.status for done in said] == [0] * 4
    assert [told(done.out) + told(done.err) for done in said] == [[]] * 4
