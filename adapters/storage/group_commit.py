"""Many callers, one transaction: the disk is waited for once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue

from ...domain.errors import StoreUnavailableError
from .recorder import PlannedAppend

Unit = Sequence[PlannedAppend]
"""What one caller wants written whole or not at all."""

_Submission = tuple[Unit, "Future[None]"]


class GroupCommitWriter:
    """One thread writes what others submit; a submission is answered when it is durable.

    Units that wait while a transaction runs go into the next one together, up to `max_events`. When
    that fails, each half is tried by itself, and so on: an error reaches only the caller whose unit
    fails alone, and everybody else's is written.

    Args:
        write: Writes units in one transaction, all or none; called by one thread at a time.
        where: Names the store in errors.
        max_events: A transaction takes no further unit when it holds so many events.
    """

    def __init__(self, write: Callable[[Sequence[Unit]], None], where: str, max_events: int = 2_000) -> None:
        self._write, self._where, self._max_events = write, where, max_events
        self._queue: SimpleQueue[_Submission | None] = SimpleQueue()
        self._gate, self._closed = threading.Lock(), False
        self._thread = threading.Thread(target=self._run, name="memstrata-group-commit", daemon=True)
        self._thread.start()

    def submit(self, unit: Unit) -> Future[None]:
        """Queue a unit. The future ends when it is durable, or with the error that refused it.

        Raises:
            StoreUnavailableError: the writer was closed.
        """
        future: Future[None] = Future()
        with self._gate:  # nothing may queue behind the end mark, where nobody would answer it
            if self._closed:
                raise StoreUnavailableError(self._where, "the store is closed", "open it again")
            self._queue.put((unit, future))
        return future

    def close(self) -> None:
        """Write what was submitted, answer it, and end the thread."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        going = True
        while going:
            first = self._queue.get()
            if first is None:
                return
            group, going = self._gather(first)
            self._settle(group)

    def _gather(self, first: _Submission) -> tuple[list[_Submission], bool]:
        """What waits by now, and whether more may come."""
        group, events = [first], _size(first[0])
        while events < self._max_events:
            try:
                further = self._queue.get_nowait()
            except Empty:
                break
            if further is None:
                return group, False
            group.append(further)
            events += _size(further[0])
        return group, True

    def _settle(self, group: Sequence[_Submission]) -> None:
        try:
            self._write([unit for unit, _ in group])
        except Exception as error:  # noqa: BLE001 - not handled here: handed to the caller that waits
            if len(group) == 1 or isinstance(error, StoreUnavailableError):
                for _, future in group:
                    future.set_exception(error)
                return
            middle = len(group) // 2
            self._settle(group[:middle])
            self._settle(group[middle:])
        else:
            for _, future in group:
                future.set_result(None)


def _size(unit: Unit) -> int:
    return sum(len(append.events) for append in unit)
