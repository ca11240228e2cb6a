"""A fresh store in memory for each golden case."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ...bootstrap import Memstrata
from ...domain.ports import Clock


@dataclass(frozen=True, slots=True)
class CaseStore:
    """A store and everything that stands in it."""

    memory: Memstrata

    def cells(self) -> Iterator[str | bytes]:
        """Every text and every blob of every table."""
        with self.memory.store.reading() as connection:
            named = "SELECT name FROM sqlite_master WHERE type = 'table'"
            for name in connection.exec_driver_sql(named).scalars().all():
                for row in connection.exec_driver_sql(f'SELECT * FROM "{name}"'):
                    yield from (cell for cell in row if isinstance(cell, str | bytes))


@contextmanager
def opened(clock: Clock) -> Iterator[CaseStore]:
    """Open one on a clock."""
    with Memstrata.open("sqlite://", clock=clock) as memory:
        yield CaseStore(memory)
