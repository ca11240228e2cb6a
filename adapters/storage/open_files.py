"""Whether the files of a store are still there while they are open."""

from __future__ import annotations

import os

from .failures import moved_error

_Identity = tuple[int, ...]
"""Inode and device."""


class OpenFiles:
    """Whether the files that are open are still those that anybody finds under the store's name.

    A file that is removed or replaced goes on taking writes from those who have it open, and is gone
    with the last of them: nothing may be acknowledged into it. The write-ahead log and its index are
    as much the store as the file itself. Three calls of `stat` take 4 microseconds (2026-12-01).
    """

    def __init__(self, path: str | None, where: str) -> None:
        self._path, self._where = path, where
        # Replaced, never changed: while one thread notes the log, others compare.
        self._held: tuple[tuple[str, _Identity], ...] = ()

    def hold(self) -> None:
        """Note the file, which was just opened."""
        self._note("")

    def hold_journal(self) -> None:
        """Note the write-ahead log. A transaction holds it, so that no other process tidies it away."""
        if len(self._held) == 1:
            self._note("-wal", "-shm")

    def check_first(self) -> None:
        """Compare the file alone: beside another one, our write-ahead log would be taken for its own.

        Raises:
            StoreUnavailableError: it was removed or replaced.
        """
        self._compare(self._held[:1])

    def check(self) -> None:
        """Compare all.

        Raises:
            StoreUnavailableError: a file was removed or replaced.
        """
        self._compare(self._held)

    def _compare(self, held: tuple[tuple[str, _Identity], ...]) -> None:
        for name, identity in held:
            if _identity(name) != identity:
                raise moved_error(self._where)

    def _note(self, *endings: str) -> None:
        if self._path is None:
            return
        found = [(name, _identity(name)) for name in (self._path + ending for ending in endings)]
        # The database may do without a write-ahead log.
        self._held += tuple((name, identity) for name, identity in found if identity is not None)


def _identity(name: str) -> _Identity | None:
    try:
        return os.stat(name)[1:3]
    except OSError:
        return None
