"""A statement that is interrupted, wherever that is, leaves nothing behind and nobody locked out."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from memstrata import Memstrata, Owner, Turn
from memstrata.domain.errors import StoreUnavailableError

OWNER = Owner(tenant="faults", user="wei")


@pytest.mark.parametrize("every", [1, 7, 50])
def test_an_interrupted_write_locks_nobody_out(path: Path, every: int) -> None:
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [Turn(user="我住在杭州", session="a")])
        raw, interrupted = writer_of(memory), 0
        for at in range(1, 40):
            before = memory.store.head_position()
            try:
                with interrupting(raw, at, every):
                    memory.ingest(OWNER, [Turn(user=f"我喜欢第{at}种茶", session="b")])
            except (DBAPIError, StoreUnavailableError):
                interrupted += 1
                assert memory.store.head_position() == before
            assert not raw.in_transaction

        assert interrupted
        assert memory.ingest(OWNER, [Turn(user="我不吃香菜", session="c")])
        assert all(report.ok for report in memory.verify())
        assert memory.rebuild(check=True).same


def writer_of(memory: Memstrata) -> sqlite3.Connection:
    with memory.store.writing() as connection:
        raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


@contextmanager
def interrupting(raw: sqlite3.Connection, at: int, every: int) -> Iterator[None]:
    """Interrupt the connection once, after `at` times `every` instructions."""
    left = at

    def count() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    raw.set_progress_handler(count, every)
    try:
        yield
    finally:
        raw.set_progress_handler(None, 0)
