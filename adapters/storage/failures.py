"""Driver errors in, our errors out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from ...domain.errors import StoreUnavailableError

_MOVED = (
    "the file, or its write-ahead log, was removed or replaced while it was open",
    "put it back or open the store anew, and repeat what was not acknowledged",
)
_TAKEN = ("another program holds the write lock", "repeat when it is done")
_REFUSED = (
    "the database refuses a statement, as if a table were not as it was made",
    "`memstrata doctor` says whether the file is damaged; if it is not, report a fault of Memstrata",
)
_DAMAGED = ("the database file is damaged", "`memstrata doctor` says where; restore it from a backup")

# Longest prefix first: SQLite's extended codes refine the primary ones by appending to their names.
_SQLITE = {
    "SQLITE_READONLY_DBMOVED": _MOVED,
    "SQLITE_NOTADB": (
        "the file is not a database, or its beginning is damaged",
        "name another file with --db, or restore it from a backup",
    ),
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_READONLY": (
        "the file, its folder or its -wal and -shm files are read-only",
        "make them writable or name another file",
    ),
    "SQLITE_CANTOPEN": (
        "the file cannot be opened",
        "check that its folder exists and is writable and that the name is not a folder's",
    ),
    "SQLITE_PERM": ("access is denied", "check the permissions of the file and its folder"),
    "SQLITE_FULL": ("the disk is full", "free some space and repeat; nothing was written"),
    "SQLITE_IOERR": ("reading or writing the file failed", "check the disk and its free space, then repeat"),
    "SQLITE_ERROR": _REFUSED,
    "SQLITE_CONSTRAINT_TRIGGER": (
        "a trigger in the database forbids this change",
        "if it was added to the store, drop it; then repeat, since nothing was written",
    ),
    "SQLITE_BUSY": _TAKEN,
    "SQLITE_LOCKED": _TAKEN,
}


WRONG_KIND = (AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""What values raise that a column does not hold by any doing of this program."""

_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")


class StoreBusyError(StoreUnavailableError):
    """Another program holds the lock: worth another try."""


def sqlite_code(error: DBAPIError) -> str:
    """SQLite's name of the error, "" when it has none."""
    return code_of(error.orig)


def code_of(error: BaseException | None) -> str:
    """The same for an error as the driver raised it."""
    named = getattr(error, "sqlite_errorname", None)
    if named is None and isinstance(error, sqlite3.OperationalError):
        return "SQLITE_CORRUPT_TEXT"  # of Python's module, which found text that is no UTF-8
    return str(named or "")


def is_busy(error: DBAPIError) -> bool:
    """Whether somebody else holds the lock: worth waiting for."""
    return sqlite_code(error).startswith(_BUSY)


def is_damage(code: str) -> bool:
    """Whether SQLite's name of an error says that the file is not what was written."""
    return code.startswith(("SQLITE_CORRUPT", "SQLITE_IOERR_SHORT_READ"))


def damaged_error(where: str) -> StoreUnavailableError:
    """Bytes of the file are not what was written."""
    return StoreUnavailableError(where, *_DAMAGED)


def busy_error(where: str) -> StoreBusyError:
    """Another program has the lock, or is the next to get it."""
    return StoreBusyError(where, *_TAKEN)


def refused_error(where: str) -> StoreUnavailableError:
    """A constraint is broken that only a changed table, or a fault of ours, can break."""
    return StoreUnavailableError(where, *_REFUSED)


def moved_error(where: str) -> StoreUnavailableError:
    """The files under the store's name are no longer those that are open."""
    return StoreUnavailableError(where, *_MOVED)


def translate(code: str, where: str) -> StoreUnavailableError | None:
    """Our error for SQLite's name of one; None for what only a fault of this program explains."""
    for name, (problem, next_step) in _SQLITE.items():
        if code.startswith(name):
            kind = StoreBusyError if code.startswith(_BUSY) else StoreUnavailableError
            return kind(where, problem, next_step)
    return None


@contextmanager
def translating(where: str) -> Iterator[None]:
    """Raise the body's driver errors as ours; a broken constraint passes, its meaning is the caller's."""
    try:
        yield
    except DBAPIError as error:
        translated = translate(sqlite_code(error), where)
        if translated is None:
            raise
        raise translated from error
