"""Recompute every projection from the first event, compare, and put the new tables in place.

The new tables are built beside the live ones: owner by owner, each of whose streams is folded once and
whole, in short transactions, so that others go on reading and writing. Each of them says how far it came;
a rebuild that was interrupted goes on from there. What was appended meanwhile is folded as appends fold it.
Then the rows are compared on one consistent view, and the last transaction swaps.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, Table, and_, func, inspect, select, update

from ....domain.errors import VerificationFailedError
from ....projections.memories import Shaping
from ....projections.rows import PROJECTIONS
from .. import tables as log
from ..codec import Codec
from ..failures import WRONG_KIND
from ..store import SqlEventStore
from .checkpoints import GENERATION, create_live, generation_of, set_checkpoints
from .helping import Helper, MakeShaping
from .shadow import HALVES, SLICE, Shadow
from .tables import LIVE, RETIRED

_TRIES = 3
"""How often a moment without appends is looked for to compare at, before appends are made to wait."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class TableReport:
    """One table's rows before the rebuild and after it; `equal_rows` are in both, alike in every column."""

    name: str
    live_rows: int
    rebuilt_rows: int
    equal_rows: int

    @property
    def same(self) -> bool:
        """Whether the live rows were what the events say."""
        return self.live_rows == self.rebuilt_rows == self.equal_rows


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild folded and found. `swapped` says whether the new tables are in place."""

    events: int
    tables: tuple[TableReport, ...]
    swapped: bool

    @property
    def same(self) -> bool:
        """Whether every live table was what the events say."""
        return all(table.same for table in self.tables)


def rebuild(
    store: SqlEventStore,
    shaping: Shaping,
    *,
    check: bool = False,
    fresh: bool = False,
    helped_by: MakeShaping | None = None,
    codec: Codec | None = None,
    progress: Progress | None = None,
) -> RebuildReport:
    """Rebuild all projections of all owners.

    Args:
        store: The store; its tables may be missing or of an earlier version of the projections.
        shaping: What rows depend on besides the events; the same as the live projector's.
        check: Compare only, and leave the live tables as they are.
        fresh: Begin anew, even where an interrupted rebuild could go on.
        helped_by: Makes the shaping anew in another process, which then folds a half of the owners; None
            to do without. It is pickled.
        codec: Reads payloads; None for the product's events.
        progress: Called after each transaction with the events folded and the events known to be there.

    Raises:
        VerificationFailedError: an event cannot be read; the live tables are untouched.
        StoreUnavailableError: another rebuild of the same store took over.
    """
    run = _Run(store, shaping, codec or Codec(), progress)
    run.begin(fresh=fresh)
    try:
        run.fold_owners(helped_by)
        tables = run.compare()
        if not check:
            run.swap()
    except Exception as error:
        run.shadow.drop()
        if isinstance(error, WRONG_KIND):
            _blame_the_log(store, error)
        raise
    if check:
        run.shadow.drop()
    return RebuildReport(run.events, tables, swapped=not check)


def _blame_the_log(store: SqlEventStore, error: Exception) -> None:
    """What is folded was not validated: where it is not what was written, that is the cause.

    Raises:
        VerificationFailedError: an event is to blame. Otherwise this program is, and nothing is raised.
    """
    for part in store.partitions:
        report = store.verify(part)
        if report.problem is not None:
            raise VerificationFailedError(report.problem, report.position) from error


class _Run:
    """One rebuild."""

    def __init__(
        self, store: SqlEventStore, shaping: Shaping, codec: Codec, progress: Progress | None
    ) -> None:
        self._store, self._shaping, self._codec, self._progress = store, shaping, codec, progress
        self.events = 0

    def begin(self, *, fresh: bool) -> None:
        """Create the tables in the making, or go on with those of an interrupted rebuild."""
        with self._store.writing() as connection:
            create_live(connection)
            generation = (generation_of(connection) or 1) + 1
        shape = json.dumps([sorted(PROJECTIONS.items()), self._shaping.fingerprint])
        kind = hashlib.sha256(shape.encode()).hexdigest()[:32]
        self.shadow = Shadow(self._store, self._shaping, self._codec, generation, secrets.token_hex(8))
        self.shadow.take(kind, fresh=fresh)
        self._told(self.shadow.folded())

    def fold_owners(self, make_shaping: MakeShaping | None) -> None:
        """Fold all events that were there at the beginning; where it pays, with the help of a process."""
        helper = Helper.start(self._store, make_shaping, self.shadow)
        try:
            for part in self._store.partitions:
                self.shadow.fold_half(part, 0, self._told)
            if helper is not None:
                helper.wait(self._told)
        finally:
            if helper is not None:
                helper.stop()
        # What a helper has done is done; all of it, where there was none.
        for part in self._store.partitions:
            for half in range(1, len(HALVES)):
                self.shadow.fold_half(part, half, self._told)

    def _told(self, folded: int) -> None:
        self.events += folded
        if self._progress is not None and folded:
            self._progress(self.events, sum(map(self._store.head_position, self._store.partitions)))

    def _catch_up(self, *, until_behind_by: int = 0, locked: bool = False) -> None:
        for part in self._store.partitions:
            self.shadow.catch_up(part, self._told, until_behind_by=until_behind_by, locked=locked)

    def compare(self) -> tuple[TableReport, ...]:
        """Compare all rows as of one position."""
        self._catch_up(until_behind_by=SLICE)
        for _ in range(_TRIES):
            self._catch_up()
            with self._store.reading() as connection:
                if self._is_level(connection):
                    return self._compared(connection)
        with self._store.writing() as connection:
            self._catch_up(locked=True)
            return self._compared(connection)

    def _is_level(self, connection: Connection) -> bool:
        heads = connection.execute(select(log.head.c.part, log.head.c.pos))
        return all(row.pos == self.shadow.reached(row.part) for row in heads)

    def _compared(self, connection: Connection) -> tuple[TableReport, ...]:
        pairs = zip(LIVE.all, self.shadow.tables.all, strict=True)
        return tuple(_compared(connection, live, rebuilt) for live, rebuilt in pairs)

    def swap(self) -> None:
        """Fold the last events and let the new tables take the live ones' place."""
        with self._store.writing() as connection:
            self.shadow.check_owned(connection)
            self._catch_up(locked=True)
            reached = {part: self._store.head_position(part) for part in self._store.partitions}
            self.shadow.take_place(connection, [*(table.name for table in LIVE.all), *RETIRED])
            generation = update(log.meta).where(log.meta.c.name == GENERATION)
            connection.execute(generation.values(value=str(self.shadow.generation)))
            set_checkpoints(connection, reached)
        self.shadow.drop_former()


def _compared(connection: Connection, live: Table, rebuilt: Table) -> TableReport:
    rebuilt_rows = connection.execute(select(func.count()).select_from(rebuilt)).scalar_one()
    # A table of an earlier version of the projections may lack columns: then it differs.
    found = {column["name"] for column in inspect(connection).get_columns(live.name)}
    if found != {column.name for column in live.columns}:
        return TableReport(live.name, 0, rebuilt_rows, 0)
    live_rows = connection.execute(select(func.count()).select_from(live)).scalar_one()
    same = and_(*(column.is_not_distinct_from(rebuilt.c[column.name]) for column in live.columns))
    key = and_(*(column == rebuilt.c[column.name] for column in live.primary_key.columns))
    equal = connection.execute(select(func.count()).select_from(live.join(rebuilt, key)).where(same))
    return TableReport(live.name, live_rows, rebuilt_rows, equal.scalar_one())
