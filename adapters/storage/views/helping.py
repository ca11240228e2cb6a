"""A second process that folds a half of the owners of a rebuild.

Folding is work for the processor, of which one process of Python uses one. The helper is started as a
program of its own, so that nothing of the caller's is run again or copied; what it needs comes through
its standard input, and a line for each transaction comes out. Where it cannot be started or fails, its
half is simply not done, and the caller does it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ....projections.memories import Shaping
from ..codec import Codec
from ..opening import open_store
from ..store import SqlEventStore
from .shadow import Shadow, Told

MakeShaping = Callable[[], Shaping]

WORTH_IT = 50_000
"""Events from which on a helper is started: it takes about a second until it folds the first."""

_PROGRAM = f"from {__name__} import help_out; help_out()"


@dataclass(frozen=True, slots=True)
class _Task:
    path: str
    make_shaping: MakeShaping
    generation: int
    token: str


class Helper:
    """The process, as its caller sees it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @classmethod
    def start(
        cls,
        store: SqlEventStore,
        make_shaping: MakeShaping | None,
        shadow: Shadow,
        *,
        worth: int = WORTH_IT,
    ) -> Helper | None:
        """Start it where there is a processor for it, and at least so many events to fold; else None."""
        events = sum(map(store.head_position, store.partitions)) - shadow.folded()
        if make_shaping is None or store.where == "memory" or events < worth or (os.cpu_count() or 1) < 2:
            return None
        task = pickle.dumps(_Task(store.where, make_shaping, shadow.generation, shadow.token))
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(task)
            process.stdin.close()
        except OSError:  # it has failed already
            process.wait()
            return None
        return cls(process)

    def wait(self, told: Told) -> None:
        """Wait until it is done or has failed, and tell what it folded."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told(int(line))

    def stop(self) -> None:
        """End it, whether or not it is done: what it has written is written."""
        self._process.terminate()
        with self._process:
            pass


def help_out() -> None:
    """What the process does."""
    task: _Task = pickle.loads(sys.stdin.buffer.read())

    def told(folded: int) -> None:
        os.write(1, b"%d\n" % folded)

    # Nothing of a rebuild is precious: what a power cut takes of it is folded again.
    with open_store(task.path, clock=_Clock(), durability="fast") as store:
        shadow = Shadow(store, task.make_shaping(), Codec(), task.generation, task.token)
        for part in store.partitions:
            shadow.fold_half(part, 1, told)


class _Clock:
    """Told, since a store is opened with one; nothing is appended here."""

    def now(self) -> datetime:
        return datetime.now(UTC)
