"""The buffer of recent turns: written with the append, read as context, emptied at will."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select

from ...domain.events import Judged
from ...domain.ports import RECENT_TURNS
from ...domain.stream import RecordedEvent
from . import tables
from .ids import id_to_bytes, id_to_text

_LONGEST = 4_000
"""Code points that are kept of a turn: enough for what a later turn refers to."""

_kept = tables.recent_turn.c


def keep(
    connection: Connection,
    owner_ref: bytes,
    recorded: Sequence[RecordedEvent],
    texts: Mapping[str, str],
) -> None:
    """Keep the texts of the turns that were just judged, and let the oldest of their sessions go."""
    rows = [
        {
            "owner_ref": owner_ref,
            "session": entry.event.context.session,
            "pos": entry.position,
            "turn_id": id_to_bytes(entry.stream_id),
            "text": texts[entry.stream_id][:_LONGEST],
        }
        for entry in recorded
        if isinstance(entry.event, Judged) and entry.stream_id in texts
    ]
    if not rows:
        return
    connection.execute(insert(tables.recent_turn), rows)
    for session in dict.fromkeys(row["session"] for row in rows):
        mine = (_kept.owner_ref == owner_ref, _kept.session == session)
        newest = select(_kept.pos).where(*mine).order_by(_kept.pos.desc())
        oldest = connection.execute(newest.offset(RECENT_TURNS).limit(1)).scalar()
        if oldest is not None:
            connection.execute(delete(tables.recent_turn).where(*mine, _kept.pos <= oldest))


def of_session(connection: Connection, owner_ref: bytes, session: str) -> list[tuple[str, str]]:
    """Turn ids and texts, oldest first."""
    query = (
        select(_kept.turn_id, _kept.text)
        .where(_kept.owner_ref == owner_ref, _kept.session == session)
        .order_by(_kept.pos)
    )
    return [(id_to_text(row.turn_id), row.text) for row in connection.execute(query)]


def purge(connection: Connection, owner_ref: bytes) -> None:
    """Empty an owner's buffer."""
    connection.execute(delete(tables.recent_turn).where(_kept.owner_ref == owner_ref))
