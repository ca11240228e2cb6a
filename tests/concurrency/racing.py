"""Races of several processes on one file, and what must hold after them."""

from __future__ import annotations

import itertools
import json
import os
import re
import select
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from memstrata import Memstrata
from memstrata.domain.events import Judged

from .acting import OWNER, Actor, Deed, Outcome

Result = tuple[list[Any], list[Any], list[Outcome]]
"""The log, the views, and the outcomes in the order of the deeds."""

TESTS = Path(__file__).resolve().parent.parent
HEAD_START = 0.03
"""Seconds in which every process gets ready to begin."""


class Peer:
    """Another process; see peer.py."""

    def __init__(self) -> None:
        self._owes = 0
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "concurrency.peer"],
            cwd=TESTS,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **asked: Any) -> None:
        self._owes += 1
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout is not None
        self._owes -= 1
        line = self._process.stdout.readline()
        assert line, "the other process ended"
        return json.loads(line)

    def finish(self) -> None:
        """Take the answers that a test which failed did not wait for."""
        while self._owes:
            self.answer()

    def has_answered(self) -> bool:
        """Whether `answer` would not wait."""
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def told(self, **asked: Any) -> Any:
        self.ask(**asked)
        return self.answer()

    def open(self, path: Path, *, group_commit: bool = False, durability: str = "fast") -> None:
        assert self.told(open=str(path), group_commit=group_commit, durability=durability) == "open"

    def end(self) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        assert process.wait(30) == 0


def at_once(asked: Sequence[tuple[Peer, dict[str, Any]]]) -> list[Any]:
    """Let several processes begin at one moment; their answers."""
    start = time.monotonic() + HEAD_START
    for peer, what in asked:
        peer.ask(**what, start=start)
    return [peer.answer() for peer, _ in asked]


class Situation:
    """What was done before a race, kept as a file from which each race begins.

    Args:
        folder: Where files may be put.
        before: What was done, in order.
    """

    def __init__(self, folder: Path, before: Sequence[Deed] = ()) -> None:
        self._folder, self._numbers = folder, itertools.count()
        self._file = folder / "before.db"
        with acting(self._file) as actor:
            for deed in before:
                assert "FAULT" not in actor.do(deed)

    def known(self, what: Callable[[Memstrata], Any]) -> Any:
        """Something that is told by the store, such as an id."""
        with acting(self._file) as actor:
            return what(actor.memory)

    def copy(self) -> Path:
        """A store in which all that was done."""
        path = self._folder / f"{next(self._numbers)}.db"
        shutil.copyfile(self._file, path)
        return path

    def in_order(self, deeds: Sequence[Deed], order: Sequence[int]) -> Result:
        """What the deeds come to when they are done one after the other."""
        outcomes: list[Outcome] = [[] for _ in deeds]
        path = self.copy()
        with acting(path) as actor:
            for place in order:
                outcomes[place] = actor.do(deeds[place])
            result = told_log(actor.memory), told_view(actor.memory), outcomes
        path.unlink()
        return result


def told_log(memory: Memstrata, owner: str = OWNER) -> list[Any]:
    """Every event of the owner; ids are named by the order in which they come up."""
    told = [
        [entry.stream_id, entry.stream_version, entry.event.TOPIC, entry.event.model_dump(mode="json")]
        for entry in memory.log(owner)
    ]
    return _renamed(told)


def told_view(memory: Memstrata, owner: str = OWNER) -> list[Any]:
    """What each memory of the owner is now, in no order and without ids and positions."""
    rows = [
        one.memory
        for status in STATUSES
        for one in memory.by_status(owner, status)  # type: ignore[arg-type]
    ]
    return sorted(
        [
            *(row.status, row.content, row.versions, row.confirmations, row.hints, row.occasions),
            *(row.pinned, row.closing, str(row.closed_at), row.closing_reason),
            [
                [v.number, v.in_force, v.kind, v.statement and v.statement.content]
                for v in memory.history(owner, row.memory_id)
            ],
            [[str(p.valid_from), str(p.valid_to)] for p in memory.periods(owner, row.memory_id)],
        ]
        for row in rows
    )


STATUSES = ("active", "held", "ended", "retracted", "superseded", "rejected", "withdrawn")


def _renamed(told: Any) -> Any:
    names: dict[str, str] = {}
    text = json.dumps(told, ensure_ascii=False, sort_keys=True)
    return json.loads(_ID.sub(lambda found: names.setdefault(found[0], f"id{len(names)}"), text))


_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")


def check_sound(actor: Actor, path: Path, *owners: str) -> None:
    """Positions and streams without a gap, the chain whole, live rows equal to rebuilt ones."""
    with closing(sqlite3.connect(path)) as raw:
        events = raw.execute("SELECT pos, stream_id, stream_version FROM event ORDER BY pos").fetchall()
    assert [position for position, _, _ in events] == list(range(1, len(events) + 1))
    streams: dict[bytes, list[int]] = {}
    for _, stream_id, version in events:
        streams.setdefault(stream_id, []).append(version)
    assert all(versions == list(range(1, len(versions) + 1)) for versions in streams.values())
    assert sum(len(list(actor.memory.log(owner))) for owner in owners) == len(events)
    assert [report.problem for report in actor.memory.verify()] == [None]
    assert actor.memory.rebuild(check=True).same


class Race:
    """Deeds done at once by several processes, from one situation, again and again."""

    def __init__(self, situation: Situation, peers: Sequence[Peer], deeds: Sequence[Deed]) -> None:
        self._situation, self._peers, self._deeds = situation, peers, list(deeds)
        self._orders = itertools.permutations(range(len(deeds)))
        self._serial: list[Result] = []

    def run(self, rounds: int) -> None:
        """Race so often; each time it must come to what some order of the deeds comes to."""
        for number in range(rounds):
            result = self._once(number)
            assert self._some_order_gives(result), (
                "no order of the deeds comes to this",
                result[2],
                [serial[2] for serial in self._serial],
            )

    def _some_order_gives(self, result: Result) -> bool:
        if result in self._serial:
            return True
        for order in self._orders:  # each is tried once in all rounds
            self._serial.append(self._situation.in_order(self._deeds, order))
            if self._serial[-1] == result:
                return True
        return False

    def _once(self, number: int) -> Result:
        path, peers, deeds = self._situation.copy(), self._peers, self._deeds
        for peer in peers:
            peer.open(path)
        # The deeds change processes from round to round.
        parts = [
            [place for place in range(len(deeds)) if (place + number) % len(peers) == which]
            for which in range(len(peers))
        ]
        answers = at_once(
            [
                (peer, {"act": [deeds[place] for place in part]})
                for peer, part in zip(peers, parts, strict=True)
            ]
        )
        outcomes: list[Outcome] = [[] for _ in deeds]
        for part, answer in zip(parts, answers, strict=True):
            for place, outcome in zip(part, answer, strict=True):
                outcomes[place] = outcome
        assert not any(outcome[0] == "FAULT" for outcome in outcomes), outcomes
        self._check_counts()
        with acting(path) as actor:
            check_sound(actor, path, OWNER)
            assert [peer.told(look=OWNER) for peer in peers] == [actor.view()] * len(peers)
            self._check_acknowledged(actor, outcomes)
            return told_log(actor.memory), told_view(actor.memory), outcomes

    def _check_counts(self) -> None:
        """No turn was judged anew, whoever lost."""
        said = Counter(deed["text"] for deed in self._deeds if deed["do"] == "say")
        for asked in zip(*(peer.told(counts=True) for peer in self._peers), strict=True):
            together = sum((Counter(one) for one in asked), Counter[str]())
            assert set(together) <= set(said)
            assert all(together[text] <= times for text, times in said.items()), together

    def _check_acknowledged(self, actor: Actor, outcomes: Sequence[Outcome]) -> None:
        events = [entry.event for entry in actor.memory.log(OWNER)]
        judged = {event.context.message_id for event in events if isinstance(event, Judged)}
        for deed, outcome in zip(self._deeds, outcomes, strict=True):
            if deed["do"] == "say" and outcome[0] in ("new", "revised", "known"):
                assert deed.get("message", deed["text"]) in judged, "an acknowledged turn is lost"


@contextmanager
def acting(path: Path, **options: Any) -> Iterator[Actor]:
    """One opening of the store in this process."""
    actor = Actor(str(path), **options)
    try:
        yield actor
    finally:
        actor.memory.close()
