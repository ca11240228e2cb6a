"""Every form of the SQL store keeps the EventStore contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from contracts.event_store import EventStoreContract, ManualClock

from memstrata.adapters.storage import SqlEventStore, open_store


class TestFile(EventStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path, clock: ManualClock) -> Iterator[SqlEventStore]:
        with open_store(str(tmp_path / "store.db"), clock=clock) as store:
            yield store


class TestMemory(EventStoreContract):
    @pytest.fixture
    def store(self, clock: ManualClock) -> Iterator[SqlEventStore]:
        with open_store("sqlite://", clock=clock) as store:
            yield store


class TestGroupCommit(EventStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path, clock: ManualClock) -> Iterator[SqlEventStore]:
        with open_store(str(tmp_path / "store.db"), clock=clock, group_commit=True) as store:
            yield store


class TestSeveralPartitions(EventStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path, clock: ManualClock) -> Iterator[SqlEventStore]:
        with open_store(str(tmp_path / "store.db"), clock=clock, partitions=16) as store:
            yield store


class TestTwoStoresOnOneFile(EventStoreContract):
    """Two openings of one file stand for two processes: nothing may live in a store's memory only."""

    @pytest.fixture
    def store(self, tmp_path: Path, clock: ManualClock) -> Iterator["Alternating"]:
        path = str(tmp_path / "store.db")
        with open_store(path, clock=clock) as one, open_store(path, clock=clock) as other:
            yield Alternating(one, other)


class Alternating:
    """Sends each call to the other store than the last one."""

    def __init__(self, *stores: SqlEventStore) -> None:
        self._stores = stores
        self._calls = 0

    def __getattr__(self, name: str) -> object:
        self._calls += 1
        return getattr(self._stores[self._calls % len(self._stores)], name)
