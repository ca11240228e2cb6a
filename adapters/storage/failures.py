"""Driver errors in, our errors out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from ...domain.errors import StoreUnavailableError

_MOVED = (
    "the file, or its write-ahead log, was removed or replaced while it was open",
    "put it back or open the store anew, and repeat what was not acknowledged",
)

# Longest prefix first: SQLite's extended codes refine the primary ones by appending to their names.
_SQLITE = {
    "SQLITE_READONLY_DBMOVED": _MOVED,
    "SQLITE_NOTADB": (
        "the file is not a database, or its beginning is damaged",
        "name another file with --db, or restore it from a backup",
    ),
    "SQLITE_CORRUPT": (
        "the database file is damaged",
        "`memstrata doctor` says where; restore it from a backup",
    ),
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
    "SQLITE_BUSY": ("another program holds the write lock", "repeat when it is done"),
    "SQLITE_LOCKED": ("another program holds the write lock", "repeat when it is done"),
}


class StoreBusyError(StoreUnavailableError):
    """Another program holds the lock: worth another try."""


def sqlite_code(error: DBAPIError) -> str:
    """SQLite's name of the error, "" when it has none."""
    return str(getattr(error.orig, "sqlite_errorname", ""))


def is_busy(error: DBAPIError) -> bool:
    """Whether somebody else holds the lock: worth waiting for."""
    return sqlite_code(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def is_damage(error: DBAPIError) -> bool:
    """Whether bytes of the file are not what SQLite wrote: another try reads the same."""
    return sqlite_code(error).startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ"))


def moved_error(where: str) -> StoreUnavailableError:
    """The files under the store's name are no longer those that are open."""
    return StoreUnavailableError(where, *_MOVED)


def translate(error: DBAPIError, where: str) -> StoreUnavailableError | None:
    """Our error for the driver's; None for one that only a fault of this program explains."""
    code = sqlite_code(error)
    for name, (problem, next_step) in _SQLITE.items():
        if code.startswith(name):
            kind = StoreBusyError if is_busy(error) else StoreUnavailableError
            return kind(where, problem, next_step)
    return None


@contextmanager
def translating(where: str) -> Iterator[None]:
    """Raise the body's driver errors as ours; a broken constraint passes, its meaning is the caller's."""
    try:
        yield
    except DBAPIError as error:
        translated = translate(error, where)
        if translated is None:
            raise
        raise translated from error
