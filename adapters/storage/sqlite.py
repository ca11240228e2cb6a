"""SQLite: one pinned writer connection, readers beside it, and what only SQLite needs.

The write-ahead log lets readers go on while one writer writes. `BEGIN IMMEDIATE` takes the write
lock before anything is read, so that a decision is never made on a state that another process is
about to change. Figures behind the pragmas: docs/performance.md.
"""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Dialect, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, QueuePool

from .driver import Driver, driver_of
from .failures import StoreBusyError, damaged_error, is_busy, translating
from .open_files import OpenFiles
from .waiting_line import WaitingLine

Durability = Literal["full", "fast"]
"""`full`: an acknowledged append survives a power cut. `fast`: it survives a crash of the program."""

T = TypeVar("T")

_BUSY_TIMEOUT = 5.0
"""Seconds that SQLite itself waits for a lock, where we do not ask again ourselves."""
_FIRST_PAUSE, _LONGEST_PAUSE, _LATE = 0.0005, 0.025, 1 / 8
"""Seconds between two askings, and how much longer than needed a wait may take: so much of itself."""
_IMMEDIATE = "BEGIN IMMEDIATE"
_SYNCHRONOUS = {"full": "FULL", "fast": "NORMAL"}

APPEND_ONLY = tuple(
    f"CREATE TRIGGER event_no_{verb.lower()} BEFORE {verb} ON event "
    "BEGIN SELECT RAISE(ABORT, 'events are append-only'); END"
    for verb in ("UPDATE", "DELETE")
)
"""What forbids a change of the past to everyone who does not drop these triggers first."""


class SqliteDatabase:
    """Connections to one SQLite file, or to a store in memory (`path` None).

    Args:
        path: The file; it is created when it is missing, its folder is not.
        durability: See `Durability`.
        read_only: Refuse every write.
        patience: Seconds to wait for another process's write lock.
    """

    def __init__(
        self, path: str | None, *, durability: Durability, read_only: bool = False, patience: float = 60.0
    ) -> None:
        self.where = path or "memory"
        self._path, self._read_only = path, read_only
        self._durability, self._patience = durability, patience
        self._lock = threading.RLock()
        self._depth = 0  # of transactions within each other, all of the thread that holds the lock
        self._thread: int | None = None
        self._immediate, self._deferred = _Writing(self, _IMMEDIATE), _Writing(self, "BEGIN")
        self._files = OpenFiles(path, self.where)
        self._writing_engine = self._engine(self._connect, NullPool)
        self._readers = None if path is None else self._engine(self._connect_again, QueuePool)
        if self._readers is not None:
            event.listen(self._readers, "begin", lambda connection: driver_of(connection).command("BEGIN"))
        with translating(self.where):
            self._writer = self._writing_engine.connect()
        # SQLAlchemy is told of one transaction that never ends: its own bookkeeping for one of a single
        # event costs more than the event. What it believes is without effect, since the driver begins
        # and ends nothing by itself; `_Writing` does.
        self._writer.begin()
        self._driver = Driver(self._writer)
        self._line = WaitingLine(path, self.where)
        self._view = threading.local()
        self._files.hold()
        if path is not None:  # SQLite's own pauses grow to 100 ms, much longer than most transactions
            with translating(self.where):
                self._driver.command("PRAGMA busy_timeout = 0")

    @property
    def dialect(self) -> Dialect:
        """For rendering statements once."""
        return self._writing_engine.dialect

    @property
    def read_only(self) -> bool:
        """Whether writes are refused by the connection itself."""
        return self._read_only

    def _connect_again(self) -> sqlite3.Connection:
        # A file that was removed meanwhile must not come back as an empty one.
        return self._connect("rw")

    def _connect(self, mode: str = "rwc") -> sqlite3.Connection:
        target = ":memory:"
        if self._path is not None:
            target = f"file:{quote(self._path)}?mode={'ro' if self._read_only else mode}"
        connection = sqlite3.connect(
            target,
            uri=self._path is not None,
            timeout=min(_BUSY_TIMEOUT, self._patience),
            isolation_level=None,  # the driver begins nothing by itself
            check_same_thread=False,  # the writer is guarded by our lock, readers by the pool
        )
        try:
            connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[self._durability]}")
            # Measured together at 1,000 events a transaction: 2.6 times the default's throughput.
            connection.execute("PRAGMA wal_autocheckpoint = 16000")
            connection.execute("PRAGMA cache_size = -65536")
        except UnicodeDecodeError as error:
            connection.close()  # SQLite quotes damaged text of the schema in its message
            raise damaged_error(self.where) from error
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @staticmethod
    def _engine(connect: Callable[[], sqlite3.Connection], pool: type[Any]) -> Engine:
        options = {"max_overflow": -1} if pool is QueuePool else {}
        # Parameters are content: they must not come out in the text of an error.
        return create_engine(
            "sqlite+pysqlite://", creator=connect, poolclass=pool, hide_parameters=True, **options
        )

    def use_write_ahead_log(self) -> None:
        """Switch the file to the write-ahead log; it stays so. No transaction may be open."""
        if self._path is None or self._read_only:
            return

        with self._lock, translating(self.where):
            self.patiently(lambda: self._driver.command("PRAGMA journal_mode = WAL"))

    def writing(self, *, deferred: bool = False) -> AbstractContextManager[Connection]:
        """A transaction that may write; inside another one of this thread it is part of that one.

        `deferred` takes the write lock at the first write only: for work that is usually none.

        Raises:
            StoreUnavailableError: the database cannot be written, stayed locked for too long, or its file
                was removed or replaced. Only in the last case something may have been written, into a
                file that nobody will find.
        """
        return self._deferred if deferred else self._immediate

    @property
    def is_mine(self) -> bool:
        """Whether this thread is in a write transaction."""
        return self._thread == threading.get_ident()

    def enter(self, begin: str) -> Connection:
        """Begin a transaction, or enter the one that this thread is in."""
        self._lock.acquire()
        try:
            if self._depth == 0:
                self._begin(begin)
                self._thread = threading.get_ident()
            self._depth += 1
        except BaseException:
            try:
                if self._depth == 0:
                    # What was interrupted may have begun all the same; open, it would refuse every writer.
                    self._undo()
            finally:
                self._lock.release()
            raise
        return self._writer

    def leave(self, error: BaseException | None) -> None:
        """End what `enter` began: the outermost transaction commits, or is undone after an error."""
        try:
            self._depth -= 1
            if self._depth == 0:
                self._thread = None
                if error is None:
                    self._commit()
                else:
                    self._give_up(error)
        finally:
            self._lock.release()

    def _begin(self, begin: str) -> None:
        self._files.check_first()
        if begin == _IMMEDIATE:
            self._take_write_lock()
            self._files.hold_journal()
            self._line.open()
        else:
            with translating(self.where):
                self._driver.command(begin)

    def _take_write_lock(self) -> None:
        """Begin a transaction that nobody of another process who asks later begins before."""
        try:
            try:
                self._line.step_in()
                self._driver.command(_IMMEDIATE)
            except (DBAPIError, StoreBusyError):
                deadline = self._deadline
                _patiently(self._line.step_in, deadline)
                with translating(self.where):
                    _patiently(lambda: self._driver.command(_IMMEDIATE), deadline)
        finally:
            self._line.step_out()

    def _commit(self) -> None:
        try:
            try:
                self._driver.command("COMMIT")
            except DBAPIError as error:
                if not is_busy(error):
                    raise
                # Others are reading, and the file is not in the mode of the write-ahead log.
                self.patiently(lambda: self._driver.command("COMMIT"))
        except BaseException as error:
            self._give_up(error)
            raise
        self._files.check()  # a commit into a file that is gone is none

    def _give_up(self, error: BaseException) -> None:
        """Undo the transaction; raise only if the error has a better name."""
        with translating(self.where):
            self._undo()
            if isinstance(error, DBAPIError):
                raise error

    def _undo(self) -> None:
        transaction = self._writer.get_transaction()
        if transaction is not None:
            transaction.rollback()  # through SQLAlchemy, which tells those who listen
        self._writer.begin()

    @contextmanager
    def one_view(self) -> Iterator[Connection]:
        """A consistent view, which is also that of all this thread's reading within."""
        with self.reading() as connection:
            former = getattr(self._view, "connection", None)
            self._view.connection = connection
            try:
                yield connection
            finally:
                self._view.connection = former

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent view that nobody's writes change. In memory it waits for a writer."""
        if self._readers is not None and (shared := getattr(self._view, "connection", None)) is not None:
            yield shared
            return
        if self._readers is None:
            with self.writing(deferred=True) as connection:
                yield connection
            return
        self._files.check()
        with translating(self.where), self._readers.connect() as connection:
            connection.begin()
            # It ends by closing, which undoes nothing here: after damage was read, a commit fails too.
            yield connection

    def patiently(self, action: Callable[[], T]) -> T:
        """Repeat while another process holds the lock, at most for `patience` seconds."""
        return _patiently(action, self._deadline)

    @property
    def _deadline(self) -> float:
        return time.monotonic() + self._patience

    def close(self) -> None:
        """Close every connection. A store in memory is gone with it."""
        with self._lock:
            if not self._writer.closed:
                self._driver.close()
                self._writer.close()
            self._line.close()
            self._writing_engine.dispose()
            if self._readers is not None:
                self._readers.dispose()


def _patiently(action: Callable[[], T], deadline: float) -> T:
    began: float | None = None
    while True:
        try:
            return action()
        except (DBAPIError, StoreBusyError) as error:
            busy, now = isinstance(error, StoreBusyError) or is_busy(error), time.monotonic()
            if not busy or now >= deadline:
                raise
            began = began or now
            pause = min(max(_FIRST_PAUSE, (now - began) * _LATE), _LONGEST_PAUSE)
            # At random, or two who wait would go on asking at the same moments.
            time.sleep(min(pause * random.uniform(0.5, 1.5), deadline - now))


class _Writing:
    """The context of a write transaction; it has no state of its own, so one serves all."""

    def __init__(self, database: SqliteDatabase, begin: str) -> None:
        self._database, self._begin = database, begin

    def __enter__(self) -> Connection:
        return self._database.enter(self._begin)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.leave(error)
