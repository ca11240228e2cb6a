"""Statements rendered once and handed to the driver as they are.

SQLAlchemy writes the SQL, for whatever dialect; at each execution it would also build contexts,
parameter dictionaries and result objects, which took two thirds of an append of one event (measured
2026-11-30 on SQLite). What is prepared here runs inside a SQLAlchemy transaction like any other
statement, on the connection that the transaction holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, Table, bindparam, insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.sql.selectable import Select


class Prepared:
    """A statement for one dialect; `names` are its parameters, in the order in which calls give them.

    It is rendered when it is first used: whoever opens a store uses a few of those that there are.
    """

    sql: str
    as_given: bool
    """Whether the driver takes the values as calls give them."""
    _constants: tuple[Any, ...]
    _names: tuple[str, ...]
    _places: tuple[int, ...] | None

    def __init__(self, statement: Select[Any] | UpdateBase, dialect: Dialect, names: Sequence[str]) -> None:
        self._unrendered = statement, dialect, names

    def __getattr__(self, name: str) -> Any:
        # Asked only for what is not there yet, so that what is rendered costs nothing more.
        if name not in Prepared.__annotations__:
            raise AttributeError(name)
        self._render(*self._unrendered)
        return self.__dict__[name]

    def _render(self, statement: Select[Any] | UpdateBase, dialect: Dialect, names: Sequence[str]) -> None:
        # `names` also tells an insert its columns; no other statement here asks for them.
        keys = list(names) if statement.is_insert else None
        compiled = statement.compile(dialect=dialect, column_keys=keys)
        # A dialect adds parameters of its own (SQLite: an offset); their values stand already.
        own = {name: value for name, value in compiled.params.items() if name not in names}
        self._constants, self._names = tuple(own.values()), (*names, *own)
        order = getattr(compiled, "positiontup", None)
        self._places = None if order is None else tuple(self._names.index(name) for name in order)
        self.as_given = self._places == tuple(range(len(names)))
        self.sql = str(compiled)

    def arguments(self, values: tuple[Any, ...]) -> Any:
        """The values as the dialect's driver takes them."""
        if self.as_given:
            return values
        values += self._constants
        if self._places is None:
            return dict(zip(self._names, values, strict=True))
        return tuple(values[place] for place in self._places)

    def many(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        """The same for many rows."""
        return rows if self.as_given else [self.arguments(row) for row in rows]


class Several:
    """A query for the rows with any of several values in one column, prepared for as many at a time.

    `names` are the other parameters. A list that is shorter repeats its first value.
    """

    _AT_A_TIME = 64

    def __init__(
        self, column: ColumnElement[Any], query: Select[Any], dialect: Dialect, names: Sequence[str]
    ) -> None:
        self._column, self._query, self._dialect, self._names = column, query, dialect, names
        self._prepared: dict[int, Prepared] = {}

    def _of(self, count: int) -> Prepared:
        if count not in self._prepared:
            values = [f"value_{number}" for number in range(count)]
            query = self._query.where(self._column.in_(map(bindparam, values)))
            self._prepared[count] = Prepared(query, self._dialect, [*self._names, *values])
        return self._prepared[count]

    def all(self, driver: Driver, wanted: Sequence[Any], *others: Any) -> Iterator[tuple[Any, ...]]:
        """The rows, in the query's order for as many values as go at a time; no value is wanted twice."""
        if len(wanted) == 1:
            yield from driver.all(self._of(1), *others, *wanted)
            return
        for start in range(0, len(wanted), self._AT_A_TIME):
            some = wanted[start : start + self._AT_A_TIME]
            padding = [some[0]] * (self._AT_A_TIME - len(some))
            yield from driver.all(self._of(self._AT_A_TIME), *others, *some, *padding)


def insert_into(table: Table, dialect: Dialect) -> Prepared:
    """An insert of whole rows, the values in the order of the table's columns."""
    return Prepared(insert(table), dialect, [column.name for column in table.columns])


class Driver:
    """Runs prepared statements on the connection that a SQLAlchemy transaction holds.

    The driver's errors come out as SQLAlchemy's, without any parameter in them.
    """

    def __init__(self, connection: Connection) -> None:
        self._cursor: Any = connection.connection.cursor()
        self._dialect = connection.dialect
        self._error = connection.dialect.loaded_dbapi.Error

    def close(self) -> None:
        """Let go of the last statement: where it failed, SQLite keeps the files open for its sake."""
        self._cursor.close()

    def command(self, sql: str) -> None:
        """Execute what takes no parameters."""
        try:
            self._cursor.execute(sql)
        except self._error as error:
            raise self._wrapped(error) from error

    def one(self, prepared: Prepared, *values: Any) -> tuple[Any, ...] | None:
        """The only row, None when there is none."""
        try:
            self._cursor.execute(prepared.sql, values if prepared.as_given else prepared.arguments(values))
            row: tuple[Any, ...] | None = self._cursor.fetchone()
        except self._error as error:
            raise self._wrapped(error) from error
        return row

    def all(self, prepared: Prepared, *values: Any) -> list[tuple[Any, ...]]:
        """Every row."""
        try:
            self._cursor.execute(prepared.sql, prepared.arguments(values))
            rows: list[tuple[Any, ...]] = self._cursor.fetchall()
        except self._error as error:
            raise self._wrapped(error) from error
        return rows

    def run(self, prepared: Prepared, *values: Any) -> int:
        """Execute for one set of values; how many rows it touched."""
        try:
            self._cursor.execute(prepared.sql, values if prepared.as_given else prepared.arguments(values))
        except self._error as error:
            raise self._wrapped(error) from error
        count: int = self._cursor.rowcount
        return count

    def run_many(self, prepared: Prepared, rows: list[tuple[Any, ...]]) -> None:
        """Execute for each row."""
        try:
            if len(rows) == 1:
                self._cursor.execute(prepared.sql, prepared.arguments(rows[0]))
            else:
                self._cursor.executemany(prepared.sql, prepared.many(rows))
        except self._error as error:
            raise self._wrapped(error) from error

    def _wrapped(self, error: Exception) -> BaseException:
        kind, dialect = self._error, self._dialect
        return DBAPIError.instance(None, None, error, kind, hide_parameters=True, dialect=dialect)


def driver_of(connection: Connection) -> Driver:
    """The connection's driver. It lives as long as the database's connection does."""
    kept = connection.info
    driver: Driver | None = kept.get(_DRIVER)
    if driver is None:
        driver = kept[_DRIVER] = Driver(connection)
    return driver


_DRIVER = "memstrata.driver"
