"""Does the log still say what was written?"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, func, or_, select
from sqlalchemy.exc import DBAPIError

from . import tables
from .failures import is_damage, sqlite_code
from .keyed import GENESIS, chain, leaf_of

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a check of one partition found.

    `up_to` is the last position whose event and all before it agree; `problem` is None when
    everything does, and `position` names the event that does not, where a single one is to blame.
    """

    part: int
    up_to: int
    events: int
    problem: str | None = None
    position: int | None = None

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return self.problem is None


class _Disagreement(Exception):
    """A finding; it ends the check and becomes its report."""

    def __init__(self, problem: str, position: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.position = problem, position


@contextmanager
def _damage_as(problem: str, position: int | None = None) -> Iterator[None]:
    """Make a finding of what the database says of its own damage."""
    try:
        yield
    except DBAPIError as error:
        if not is_damage(sqlite_code(error)):
            raise
        raise _Disagreement(f"{problem}; `memstrata doctor` names the table", position) from error


class LogVerifier:
    """Recomputes one partition's chain from its first event, a page at a time."""

    def __init__(self, connection: Connection, part: int, progress: Callable[[int], None] | None) -> None:
        self._connection, self._part, self._progress = connection, part, progress
        self._position, self._recorded_at, self._digest = 0, 0, GENESIS

    def run(self) -> VerifyReport:
        """Check every event, then what must agree with the log as a whole."""
        try:
            for row in self._rows():
                self._check(row)
            for check in (self._check_head, self._check_streams, self._check_owners):
                with _damage_as("the tables of heads and owners or an index of the log cannot be read"):
                    check()
        except _Disagreement as found:
            return VerifyReport(self._part, self._position, self._position, found.problem, found.position)
        return VerifyReport(self._part, self._position, self._position)

    def _rows(self) -> Iterator[Row[Any]]:
        query = select(tables.event).where(tables.event.c.part == self._part).order_by(tables.event.c.pos)
        while page := self._page(query.where(tables.event.c.pos > self._position)):
            yield from page
            if self._progress is not None:
                self._progress(self._position)

    def _page(self, query: Select[Any]) -> Sequence[Row[Any]]:
        """The next events; where the file is damaged those before it, then a finding that names it."""
        try:
            return self._connection.execute(query.limit(_PAGE)).all()
        except DBAPIError as error:
            if not is_damage(sqlite_code(error)):
                raise
        position = self._position + 1
        with _damage_as(f"the file is damaged where position {position} lies", position):
            return self._connection.execute(query.limit(1)).all()

    def _check(self, row: Row[Any]) -> None:
        expected = self._position + 1
        if row.pos != expected:
            raise _Disagreement(f"position {expected} is missing", expected)
        try:
            leaf = leaf_of(
                row.owner_ref,
                row.stream_id,
                row.stream_version,
                row.topic,
                row.schema_version,
                row.recorded_at,
                row.codec,
                row.key_id,
                row.state,
            )
        except (struct.error, TypeError, AttributeError) as error:
            raise _Disagreement("a column holds a value of the wrong kind", row.pos) from error
        if leaf != row.leaf:
            raise _Disagreement("the event is not what was recorded", row.pos)
        digest = chain(self._digest, row.pos, leaf)
        if digest != row.digest:
            raise _Disagreement("the chain of digests is broken", row.pos)
        if self._position and row.recorded_at < self._recorded_at:
            raise _Disagreement("recorded before its predecessor", row.pos)
        self._position, self._recorded_at, self._digest = row.pos, row.recorded_at, digest

    def _check_head(self) -> None:
        query = select(tables.head).where(tables.head.c.part == self._part)
        head = self._connection.execute(query).one_or_none()
        if head is None:
            raise _Disagreement("the partition has no head")
        if head.pos > self._position:
            missing = self._position + 1
            raise _Disagreement(f"the head is at {head.pos}: the last events are missing", missing)
        if (head.pos, head.digest) != (self._position, self._digest):
            raise _Disagreement(f"the head is at {head.pos} and does not match the last event")
        if self._position and head.recorded_at != self._recorded_at:
            raise _Disagreement("the head's time is not the last event's")

    def _check_streams(self) -> None:
        event = tables.event.c
        query = (
            select(func.max(event.pos))
            .where(event.part == self._part)
            .group_by(event.stream_id)
            .having(
                or_(
                    func.min(event.stream_version) != 1,
                    func.max(event.stream_version) != func.count(),
                    func.count(event.owner_ref.distinct()) > 1,
                )
            )
            .limit(1)
        )
        found = self._connection.execute(query).scalar()
        if found is not None:
            raise _Disagreement("its stream has a gap or two owners", found)

    def _check_owners(self) -> None:
        event, owner = tables.event.c, tables.owner.c
        last = (
            select(event.owner_ref, func.max(event.pos).label("pos"))
            .where(event.part == self._part)
            .group_by(event.owner_ref)
            .subquery()
        )
        kept = select(owner.owner_ref, owner.pos).where(owner.part == self._part).subquery()
        for left, right in ((last, kept), (kept, last)):
            joined = left.outerjoin(right, left.c.owner_ref == right.c.owner_ref)
            differs = or_(right.c.pos.is_(None), left.c.pos != right.c.pos)
            found = self._connection.execute(select(left.c.pos).select_from(joined).where(differs)).first()
            if found is not None:
                raise _Disagreement("an owner's position is not that of the owner's last event", found.pos)
