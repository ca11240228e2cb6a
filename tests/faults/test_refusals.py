"""A disk that is full, files that may not be written, a lock that is held: refused clearly, nothing lost."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from faults.telling import OWNER, as_lines, holds, produced, said, story, turn
from permissions import as_somebody_whom_permissions_bind, open_folder

from memstrata import Memstrata, Selector
from memstrata.adapters.console.failures import status_of
from memstrata.adapters.storage import open_store
from memstrata.bootstrap import SystemClock
from memstrata.cli import cli
from memstrata.domain.errors import StoreUnavailableError

LIMITED = Path(__file__).with_name("limited.py")
posix = pytest.mark.skipif(os.name != "posix", reason="limits and permissions of other systems differ")


def pages(memory: Memstrata, count: int) -> None:
    """Let the file have so many pages; SQLite takes the present number where that is more."""
    with memory.store.writing() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {count}")


def long_turns(count: int) -> list[object]:
    turns = [turn(number) for number in range(count)]
    return [one.model_copy(update={"user": one.user + "。" + "今天很忙。" * 2_000}) for one in turns]


# --- no room -------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("limit", [200_000, 300_000, 500_000])
def test_a_disk_that_fills_up_ends_an_ingest_with_a_next_step(tmp_path: Path, limit: int) -> None:
    path, files = tmp_path / "store.db", []
    for number in range(0, 60, 3):
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text(as_lines([turn(number + more) for more in range(3)]), "utf-8")
    named = ["--db", str(path), "--owner", OWNER, "--json"]

    command = [sys.executable, "-W", "error", str(LIMITED), str(limit), "ingest", *map(str, files), *named]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 1
    error = json.loads(done.stderr.splitlines()[-1])
    assert error["error"] == "StoreUnavailableError"
    assert "free space" in error["message"]
    acknowledged = [json.loads(line)["session"] for line in done.stdout.splitlines()]
    with Memstrata.open(str(path)) as memory:  # there is room again
        assert said(memory) == acknowledged
        assert holds(memory)
        again = memory.ingest(OWNER, [turn(number) for number in range(60)]).turns
        assert [one.status for one in again].count("known") == len(acknowledged)
        assert holds(memory)


def test_a_full_disk_interrupts_a_rollback_an_undo_and_a_rebuild_whole(tmp_path: Path) -> None:
    with Memstrata.open(str(tmp_path / "store.db")) as memory:
        memory.ingest(OWNER, [*story(), *(turn(number) for number in range(10, 120))])
        before = produced(memory)
        plan = memory.plan_rollback(OWNER, Selector(actor="user"))

        pages(memory, 1)
        with pytest.raises(StoreUnavailableError, match="the disk is full; free some space"):
            memory.apply(OWNER, plan, actor="operator:mei", reason="wrong")
        with pytest.raises(StoreUnavailableError, match="the disk is full; free some space"):
            memory.rebuild()
        assert produced(memory) == before

        pages(memory, 1_000_000)
        report = memory.apply(OWNER, plan, actor="operator:mei", reason="wrong")
        assert report.batch_id
        undo = memory.plan_undo(OWNER, report.batch_id)
        after = memory.memories(OWNER)

        pages(memory, 1)
        with pytest.raises(StoreUnavailableError, match="the disk is full; free some space"):
            memory.apply(OWNER, undo, actor="operator:mei", reason="right")
        assert memory.memories(OWNER) == after

        pages(memory, 1_000_000)
        memory.apply(OWNER, undo, actor="operator:mei", reason="right")
        assert memory.rebuild().same
        assert holds(memory)


@pytest.mark.parametrize("group_commit", [False, True], ids=["alone", "grouped"])
def test_callers_of_a_full_disk_are_all_refused_and_may_all_come_again(
    tmp_path: Path, group_commit: bool
) -> None:
    statuses: dict[int, str] = {}

    def say(number: int) -> None:
        try:
            statuses[number] = memory.ingest(f"acme/{number}", long_turns(1)).turns[0].status  # type: ignore[arg-type]
        except StoreUnavailableError as error:
            statuses[number] = error.problem

    def all_say() -> set[str]:
        threads = [threading.Thread(target=say, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return set(statuses.values())

    with Memstrata.open(str(tmp_path / "store.db"), group_commit=group_commit) as memory:
        pages(memory, 1)

        assert all_say() == {"the disk is full"}
        pages(memory, 1_000_000)
        assert all_say() == {"new"}
        assert holds(memory)


# --- no permission -------------------------------------------------------------------------------


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a store that was told of one turn, in reach of everybody."""
    with open_folder() as folder:
        with Memstrata.open(str(folder / "store.db")) as memory:
            memory.ingest(OWNER, [turn(1)])
        for file in folder.iterdir():
            file.chmod(0o666)
        yield folder


def refused_to_nobody(path: Path) -> tuple[int, str]:
    """The status, and what somebody whom permissions bind is to do."""
    with (
        as_somebody_whom_permissions_bind(),
        pytest.raises(StoreUnavailableError) as caught,
        Memstrata.open(str(path)) as memory,
    ):
        memory.ingest(OWNER, [turn(2)])
    return status_of(caught.value), caught.value.next_step


@posix
@pytest.mark.parametrize(("of_folder", "of_file"), [(0o555, 0o666), (0o777, 0o444), (0o555, 0o444)])
def test_what_may_only_be_read_is_not_written(folder: Path, of_folder: int, of_file: int) -> None:
    path = folder / "store.db"
    path.chmod(of_file)
    folder.chmod(of_folder)

    status, next_step = refused_to_nobody(path)

    assert status == 1
    assert "writable" in next_step
    folder.chmod(0o777)
    path.chmod(0o666)
    with Memstrata.open(str(path)) as memory:
        assert said(memory) == ["s1"]
        assert memory.ingest(OWNER, [turn(2)]).turns[0].status == "new"
        assert holds(memory)


@posix
@pytest.mark.parametrize("ending", ["-wal", "-shm"])
def test_a_log_that_may_only_be_read_is_named(folder: Path, tmp_path: Path, ending: str) -> None:
    endings = ("", "-wal", "-shm")
    with Memstrata.open(str(tmp_path / "store.db")) as memory:
        memory.ingest(OWNER, [turn(1), turn(3)])
        files = {each: (tmp_path / f"store.db{each}").read_bytes() for each in endings}
    for each, content in files.items():  # as a program that was killed leaves them
        left = folder / f"store.db{each}"
        left.write_bytes(content)
        left.chmod(0o444 if each == ending else 0o666)

    status, next_step = refused_to_nobody(folder / "store.db")

    assert status == 1
    assert "writable" in next_step
    (folder / f"store.db{ending}").chmod(0o666)
    with Memstrata.open(str(folder / "store.db")) as memory:
        assert said(memory) == ["s1", "s3"]
        assert holds(memory)


@posix
def test_the_command_line_names_what_it_may_not_write(folder: Path) -> None:
    path = folder / "store.db"
    path.chmod(0o444)
    folder.chmod(0o555)
    turns = folder.parent / f"{folder.name}.jsonl"
    turns.write_text(as_lines([turn(2)]), "utf-8")
    try:
        with as_somebody_whom_permissions_bind():
            for command in (
                ["ingest", str(turns)],
                ["list"],
                ["rebuild"],
                ["rollback", "--session", "s1", "--yes"],
            ):
                done = CliRunner().invoke(cli, [*command, "--db", str(path), "--owner", OWNER])
                assert isinstance(done.exception, SystemExit), done.exception
                assert done.exit_code == 1
                assert "writable" in done.stderr
    finally:
        turns.unlink()


# --- a lock --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_foreign_lock_is_named_and_harms_nothing(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "store.db"
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [turn(1)])
        with closing(sqlite3.connect(path, isolation_level=None)) as foreign:
            foreign.execute(f"BEGIN {mode}")
            with (
                open_store(str(path), clock=SystemClock(), patience=0.1) as impatient,
                pytest.raises(
                    StoreUnavailableError, match="holds the write lock; repeat when it is done"
                ) as caught,
                impatient.writing(),
            ):
                pytest.fail("the transaction began")
            assert status_of(caught.value) == 1
            assert said(memory) == ["s1"]  # readers go on
            foreign.execute("ROLLBACK")

        assert memory.ingest(OWNER, [turn(2)]).turns[0].status == "new"
        assert holds(memory)


def test_every_connection_waits_for_the_disk(tmp_path: Path) -> None:
    full = 2
    with Memstrata.open(str(tmp_path / "store.db")) as memory:
        for transaction in (memory.store.writing, memory.store.reading):
            with transaction() as connection:
                assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == full
                assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_what_lies_on_the_disk_at_an_acknowledgement_holds_what_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Memstrata.open(str(path)) as memory:
        for number in range(1, 6):
            memory.ingest(OWNER, [turn(number)])
            # The index of the log is memory of the programs that run: a power cut does not keep it.
            left = tmp_path / f"left-{number}.db"
            for ending in ("", "-wal"):
                Path(f"{left}{ending}").write_bytes(Path(f"{path}{ending}").read_bytes())

            with Memstrata.open(str(left)) as survivor:
                assert said(survivor) == [f"s{one}" for one in range(1, number + 1)]
                assert holds(survivor)
