"""Where a database file is damaged, asked of SQLite itself: the store may not open any more."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import quote

from ...domain.errors import StoreUnavailableError
from .failures import code_of, is_damage, translate

_LONGEST = 300
"""Code points of what SQLite says about a table: the first findings say where to look."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A table that is damaged, itself or in an index, and what SQLite says of it."""

    table: str
    problem: str


def find_damage(path: str) -> list[Damage]:
    """Every damaged table, in the order of names; empty for a whole file. Nothing is written.

    Raises:
        StoreUnavailableError: the file cannot be looked at, for another reason than damage.
    """
    try:
        with closing(
            sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, isolation_level=None)
        ) as connection:
            return _find(connection)
    except sqlite3.Error as error:
        problem = translate(code_of(error), path)
        raise problem or StoreUnavailableError(path, str(error), "check the file") from error


def _find(connection: sqlite3.Connection) -> list[Damage]:
    try:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        found = [(name, _problem(connection, name)) for (name,) in names.fetchall()]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if isinstance(error, sqlite3.Error) and not is_damage(code_of(error)):
            raise
        # Nothing is found in a file without it, and nothing else in it can be looked at.
        return [Damage("sqlite_schema", "the list of tables cannot be read")]
    return [Damage(name, problem) for name, problem in found if problem]


def _problem(connection: sqlite3.Connection, table: str) -> str:
    quoted = table.replace('"', '""')
    try:
        rows = connection.execute(f'PRAGMA integrity_check("{quoted}")').fetchall()
    except sqlite3.DatabaseError as error:
        if not is_damage(code_of(error)):
            raise
        return "the table or an index of it cannot be read"
    lines = [line for (row,) in rows for line in str(row).splitlines()]
    return "; ".join(line for line in lines if line != "ok" and not line.startswith("***"))[:_LONGEST]
