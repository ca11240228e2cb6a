"""Nothing above the SQLite module is SQLite's alone: tables and statements render for other databases."""

import pytest
from sqlalchemy import Dialect
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.schema import CreateTable

from memstrata.adapters.storage import tables
from memstrata.adapters.storage.appending import AppendStatements
from memstrata.adapters.storage.driver import Prepared, insert_into

DIALECTS = [sqlite.dialect(), postgresql.psycopg.dialect(), mysql.pymysql.dialect()]


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    chosen: Dialect = request.param
    return chosen


def test_every_table_can_be_created(dialect: Dialect) -> None:
    for table in tables.metadata.sorted_tables:
        assert f"CREATE TABLE {table.name}" in str(CreateTable(table).compile(dialect=dialect))


def test_keys_on_mariadb_are_of_a_length_that_it_can_index() -> None:
    dialect = mysql.dialect()
    for table in tables.metadata.sorted_tables:
        keys = {*table.primary_key.columns, *(c for i in table.indexes for c in i.columns)}
        assert not [c for c in keys if "BLOB" in c.type.compile(dialect) or "TEXT" in c.type.compile(dialect)]


def test_the_head_is_locked_where_the_database_locks_rows(dialect: Dialect) -> None:
    locks = "FOR UPDATE" in AppendStatements(dialect).head.sql

    assert locks == (dialect.name != "sqlite")


def test_arguments_take_the_form_of_the_driver(dialect: Dialect) -> None:
    statements = AppendStatements(dialect)

    inserted = statements.insert_owner.arguments((0, b"r", 7))
    moved = statements.move_head.arguments((7, 1_000, b"d", 0))

    if dialect.positional:
        assert (inserted, moved) == ((0, b"r", 7), (7, 1_000, b"d", 0))
    else:
        assert inserted == {"part": 0, "owner_ref": b"r", "pos": 7}
        assert moved == {"n": 7, "at": 1_000, "d": b"d", "p": 0}


def test_many_rows_take_the_same_form(dialect: Dialect) -> None:
    insert: Prepared = insert_into(tables.owner, dialect)
    rows = [(0, b"a", 1), (0, b"b", 2)]

    assert insert.many(rows) == [insert.arguments(row) for row in rows]
