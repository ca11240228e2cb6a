"""The buffer of recent turns: written with the append, read as context, emptied at will."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Dialect, bindparam, delete, select

from ...domain.events import Judged
from ...domain.ports import RECENT_LENGTH, RECENT_TURNS
from ...domain.stream import RecordedEvent
from . import tables
from .driver import Prepared, Several, driver_of, insert_into
from .ids import id_to_bytes, id_to_text

_kept = tables.recent_turn.c


class RecentTurnBuffer:
    """The buffer in one database; every call runs in the transaction that it is given."""

    def __init__(self, dialect: Dialect) -> None:
        self._insert = insert_into(tables.recent_turn, dialect)
        mine = (_kept.owner_ref == bindparam("ref"), _kept.session == bindparam("s"))
        beyond = select(_kept.pos).where(*mine).order_by(_kept.pos.desc()).offset(RECENT_TURNS).limit(1)
        # As a table of its own: MariaDB refuses to look for rows in the table that it deletes from.
        newest_beyond = select(beyond.subquery().c.pos).scalar_subquery()
        self._trim = Prepared(
            delete(tables.recent_turn).where(*mine, _kept.pos <= newest_beyond), dialect, ["ref", "s"]
        )
        kept = select(_kept.session, _kept.turn_id, _kept.text).where(_kept.owner_ref == bindparam("ref"))
        self._of = Several(_kept.session, kept.order_by(_kept.pos), dialect, ["ref"])

    def keep(
        self,
        connection: Connection,
        owner_ref: bytes,
        recorded: Sequence[RecordedEvent],
        texts: Mapping[str, str],
    ) -> None:
        """Keep the texts of the turns that were just judged, and let the oldest of their sessions go."""
        sessions: dict[str, list[RecordedEvent]] = {}
        for entry in recorded:
            if isinstance(entry.event, Judged) and entry.stream_id in texts:
                sessions.setdefault(entry.event.context.session, []).append(entry)
        rows = [
            (
                owner_ref,
                session,
                entry.position,
                id_to_bytes(entry.stream_id),
                texts[entry.stream_id][:RECENT_LENGTH],
            )
            for session, entries in sessions.items()
            for entry in entries[-RECENT_TURNS:]
        ]
        if rows:
            driver = driver_of(connection)
            driver.run_many(self._insert, rows)
            driver.run_many(self._trim, [(owner_ref, session) for session in sessions])

    def of(
        self, connection: Connection, owner_ref: bytes, sessions: Sequence[str]
    ) -> dict[str, list[tuple[str, str]]]:
        """Turn ids and texts by session, oldest first; a session without any is left out."""
        found: dict[str, list[tuple[str, str]]] = {}
        wanted = list(dict.fromkeys(sessions))
        for session, turn_id, text in self._of.all(driver_of(connection), wanted, owner_ref):
            found.setdefault(session, []).append((id_to_text(turn_id), text))
        return found


def purge(connection: Connection, owner_ref: bytes) -> None:
    """Empty an owner's buffer."""
    connection.execute(delete(tables.recent_turn).where(_kept.owner_ref == owner_ref))
