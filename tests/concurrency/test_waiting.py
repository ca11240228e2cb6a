"""Who waits for the write lock, in which order, for how long, and what he is told."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memstrata import Memstrata, Turn
from memstrata.adapters.storage.failures import StoreBusyError
from memstrata.adapters.storage.sqlite import SqliteDatabase
from memstrata.adapters.storage.waiting_line import WaitingLine
from memstrata.domain.errors import StoreUnavailableError

from .acting import OWNER

with_lines = pytest.mark.skipif(sys.platform == "win32", reason="there is no line on Windows")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    database = SqliteDatabase(str(path), durability="fast")
    database.use_write_ahead_log()
    with database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE seen (who TEXT)")
    database.close()
    return path


@pytest.fixture
def one(path: Path) -> Iterator[SqliteDatabase]:
    """Stands for a process: what is tested lies in the file, not in this process's memory."""
    yield from opened(path)


@pytest.fixture
def other(path: Path) -> Iterator[SqliteDatabase]:
    yield from opened(path)


def opened(path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(str(path), durability="fast")
    write(database, "early")  # from its first transaction on it stands in the line
    yield database
    database.close()


def write(database: SqliteDatabase, who: str) -> None:
    with database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO seen VALUES (?)", (who,))


def seen(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as raw:
        return [who for (who,) in raw.execute("SELECT who FROM seen WHERE who != 'early' ORDER BY rowid")]


def wait_for_someone_in(line: WaitingLine) -> None:
    """Return when another one stands first in the line."""
    while True:
        try:
            line.step_in()
        except StoreBusyError:
            return
        line.step_out()
        time.sleep(0.001)


@with_lines
def test_who_has_just_written_comes_behind_him_who_waits(
    path: Path, one: SqliteDatabase, other: SqliteDatabase
) -> None:
    line = WaitingLine(str(path), "test")
    line.open()
    waiting = threading.Thread(target=write, args=(other, "other"))

    with one.writing() as connection:
        waiting.start()
        wait_for_someone_in(line)
        connection.exec_driver_sql("INSERT INTO seen VALUES ('one')")
    write(one, "one again")
    waiting.join()
    line.close()

    assert seen(path) == ["one", "other", "one again"]


@with_lines
def test_who_waits_in_vain_is_told_why(path: Path, one: SqliteDatabase) -> None:
    impatient = SqliteDatabase(str(path), durability="fast", patience=0.1)
    write(impatient, "early")
    line = WaitingLine(str(path), "test")
    line.open()
    line.step_in()

    with pytest.raises(StoreUnavailableError, match="another program holds the write lock; repeat"):
        write(impatient, "never")
    line.close()  # whoever is killed leaves the line like this
    write(impatient, "late")
    impatient.close()

    assert seen(path) == ["late"]


def test_a_store_without_a_write_ahead_log_waits_for_readers_at_the_commit(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute("BEGIN")
        raw.execute("SELECT * FROM seen").fetchall()
        database = SqliteDatabase(str(path), durability="fast")
        release = threading.Timer(0.2, raw.rollback)
        release.start()

        write(database, "one")

        release.join()
        database.close()
    assert seen(path) == ["one"]


@pytest.mark.parametrize("table", ["event", "memory", "recent_turn", "head"])
def test_a_foreign_trigger_is_named_and_nothing_is_written(tmp_path: Path, table: str) -> None:
    path = tmp_path / "store.db"
    with Memstrata.open(str(path)) as memory:
        verb = "UPDATE" if table == "head" else "INSERT"
        with closing(sqlite3.connect(path)) as raw:
            raw.execute(f"CREATE TRIGGER t BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END")

        with pytest.raises(StoreUnavailableError, match="a trigger in the database forbids this change"):
            memory.ingest(OWNER, [Turn(user="我住在成都", session="s1")])

        assert list(memory.log(OWNER)) == []
        with closing(sqlite3.connect(path)) as raw:
            raw.execute("DROP TRIGGER t")
        memory.ingest(OWNER, [Turn(user="我住在成都", session="s1")])
        assert [one.content for one in memory.memories(OWNER)] == ["用户住在成都"]


@pytest.mark.parametrize("grouped", [False, True])
def test_a_constraint_that_somebody_added_is_no_conflict(tmp_path: Path, *, grouped: bool) -> None:
    path = tmp_path / "store.db"
    with Memstrata.open(str(path), group_commit=grouped) as memory:
        with closing(sqlite3.connect(path)) as raw:
            raw.execute("CREATE UNIQUE INDEX one_owner ON event (owner_ref)")

        with pytest.raises(StoreUnavailableError, match="the database refuses a statement"):
            memory.ingest(OWNER, [Turn(user="我住在成都", session="s1")])

        assert list(memory.log(OWNER)) == []
