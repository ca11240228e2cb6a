"""Races of several processes on one file, and what must hold after them."""

from __future__ import annotations

import itertools
import json
import os
import re
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

TESTS = Path(__file__).resolve().parent.parent
HEAD_START = 0.03
"""Seconds in which every process gets ready to begin."""


class Peer:
    """Another process; see peer.py."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "concurrency.peer"],
            cwd=TESTS,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **asked: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the other process ended"
        return json.loads(line)

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
        self._serial: dict[tuple[int, ...], tuple[Any, ...]] = {}
        with self._acting(self._file) as actor:
            for deed in before:
                assert "FAULT" not in actor.do(deed)

    @contextmanager
    def _acting(self, path: Path) -> Iterator[Actor]:
        actor = Actor(str(path))
        try:
            yield actor
        finally:
            actor.memory.close()

    def known(self, what: Callable[[Memstrata], Any]) -> Any:
        """Something that is told by the store, such as an id."""
        with self._acting(self._file) as actor:
            return what(actor.memory)

    def copy(self) -> Path:
        """A store in which all that was done."""
        path = self._folder / f"{next(self._numbers)}.db"
        shutil.copyfile(self._file, path)
        return path

    def in_order(
        self, deeds: Sequence[Deed], order: Sequence[int]
    ) -> tuple[list[Any], list[Any], list[Outcome]]:
        """Log, view and outcomes when the deeds are done one after the other."""
        outcomes: list[Outcome] = [[] for _ in deeds]
        path = self.copy()
        with self._acting(path) as actor:
            for place in order:
                outcomes[place] = actor.do(deeds[place])
            log, view = told_log(actor.memory), told_view(actor.memory)
        path.unlink()
        return log, view, outcomes


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


def check_sound(path: Path, *owners: str) -> None:
    """Positions and streams without a gap, the chain whole, live rows equal to rebuilt ones."""
    with closing(sqlite3.connect(path)) as raw:
        positions = [pos for (pos,) in raw.execute("SELECT pos FROM event ORDER BY pos")]
        assert positions == list(range(1, len(positions) + 1))
        streams: dict[bytes, list[int]] = {}
        for stream_id, version in raw.execute("SELECT stream_id, stream_version FROM event ORDER BY pos"):
            streams.setdefault(stream_id, []).append(version)
        assert all(versions == list(range(1, len(versions) + 1)) for versions in streams.values())
    actor = Actor(str(path))
    try:
        assert sum(len(list(actor.memory.log(owner))) for owner in owners) == len(positions)
        assert [report.problem for report in actor.memory.verify()] == [None]
        assert actor.memory.rebuild(check=True).same
    finally:
        actor.memory.close()


class Race:
    """Deeds done at once by several processes, from one situation, again and again."""

    def __init__(self, situation: Situation, peers: Sequence[Peer], deeds: Sequence[Deed]) -> None:
        self._situation, self._peers, self._deeds = situation, peers, list(deeds)
        self._orders = list(itertools.permutations(range(len(deeds)))) if len(deeds) <= 4 else []

    def serial(self) -> list[tuple[list[Any], list[Any], list[Outcome]]]:
        """What each order of the deeds comes to."""
        return [self._situation.in_order(self._deeds, order) for order in self._orders]

    def run(self, rounds: int) -> set[int]:
        """Race so often; answers which of the serial results came up."""
        serial, met = self.serial(), set()
        for number in range(rounds):
            path, outcomes = self.once(number)
            with closing_actor(path) as actor:
                got = (told_log(actor.memory), told_view(actor.memory), outcomes)
            same = [place for place, one in enumerate(serial) if one == got]
            assert same, ("no order of the deeds comes to this", outcomes, [one[2] for one in serial])
            met.add(same[0])
        return met

    def once(self, number: int) -> tuple[Path, list[Outcome]]:
        """One race; the store afterwards, and the outcomes in the order of the deeds."""
        path, peers = self._situation.copy(), self._peers
        for peer in peers:
            peer.open(path)
        parts = [
            [place for place in range(len(self._deeds)) if (place + number) % len(peers) == which]
            for which in range(len(peers))
        ]
        answers = at_once(
            [(peer, {"act": [self._deeds[p] for p in part]}) for peer, part in zip(peers, parts, strict=True)]
        )
        outcomes: list[Outcome] = [[] for _ in self._deeds]
        for part, answer in zip(parts, answers, strict=True):
            for place, outcome in zip(part, answer, strict=True):
                outcomes[place] = outcome
        assert not any(outcome[0] == "FAULT" for outcome in outcomes), outcomes
        self._check(path, outcomes)
        return path, outcomes

    def _check(self, path: Path, outcomes: Sequence[Outcome]) -> None:
        check_sound(path, OWNER)
        views = [peer.told(look=OWNER) for peer in self._peers]
        with closing_actor(path) as actor:
            assert [actor.view()] * len(views) == views
            judged = Counter(
                entry.event.context.message_id
                for entry in actor.memory.log(OWNER)
                if isinstance(entry.event, Judged)
            )
        said = Counter(deed["text"] for deed in self._deeds if deed["do"] == "say")
        for asked in zip(*(peer.told(counts=True) for peer in self._peers), strict=True):
            together = sum((Counter(one) for one in asked), Counter[str]())
            assert all(together[text] <= times for text, times in said.items()), together
            assert set(together) <= set(said)
        for deed, outcome in zip(self._deeds, outcomes, strict=True):
            if deed["do"] == "say" and outcome[0] in ("new", "revised"):
                assert judged[deed.get("message", deed["text"])] >= 1, "an acknowledged turn is lost"


@contextmanager
def closing_actor(path: Path) -> Iterator[Actor]:
    actor = Actor(str(path))
    try:
        yield actor
    finally:
        actor.memory.close()
