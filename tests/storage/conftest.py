"""A store in a file, and the file opened past it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from contracts.event_store import ManualClock

from memstrata.adapters.storage import SqlEventStore, open_store


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path, clock: ManualClock) -> Iterator[SqlEventStore]:
    with open_store(str(path), clock=clock) as store:
        yield store


@pytest.fixture
def raw(store: SqlEventStore, path: Path) -> Iterator[sqlite3.Connection]:
    """The store's file as anybody with SQLite sees it; each statement commits by itself."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection
