"""The store's tables, the same on every database.

Times are whole microseconds since 1970-01-01T00:00Z, so that no database's idea of a time zone comes
between us and the instant. Binary columns have a fixed greatest length where they stand in a key:
MariaDB can only index those. What was said stands inside `event.state`, and for a while in `recent_turn`;
no other column holds any of it.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT, VARBINARY

FORMAT = 1
"""Version of this layout; a store with a greater one is refused unread."""

metadata = MetaData()


def key_bytes(length: int) -> LargeBinary:
    """Bytes of at most this length, as a key may hold them."""
    return LargeBinary(length).with_variant(VARBINARY(length), "mysql", "mariadb")


_content = LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
long_text = Text().with_variant(LONGTEXT(), "mysql", "mariadb")

event = Table(
    "event",
    metadata,
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("pos", BigInteger, primary_key=True, autoincrement=False),
    Column("owner_ref", key_bytes(16), nullable=False),
    Column("stream_id", key_bytes(16), nullable=False),
    Column("stream_version", Integer, nullable=False),
    Column("topic", String(64), nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("codec", Integer, nullable=False),
    Column("key_id", key_bytes(16), nullable=False),
    Column("state", _content, nullable=False),
    Column("leaf", key_bytes(32), nullable=False),
    Column("digest", key_bytes(32), nullable=False),
    UniqueConstraint("stream_id", "stream_version", name="event_stream"),
    Index("event_owner", "part", "owner_ref", "pos"),
)
"""The log. `pos` counts 1, 2, 3 … per `part` without a gap, in commit order."""

head = Table(
    "head",
    metadata,
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("pos", BigInteger, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("digest", key_bytes(32), nullable=False),
)
"""One row per partition: its last event. Whoever appends holds this row, which orders the writers."""

owner = Table(
    "owner",
    metadata,
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("owner_ref", key_bytes(16), primary_key=True),
    Column("pos", BigInteger, nullable=False),
)
"""Position of each owner's last event."""

salt = Table(
    "salt",
    metadata,
    Column("key_id", key_bytes(16), primary_key=True),
    Column("owner_ref", key_bytes(16), primary_key=True),
    Column("stream_id", key_bytes(16), primary_key=True),
    Column("turn_id", String(64), primary_key=True),
    Column("salt", key_bytes(16), nullable=False),
)
"""What the key of one turn's events in one stream is derived with; deleting it erases them."""

recent_turn = Table(
    "recent_turn",
    metadata,
    Column("owner_ref", key_bytes(16), primary_key=True),
    Column("session", String(400), primary_key=True),
    Column("pos", BigInteger, primary_key=True, autoincrement=False),
    Column("turn_id", key_bytes(16), nullable=False),
    Column("text", long_text, nullable=False),
)
"""The last few turns of each session, secrets masked: context for the turns that follow, and no event.

It may be emptied at any time.
"""

policy = Table(
    "policy",
    metadata,
    Column("fingerprint", String(64), primary_key=True),
    Column("document", long_text, nullable=False),
)
"""Every policy that ever decided, by its fingerprint."""

projection = Table(
    "projection",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("pos", BigInteger, nullable=False),
)
"""Checkpoints: the last position that a projection has applied."""

meta = Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", String(255), nullable=False),
)
"""`format`, `pepper` (hex), `partitions`, `created_at` (microseconds)."""
