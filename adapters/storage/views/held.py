"""What holds at a moment, with just the columns that choosing among it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Dialect, bindparam, select

from ....domain.errors import ProjectionDamagedError
from ....domain.owner import Owner
from ....domain.scope import Scope
from ....domain.statement import Statement
from ....projections.rows import HeldRow
from ..driver import Prepared, driver_of
from ..failures import WRONG_KIND
from ..keyed import from_microseconds, to_microseconds
from ..store import SqlEventStore
from .tables import LIVE, OPEN

_memory, _period = LIVE.memory, LIVE.period

_QUERY = (
    select(
        _period.c.memory_id,
        _period.c.number,
        _period.c.said_pos,
        _memory.c.said_pos,
        _memory.c.scope_kind,
        _memory.c.scope_anchor,
        _memory.c.subject,
        _memory.c.attribute,
        _memory.c.value,
        _memory.c.content,
        _memory.c.certainty,
        _memory.c.confidence,
        _memory.c.importance,
        _memory.c.source,
        _memory.c.said_at,
        _memory.c.pinned,
        _memory.c.tokens,
    )
    .join_from(
        _period,
        _memory,
        (_period.c.owner_ref == _memory.c.owner_ref) & (_period.c.memory_id == _memory.c.memory_id),
    )
    .where(
        _period.c.owner_ref == bindparam("owner"),
        _period.c.valid_from <= bindparam("begun"),
        _period.c.valid_to > bindparam("not_over"),
        _period.c.known_to == OPEN,
    )
)


class HeldQuery:
    """`Views.held` over the tables that live beside the log of `store`."""

    def __init__(
        self,
        store: SqlEventStore,
        said: Callable[[Owner, Sequence[int]], dict[int, Statement]],
        tokens: Callable[[str], str],
    ) -> None:
        self._store, self._said, self._tokens = store, said, tokens
        self._prepared: Prepared | None = None

    def rows(self, owner: Owner, valid_at: datetime) -> list[HeldRow]:
        """See the port."""
        moment = to_microseconds(valid_at)
        with self._store.reading() as connection:
            query = self._query(connection.dialect)
            found = driver_of(connection).all(query, self._store.owner_ref(owner), moment, moment)
        rows, elsewhere = [], {}
        scopes: dict[tuple[str, str], Scope] = {}
        try:
            for memory_id, number, said_pos, shown_pos, kind, anchor, *said, said_at, pinned, tokens in found:
                if said_pos != shown_pos:
                    elsewhere[said_pos] = (memory_id, number, bool(pinned))
                    continue
                scope = scopes.get((kind, anchor))
                if scope is None:
                    scope = scopes[kind, anchor] = Scope(kind=kind, anchor=anchor)
                named = (memory_id, number, said_pos, scope)
                rows.append(HeldRow._make((*named, *said, from_microseconds(said_at), bool(pinned), tokens)))
        except WRONG_KIND as error:
            raise ProjectionDamagedError("a row of the table memory cannot be read") from error
        # The row of a memory shows its present version; another one says what it says in its event.
        for position, said_then in self._said(owner, list(elsewhere)).items() if elsewhere else ():
            rows.append(self._row(position, *elsewhere[position], said_then))
        return rows

    def _row(self, position: int, memory_id: str, number: int, pinned: bool, said: Statement) -> HeldRow:
        return HeldRow(
            memory_id,
            number,
            position,
            said.scope,
            said.subject,
            said.attribute,
            said.value,
            said.content,
            said.certainty,
            said.confidence,
            said.importance,
            said.provenance.source,
            said.provenance.said_at,
            pinned,
            self._tokens(said.content),
        )

    def _query(self, dialect: Dialect) -> Prepared:
        if self._prepared is None:
            self._prepared = Prepared(_QUERY, dialect, ["owner", "begun", "not_over"])
        return self._prepared
