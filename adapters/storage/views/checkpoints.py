"""How far the projections are, and whether their tables are there and of today's shape."""

from __future__ import annotations

from sqlalchemy import (
    Connection,
    Dialect,
    and_,
    bindparam,
    case,
    delete,
    insert,
    inspect,
    or_,
    select,
    update,
)
from sqlalchemy.schema import CreateTable

from ....projections.rows import PROJECTIONS
from .. import tables as log
from ..driver import Driver, Prepared
from .tables import LIVE, ViewTables

GENERATION = "views_generation"
_kept = log.projection.c
_current = or_(
    *(
        and_(_kept.name == bindparam(f"b_name_{i}"), _kept.version == bindparam(f"b_version_{i}"))
        for i in range(len(PROJECTIONS))
    )
)
_ADVANCE = (
    update(log.projection)
    .where(_kept.part == bindparam("b_part"), _current)
    .values(pos=case((_kept.pos < bindparam("b_pos"), bindparam("b_pos")), else_=_kept.pos))
)
_PARAMETERS = ["b_part", "b_pos"] + [
    name for i in range(len(PROJECTIONS)) for name in (f"b_name_{i}", f"b_version_{i}")
]
_CONSTANT = tuple(value for projection in PROJECTIONS.items() for value in projection)


class Checkpoints:
    """Moves the checkpoints of all projections at once, since their rows commit together."""

    def __init__(self) -> None:
        self._advance: Prepared | None = None

    def advance(self, driver: Driver, dialect: Dialect, part: int, position: int) -> bool:
        """Say that everything up to the position is applied; a checkpoint never goes back.

        Returns:
            False, with nothing moved, when the tables were not built by today's projections.
        """
        if self._advance is None:
            self._advance = Prepared(_ADVANCE, dialect, _PARAMETERS)
        return driver.run(self._advance, part, position, *_CONSTANT) == len(PROJECTIONS)


def create_live(connection: Connection) -> None:
    """Create the live tables where they are missing.

    They count as built in each partition that has no events yet; the others wait for a rebuild.
    """
    if generation_of(connection) is not None:
        return
    create_tables(connection, LIVE)
    connection.execute(insert(log.meta), {"name": GENERATION, "value": "1"})
    empty = select(log.head.c.part).where(log.head.c.pos == 0)
    set_checkpoints(connection, dict.fromkeys(connection.execute(empty).scalars(), 0))


def generation_of(connection: Connection) -> int | None:
    """The generation of the live tables, None where there are none."""
    found = connection.execute(select(log.meta.c.value).where(log.meta.c.name == GENERATION)).scalar()
    return None if found is None else int(found)


def create_tables(connection: Connection, tables: ViewTables) -> None:
    """Create the tables of a generation."""
    for table in tables.all:
        connection.execute(CreateTable(table))


def set_checkpoints(connection: Connection, positions: dict[int, int]) -> None:
    """Say, by partition, up to where today's projections are applied; other checkpoints go."""
    connection.execute(
        delete(log.projection).where(_kept.name.in_(list(PROJECTIONS)), _kept.part.in_(list(positions)))
    )
    rows = [
        {"name": name, "version": version, "part": part, "pos": position}
        for part, position in positions.items()
        for name, version in PROJECTIONS.items()
    ]
    if rows:
        connection.execute(insert(log.projection), rows)


def stale(connection: Connection) -> list[str]:
    """Names of the projections that lag behind the log or are of another version; usually none."""
    if not inspect(connection).has_table("memory"):
        return list(PROJECTIONS)
    heads = {row.part: row.pos for row in connection.execute(select(log.head.c.part, log.head.c.pos))}
    query = select(_kept.name, _kept.version, _kept.part, _kept.pos)
    rows = connection.execute(query)
    # A damaged checkpoint counts as none: the rebuild that follows writes it anew.
    kept = {(row.name, row.version, row.part): row.pos for row in rows if isinstance(row.pos, int)}
    return [
        name
        for name, version in PROJECTIONS.items()
        if any(kept.get((name, version, part), -1) < pos for part, pos in heads.items())
    ]
