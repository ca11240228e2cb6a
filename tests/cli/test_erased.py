"""Of an erased memory no command says what it said."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import OWNER, Run

from memstrata import Memstrata
from memstrata.domain.events import Erased
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent

WORDS = ("薪资", "salary", "15-20k", "15000", "25k", "25000")


@pytest.fixture
def erased(salary: str, story: Path) -> str:
    """The id of the salary's memory, in whose place a tombstone stands."""
    with Memstrata.open(str(story)) as memory:
        version = memory.folded(OWNER, salary).stream_version + 1
        header = {"actor": "operator:mei", "correlation_id": "c1", "policy": "p1"}
        tombstone = Erased(**header, said_at=datetime.now(UTC), reason="asked for")
        memory.store.append(Append(memory._owner(OWNER), [NewEvent(salary, version, tombstone)], None))
    return salary


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(
    "command",
    [
        ("list", "--status", "all"), ("list", "--as-of", "2026-11-01"), ("list", "--valid-at", "2026-11-01"),
        ("show", "ID"), ("show", "ID", "--as-of", "2026-11-01"), ("show", "ID", "--valid-at", "2026-10-15"),
        ("history", "ID"), ("history", "ID", "--as-of", "2026-11-01"), ("diff", "ID", "1", "2"),
        ("why", "ID"), ("why", "ID", "--version", "1"), ("log", "--memory", "ID"),
        ("decisions", "--memory", "ID"), ("held",),
        ("search", "期望薪资"), ("context", "期望薪资是多少"), ("rollback", "ID", "--to", "1"),
        ("rollback", "--session", "s3"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_command_says_what_it_said(
    command: tuple[str, ...], form: tuple[str, ...], erased: str, run: Run
) -> None:
    done = run(*(erased if word == "ID" else word for word in command), *form)

    assert done.status == 0, done.err
    assert [word for word in WORDS if word in done.out + done.err] == []


def test_others_are_shown_as_before_and_the_log_keeps_every_event(erased: str, run: Run) -> None:
    events = run("log", "--json").forms

    assert [event["position"] for event in events] == list(range(1, len(events) + 1))
    hidden = [event for event in events if event["payload"] is None]
    assert {event["stream_id"] for event in hidden} == {erased}
    assert [event["type"] for event in events if event["stream_id"] == erased and event["payload"]] == [
        "Erased"
    ]
    assert "杭州" in json.dumps(events, ensure_ascii=False)
    assert "杭州" in run("list").out
