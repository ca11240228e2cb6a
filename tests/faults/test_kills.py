"""`kill -9` at every point at which a crash could leave something else, and at random ones.

What was acknowledged is there, nothing is half there, the log verifies, the projections are what a
rebuild makes of the events, and what was interrupted is simply given again. `MEMSTRATA_KILLS` sets the
number of the kills at random (default 60); those at points are as many as there are points.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from faults.telling import (
    OWNER,
    as_lines,
    batches_are_whole,
    holds,
    produced,
    said,
    story,
    view,
)

from memstrata import Memstrata, Selector
from memstrata.domain.errors import BatchStateError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 and fork are of posix")

NURSERY = Path(__file__).with_name("nursery.py")
RANDOM_KILLS = int(os.environ.get("MEMSTRATA_KILLS", "60"))
POINTS = {"ingest": 120, "rollback": 20, "undo": 20, "rebuild": 80}
"""How many points each run has at the least: fewer would mean that they are not seen any more."""
SERVICE_KILLS = 12

Kill = dict[str, Any]


class Nursery:
    """Runs the command line in processes that can be killed. See `nursery.py`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.kills = 0

    def run(self, *arguments: str, **kill: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"arguments": arguments, **kill}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["status"] in (0, -9), answer
        assert "Traceback" not in answer["err"], answer
        self.kills += answer["status"] == -9
        return answer


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    command = [sys.executable, "-W", "error", str(NURSERY)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Nursery(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


@dataclass(frozen=True)
class Reference:
    """What comes of the story when nobody disturbs it."""

    files: list[str]
    told: Path
    """The store after the whole story."""
    rolled_back: Path
    """The same after a rollback of one session."""
    batch: str
    produced: dict[str, list[Any]]
    view: list[Any]
    view_after: list[Any]


SESSION = "s5"
"""What is rolled back: a salary and a city, on which a later turn builds."""


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    folder = tmp_path_factory.mktemp("reference")
    turns, files = story(), []
    for start, end in ((0, 3), (3, 8)):  # each file is a transaction, and acknowledged by itself
        file = folder / f"turns-{start}.jsonl"
        file.write_text(as_lines(turns[start:end]), "utf-8")
        files.append(str(file))
    told, rolled_back = folder / "told.db", folder / "rolled-back.db"
    with Memstrata.open(str(told)) as memory:
        memory.ingest(OWNER, turns)
        wrote, before = produced(memory), view(memory)
    shutil.copy(told, rolled_back)
    with Memstrata.open(str(rolled_back)) as memory:
        report = memory.apply(
            OWNER,
            memory.plan_rollback(OWNER, Selector(session=SESSION)),
            actor="operator:mei",
            reason="wrong",
        )
        after = view(memory)
    assert report.batch_id
    assert before != after
    assert {len(events) > 2 for events in wrote.values()} == {True, False}
    return Reference(files, told, rolled_back, report.batch_id, wrote, before, after)


# --- what must hold after a kill -----------------------------------------------------------------


def after_ingest(path: Path, reference: Reference, answer: Any) -> None:
    acknowledged = [json.loads(line)["session"] for line in answer["out"].splitlines() if line.endswith("}")]
    with Memstrata.open(str(path)) as memory:
        there = said(memory)
        assert there[: len(acknowledged)] == acknowledged
        assert there == list(reference.produced)[: len(there)]
        assert produced(memory) == {session: reference.produced[session] for session in there}
        assert holds(memory)

        again = memory.ingest(OWNER, story()).turns

        assert [one.status for one in again] == ["known"] * len(there) + ["new"] * (len(again) - len(there))
        assert produced(memory) == reference.produced
        assert view(memory) == reference.view
        assert holds(memory)


def after_rollback(path: Path, reference: Reference, answer: Any) -> None:
    with Memstrata.open(str(path)) as memory:
        happened = view(memory) == reference.view_after
        assert happened or view(memory) == reference.view
        assert happened or not answer["out"]
        assert (batches_are_whole(memory), len(memory.batches(OWNER))) == (True, int(happened))
        assert holds(memory)

        plan = memory.plan_rollback(OWNER, Selector(session=SESSION))
        again = memory.apply(OWNER, plan, actor="operator:mei", reason="wrong")

        assert again.batch_id is not None
        assert (not plan.effects, not again.memories) == (happened, happened)
        assert view(memory) == reference.view_after
        # Two rollbacks may name the same events: they are in force again when both are undone.
        for batch in memory.batches(OWNER):
            memory.apply(OWNER, memory.plan_undo(OWNER, batch.batch_id), actor="operator:mei", reason="right")
        assert view(memory) == reference.view
        assert holds(memory)


def after_undo(path: Path, reference: Reference, answer: Any) -> None:
    with Memstrata.open(str(path)) as memory:
        happened = view(memory) == reference.view
        assert happened or view(memory) == reference.view_after
        assert happened or not answer["out"]
        assert (batches_are_whole(memory), len(memory.batches(OWNER))) == (True, 1 + happened)
        assert holds(memory)

        if happened:
            with pytest.raises(BatchStateError, match="undone already"):
                memory.plan_undo(OWNER, reference.batch)
        else:
            plan = memory.plan_undo(OWNER, reference.batch)
            memory.apply(OWNER, plan, actor="operator:mei", reason="right")

        assert view(memory) == reference.view
        assert (batches_are_whole(memory), len(memory.batches(OWNER))) == (True, 2)
        assert holds(memory)


DRIFTED = "an answer that no event gives"


def let_drift(path: Path) -> None:
    """Tell the tables of before from those of after."""
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE memory SET content = ?", (DRIFTED,))


def after_rebuild(path: Path, reference: Reference, answer: Any) -> None:
    with Memstrata.open(str(path)) as memory:
        contents = {content for _, content, _ in view(memory)}
        swapped = contents != {DRIFTED}
        assert view(memory) == reference.view if swapped else len(view(memory)) == len(reference.view)
        assert swapped or not answer["out"]
        assert produced(memory) == reference.produced
        assert all(report.ok for report in memory.verify())

        report = memory.rebuild()

        assert (report.same, report.swapped) == (swapped, True)
        assert view(memory) == reference.view
        assert holds(memory)
        memory.ingest(OWNER, story())
        assert produced(memory) == reference.produced
    with closing(sqlite3.connect(path)) as raw:
        assert left_over(raw) == left_over_in(reference.told)


def left_over_in(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as raw:
        return left_over(raw)


def left_over(raw: sqlite3.Connection) -> list[Any]:
    """Every table, by name: none of a rebuild that came to nothing."""
    return raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()


@dataclass(frozen=True)
class Phase:
    """What is killed, on which store, and what must hold then."""

    arguments: Callable[[Reference], list[str]]
    start: Callable[[Reference], Path | None]
    check: Callable[[Path, Reference, Any], None]
    spoil: Callable[[Path], None] = lambda path: None


PHASES = {
    "ingest": Phase(lambda r: ["ingest", *r.files], lambda r: None, after_ingest),
    "rollback": Phase(
        lambda r: ["rollback", "--session", SESSION, "--yes", "--reason", "wrong"],
        lambda r: r.told,
        after_rollback,
    ),
    "undo": Phase(lambda r: ["rollback", "--undo", r.batch, "--yes"], lambda r: r.rolled_back, after_undo),
    "rebuild": Phase(lambda r: ["rebuild"], lambda r: r.told, after_rebuild, let_drift),
}


class Scene:
    """One phase, played from its beginning as often as it is wanted."""

    def __init__(self, name: str, folder: Path, nursery: Nursery, reference: Reference) -> None:
        self.phase, self._folder, self._nursery, self._reference = PHASES[name], folder, nursery, reference
        self._number = 0

    def play(self, **kill: Any) -> Any:
        """Run once and look at what is left; the run's answer."""
        path = self.path()
        answer = self._nursery.run(*self.arguments(path), **kill)
        self.phase.check(path, self._reference, answer)
        path.unlink()
        return answer

    def path(self) -> Path:
        """A fresh store of the phase."""
        self._number += 1
        path, start = self._folder / f"{self._number}.db", self.phase.start(self._reference)
        if start is not None:
            shutil.copy(start, path)
            self.phase.spoil(path)
        return path

    def arguments(self, path: Path) -> list[str]:
        """The command."""
        return [*self.phase.arguments(self._reference), "--db", str(path), "--owner", OWNER, "--json"]

    def check(self, path: Path, answer: Any) -> None:
        """What must hold."""
        self.phase.check(path, self._reference, answer)


@pytest.fixture(params=list(PHASES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def scene(name: str, tmp_path: Path, nursery: Nursery, reference: Reference) -> Scene:
    return Scene(name, tmp_path, nursery, reference)


# --- the kills -----------------------------------------------------------------------------------


def test_enough_is_killed() -> None:
    assert sum(POINTS.values()) + RANDOM_KILLS * 3 // 4 + SERVICE_KILLS >= 200


@pytest.mark.parametrize("half", [0, 1], ids=["even", "odd"])
def test_a_kill_at_any_point_leaves_all_or_nothing(
    scene: Scene, name: str, nursery: Nursery, half: int
) -> None:
    points = scene.play()["points"]
    assert points >= POINTS[name]
    chosen = [at for at in range(1, points + 1) if at % 2 == half]
    before = nursery.kills

    for at in chosen:
        assert scene.play(at=at)["status"] == -9

    assert nursery.kills - before == len(chosen)
    print(f"{name}: {len(chosen)} of {points} points")


def test_a_kill_at_any_time_leaves_all_or_nothing(scene: Scene, name: str, nursery: Nursery) -> None:
    began = time.monotonic()
    scene.play()
    length = time.monotonic() - began
    dice, before, wanted = random.Random(), nursery.kills, RANDOM_KILLS // len(PHASES)

    for number in range(3 * wanted):
        if nursery.kills - before == wanted:
            break
        # Half of them in the middle of a statement, the others at whatever the process is about.
        if number % 2:
            scene.play(steps=dice.randrange(1, 60))
        else:
            scene.play(after=dice.uniform(0, length / 2))

    assert nursery.kills - before >= wanted * 3 // 4
    print(f"{name}: {nursery.kills - before} at random")


def test_a_process_of_its_own_is_no_other_than_a_fork(scene: Scene) -> None:
    path = scene.path()
    command = [sys.executable, "-W", "error", "-m", "memstrata", *scene.arguments(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(random.uniform(0.3, 1.2))
        process.kill()
        out, err = process.communicate()

    assert "Traceback" not in err
    if not path.exists():
        Memstrata.open(str(path)).close()
    scene.check(path, {"out": out, "err": err, "status": process.returncode})


def test_a_service_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, nursery: Nursery) -> None:
    path, owners, dice, acknowledged = tmp_path / "store.db", 4, random.Random(), set[tuple[str, str]]()

    for number in range(SERVICE_KILLS):
        answer = nursery.run(
            "serve",
            str(path),
            str(1_000 * number),
            str(owners),
            lines=dice.randrange(1, 30),
            after=dice.uniform(0, 0.05),
        )
        assert answer["status"] == -9
        whole = [line.split() for line in answer["out"].splitlines(keepends=True) if line.endswith("\n")]
        acknowledged |= {(owner, session) for owner, session, status in whole if status == "new"}

    with Memstrata.open(str(path)) as memory:
        there = {f"acme/{n}": produced(memory, f"acme/{n}") for n in range(owners)}
        assert acknowledged <= {(owner, session) for owner, turns in there.items() for session in turns}
        assert len(acknowledged) >= SERVICE_KILLS
        every = [[step[0] for step in events] for turns in there.values() for events in turns.values()]
        assert {tuple(topics) for topics in every} == {("turn.judged", "memory.proposed", "memory.created")}
        assert holds(memory)
