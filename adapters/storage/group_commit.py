"""Many callers, one transaction: the disk is waited for once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

from ...domain.errors import StoreUnavailableError
from .appending import PlannedAppend

Unit = Sequence[PlannedAppend]
"""What one caller wants written whole or not at all."""


class _Caller:
    """One who wants a unit written: waits for the answer, or until it is his turn to write for others."""

    __slots__ = ("answered", "error", "leads", "unit", "woken")

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.error: BaseException | None = None
        self.answered = self.leads = False
        self.woken = threading.Lock()
        self.woken.acquire()


class GroupCommitWriter:
    """Writes what several threads want written at once in one transaction.

    There is no thread for it: a caller who finds nobody writing writes himself, and everybody who
    comes meanwhile waits. Then the first of those writes what waits by now, up to `max_events`, and so
    on. A lone caller waits for nobody. When a group fails, each half is tried by itself, and so on: an
    error reaches only the caller whose unit fails alone, and everybody else's is written.

    Args:
        write: Writes units in one transaction, all or none; called by one thread at a time.
        where: Names the store in errors.
        max_events: A transaction takes no further unit when it holds so many events.
    """

    def __init__(self, write: Callable[[Sequence[Unit]], None], where: str, max_events: int = 2_000) -> None:
        self._write, self._where, self._max_events = write, where, max_events
        self._gate = threading.Lock()
        self._waiting: deque[_Caller] = deque()
        self._busy = self._closed = False

    def write(self, unit: Unit) -> None:
        """Write a unit; it is durable on return.

        Raises:
            StoreUnavailableError: the writer was closed, or the one who wrote for all was interrupted.
            Exception: whatever `write` raised for this unit alone.
        """
        self._take_turn(_Caller(unit), closing=False)

    def close(self) -> None:
        """Refuse whatever comes from now on; return when everything before it is answered."""
        self._take_turn(_Caller(()), closing=True)

    def _take_turn(self, caller: _Caller, *, closing: bool) -> None:
        with self._gate:
            if self._closed and not closing:
                raise StoreUnavailableError(self._where, "the store is closed", "open it again")
            self._closed = self._closed or closing
            if self._busy:
                self._waiting.append(caller)
            else:
                self._busy = caller.leads = True
        if not caller.leads:
            self._wait(caller)
        if caller.leads:
            self._lead(caller)
        if caller.error is not None:
            raise caller.error

    def _wait(self, caller: _Caller) -> None:
        try:
            caller.woken.acquire()
        except BaseException:  # Ctrl-C: whoever leaves must not be counted on
            with self._gate:
                if caller in self._waiting:
                    self._waiting.remove(caller)
            if caller.leads:
                self._hand_over()
            raise

    def _lead(self, caller: _Caller) -> None:
        """Write the caller's unit and what waits by now, then let the next one lead."""
        group = self._gather(caller)
        try:
            self._settle([one for one in group if one.unit])
        finally:
            self._hand_over()
            for one in group:
                if one is not caller:
                    if one.unit and not one.answered:  # this thread was interrupted
                        problem, next_step = "the writer was interrupted", "repeat as it is"
                        one.error = StoreUnavailableError(self._where, problem, next_step)
                    one.woken.release()

    def _hand_over(self) -> None:
        with self._gate:
            self._busy = bool(self._waiting)
            if self._waiting:
                successor = self._waiting.popleft()
                successor.leads = True
                successor.woken.release()

    def _gather(self, caller: _Caller) -> list[_Caller]:
        group, events = [caller], _size(caller.unit)
        with self._gate:
            while self._waiting and events < self._max_events:
                one = self._waiting.popleft()
                group.append(one)
                events += _size(one.unit)
        return group

    def _settle(self, group: Sequence[_Caller]) -> None:
        if not group:
            return
        try:
            self._write([one.unit for one in group])
        except Exception as error:  # noqa: BLE001 - not handled here: handed to the caller whose unit it is
            if len(group) == 1 or isinstance(error, StoreUnavailableError):
                for one in group:
                    one.error, one.answered = error, True
                return
            middle = len(group) // 2
            self._settle(group[:middle])
            self._settle(group[middle:])
        else:
            for one in group:
                one.answered = True


def _size(unit: Unit) -> int:
    return sum([len(append.events) for append in unit])
