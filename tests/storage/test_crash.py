"""What was acknowledged survives, and a failed append leaves nothing."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from contracts.event_store import LIN, ManualClock, append, everything, new_stream, run_of, task

from memstrata.adapters.storage import SqlEventStore, open_store
from memstrata.domain.errors import StoreUnavailableError

APPENDER = Path(__file__).with_name("appender.py")


def start(path: Path, count: int = 1_000_000, *limits: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", str(APPENDER), str(path), str(count), *map(str, limits)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def acknowledged(lines: list[str]) -> set[tuple[str, int]]:
    """The events in whole lines; a line cut short by the kill was not an answer yet."""
    whole = (line.split() for line in lines if line.endswith("\n"))
    return {(stream, int(version)) for stream, version in whole}


def killed_after(process: subprocess.Popen[str], answers: int) -> list[str]:
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout as stdout, process.stderr as stderr:
        lines = [stdout.readline() for _ in range(answers)]
        process.kill()
        # Not communicate(): it would lose what readline() has buffered.
        lines += stdout.readlines()
        assert stderr.read() == ""
    assert process.wait(60) == -signal.SIGKILL
    return lines


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a signal")
def test_twenty_killed_writers_lose_nothing_that_was_acknowledged(path: Path, clock: ManualClock) -> None:
    promised: set[tuple[str, int]] = set()

    for batch in range(5):
        # Four at once, so that the others are in the middle of their transactions when one dies.
        processes = [start(path) for _ in range(4)]
        for number, process in enumerate(processes):
            promised |= acknowledged(killed_after(process, 1 + 7 * batch + 5 * number))

    with open_store(str(path), clock=clock) as store:
        there = everything(store)
        assert promised <= set(there)
        assert len(promised) >= 20
        assert len(there) % 2 == 0  # appends of two events, whole or not at all
        report = store.verify()
        assert (report.ok, report.events) == (True, len(there))


@pytest.mark.skipif(os.name != "posix", reason="file size limits are posix")
def test_a_disk_that_takes_no_more_is_an_error_with_a_next_step(path: Path, clock: ManualClock) -> None:
    process = start(path, 10_000, 400_000)
    output, error = process.communicate(timeout=60)

    assert process.returncode == 1
    assert error.startswith("StoreUnavailableError: ")
    assert "free" in error
    with open_store(str(path), clock=clock) as store:
        there = everything(store)
        assert set(there) == acknowledged(output.splitlines(keepends=True))
        assert store.verify().ok


def test_a_full_disk_refuses_the_append_and_keeps_the_store(store: SqlEventStore) -> None:
    def allow(pages: int) -> None:
        with store.writing() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    stream = new_stream()
    store.append(append(LIN, 0, *run_of(stream, 1, task())))
    allow(1)  # SQLite takes the present size instead

    with pytest.raises(StoreUnavailableError, match="the disk is full; free some space"):
        store.append(append(LIN, 1, *run_of(stream, 2, task("x" * 200_000))))

    assert everything(store) == [(stream, 1)]
    allow(1_000_000)
    store.append(append(LIN, 1, *run_of(stream, 2, task("x" * 200_000))))
    assert (store.verify().ok, store.owner_position(LIN)) == (True, 2)


def test_a_writer_waits_for_another_process(store: SqlEventStore) -> None:
    with closing(sqlite3.connect(store.where, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.3, other.rollback)
        release.start()

        recorded = store.append(append(LIN, 0, *run_of(new_stream(), 1, task())))
        release.join()

    assert recorded[0].position == 1


def test_a_lock_that_is_never_released_is_named_as_the_cause(
    path: Path, raw: sqlite3.Connection, clock: ManualClock
) -> None:
    raw.execute("BEGIN IMMEDIATE")

    with (
        open_store(str(path), clock=clock, patience=0.2) as impatient,
        pytest.raises(StoreUnavailableError, match="another program holds the write lock"),
    ):
        impatient.append(append(LIN, 0, *run_of(new_stream(), 1, task())))


def test_readers_go_on_while_another_process_writes(store: SqlEventStore, raw: sqlite3.Connection) -> None:
    stream = new_stream()
    store.append(append(LIN, 0, *run_of(stream, 1, task())))
    raw.execute("BEGIN IMMEDIATE")

    assert everything(store) == [(stream, 1)]
