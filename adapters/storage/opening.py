"""Opening a store: find it, see that it is ours and not too new, create it when it is not there."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qs

from sqlalchemy import Connection, Row, insert, inspect, select

from ...domain.errors import StoreTooNewError, StoreUnavailableError
from ...domain.ports import Clock
from . import sqlite, tables
from .codec import Codec
from .keyed import GENESIS, to_microseconds
from .projector import InlineProjector
from .sqlite import Durability, SqliteDatabase
from .store import SqlEventStore


def open_store(
    url: str,
    *,
    clock: Clock,
    durability: Durability = "full",
    projector: InlineProjector | None = None,
    group_commit: bool = False,
    codec: Codec | None = None,
    partitions: int = 1,
    patience: float = 60.0,
) -> SqlEventStore:
    """Open the store at `url`, creating it when nothing is there.

    Args:
        url: A path; `sqlite:///relative/path` or `sqlite:////absolute/path`, with `?mode=ro` for
            reading only; or `sqlite://` (or `:memory:`) for a store that lives in memory until it
            is closed.
        clock: Sets `recorded_at`.
        durability: `full` waits for the disk at each commit; `fast` may lose the last commits in a
            power cut, though not in a crash of the program.
        projector: Writes projections in each append's transaction.
        group_commit: Appends of concurrent threads share transactions.
        codec: Reads and writes payloads; None for the product's events.
        partitions: Number of partitions of a store that is created now.
        patience: Seconds to wait while another process writes.

    Raises:
        StoreUnavailableError: cannot be opened, is no store, or the scheme is not known; nothing was
            written.
        StoreTooNewError: a later version of Memstrata wrote it; nothing was written.
    """
    path, read_only = _located(url)
    codec = codec or Codec()
    database = SqliteDatabase(path, durability=durability, read_only=read_only, patience=patience)
    try:
        pepper, kept_partitions = database.patiently(lambda: _prepare(database, clock, partitions))
        if projector is not None and not read_only:
            database.patiently(lambda: _create_projections(database, projector))
        return SqlEventStore(
            database,
            pepper=pepper,
            partitions=kept_partitions,
            clock=clock,
            codec=codec,
            projector=projector,
            group_commit=group_commit,
        )
    except BaseException:
        database.close()
        raise


def _located(url: str) -> tuple[str | None, bool]:
    """The file's absolute path (None: in memory), and whether it is for reading only."""
    if url in _IN_MEMORY:
        return None, False
    scheme, separator, rest = url.partition("://")
    if not separator:
        return _file(url), False
    if scheme != "sqlite":  # only the scheme is shown: the rest may hold a password
        raise StoreUnavailableError(f"{scheme}://…", "is no database that this program knows", _HOW_TO_NAME)
    name, _, query = rest.partition("?")
    if not name:
        return None, False
    if not name.startswith("/"):
        raise StoreUnavailableError(url, "names a host, but SQLite has none", _HOW_TO_NAME)
    mode = parse_qs(query, keep_blank_values=True)
    if query and mode != {"mode": ["ro"]}:
        raise StoreUnavailableError(url, f"the option {query!r} is unknown", "the only one is mode=ro")
    return _file(name[1:]), bool(query)


_IN_MEMORY = ("sqlite://", ":memory:", "sqlite:///:memory:")
"""As people write it for SQLite; a file of that name would be no use to them."""

_HOW_TO_NAME = "give a path, or sqlite:///PATH"


def _file(name: str) -> str:
    if not name:
        raise StoreUnavailableError("the database", "has an empty name", _HOW_TO_NAME)
    if "\0" in name:  # SQLite would take what stands before it
        raise StoreUnavailableError(repr(name), "a name cannot hold NUL", _HOW_TO_NAME)
    return os.path.abspath(name)


def _prepare(database: SqliteDatabase, clock: Clock, partitions: int) -> tuple[bytes, int]:
    """The pepper and the number of partitions of a store that is sure to be there afterwards."""
    with database.reading() as connection:
        found = _look(connection, database.where)
    if found is None:
        if database.read_only:
            raise StoreUnavailableError(database.where, "there is no store", "open it for writing once")
        database.use_write_ahead_log()
        with database.writing() as connection:
            # Another process may have been faster between our look and our lock.
            found = _look(connection, database.where) or _create(connection, clock, partitions)
    try:
        pepper, kept = bytes.fromhex(found["pepper"]), int(found["partitions"])
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(database.where, "meta") from error
    with database.reading() as connection:
        heads = {head.part: head for head in connection.execute(select(tables.head))}
    if set(heads) != set(range(kept)) or not all(map(_is_head, heads.values())):
        raise _damaged(database.where, "head")
    return pepper, kept


def _is_head(head: Row[Any]) -> bool:
    numbers = isinstance(head.pos, int) and head.pos >= 0 and isinstance(head.recorded_at, int)
    return numbers and isinstance(head.digest, bytes) and len(head.digest) == len(GENESIS)


def _damaged(where: str, table: str) -> StoreUnavailableError:
    return StoreUnavailableError(where, f"the table {table} is damaged", "restore it from a backup")


def _look(connection: Connection, where: str) -> dict[str, str] | None:
    """What the store says about itself; None for an empty database."""
    names = set(inspect(connection).get_table_names())
    if not names:
        return None
    if not {"meta", "event", "head"} <= names:
        raise StoreUnavailableError(where, "is a database of another program", "name another file with --db")
    found = {row.name: row.value for row in connection.execute(select(tables.meta))}
    if "format" not in found:
        raise StoreUnavailableError(where, "is a database of another program", "name another file with --db")
    if not str(found["format"]).isdecimal():
        raise _damaged(where, "meta")
    if (version := int(found["format"])) > tables.FORMAT:
        raise StoreTooNewError(where, version, tables.FORMAT)
    return found


def _create(connection: Connection, clock: Clock, partitions: int) -> dict[str, str]:
    tables.metadata.create_all(connection)
    for statement in sqlite.APPEND_ONLY:
        connection.exec_driver_sql(statement)
    written = {
        "format": str(tables.FORMAT),
        "pepper": os.urandom(32).hex(),
        "partitions": str(partitions),
        "created_at": str(to_microseconds(clock.now())),
    }
    connection.execute(insert(tables.meta), [{"name": k, "value": v} for k, v in written.items()])
    first = {"pos": 0, "recorded_at": _BEFORE_ALL, "digest": GENESIS}
    connection.execute(insert(tables.head), [{"part": part, **first} for part in range(partitions)])
    return written


def _create_projections(database: SqliteDatabase, projector: InlineProjector) -> None:
    """Usually none is missing; then the write lock is not taken."""
    with database.writing(deferred=True) as connection:
        projector.create_tables(connection)


_BEFORE_ALL = -(1 << 62)
"""Head time of an empty partition: a simulated clock may start long before 1970."""
