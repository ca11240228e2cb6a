"""Keyed hashes and the digest chain: everything that the store computes with SHA-256."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from struct import Struct

from ...domain.owner import Owner
from .ids import id_to_text

GENESIS = bytes(32)
"""The digest before the first event."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LEAF_TAG, _CHAIN_TAG = b"memstrata:leaf:1\n", b"memstrata:chain:1\n"
# Four numbers, then the lengths of the four parts that follow; the state takes the rest. With every
# length written down first, no two different events give the same bytes.
_leaf_frame: Callable[..., bytes] = Struct(">IqIIIIII").pack
_position_frame: Callable[[int], bytes] = Struct(">q").pack


def to_microseconds(moment: datetime) -> int:
    """Whole microseconds since 1970-01-01T00:00Z; `moment` is aware."""
    return (moment - _EPOCH) // _MICROSECOND


def from_microseconds(count: int) -> datetime:
    """The aware moment, in UTC."""
    return _EPOCH + timedelta(microseconds=count)


def leaf_of(
    owner_ref: bytes,
    stream_id: bytes,
    stream_version: int,
    topic: str,
    schema_version: int,
    recorded_at: int,
    codec: int,
    key_id: bytes,
    state: bytes,
) -> bytes:
    """Digest of one event without its position: it survives a move to another partition count."""
    name = topic.encode()
    frame = _leaf_frame(
        stream_version,
        recorded_at,
        schema_version,
        codec,
        len(owner_ref),
        len(stream_id),
        len(name),
        len(key_id),
    )
    return sha256(b"".join((_LEAF_TAG, frame, owner_ref, stream_id, name, key_id, state))).digest()


def chain(former: bytes, position: int, leaf: bytes) -> bytes:
    """Digest of the log up to and with this event."""
    return sha256(_CHAIN_TAG + former + _position_frame(position) + leaf).digest()


class Pepper:
    """The store's secret: made once, never rotated, so that what it names keeps its name."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        # Every call of the store names its owner, usually the same few.
        self.owner_ref: Callable[[Owner], bytes] = lru_cache(maxsize=4_096)(self._owner_ref)
        """16 bytes that stand for the owner in the log and say nothing about him."""

    def _hash(self, *parts: str) -> bytes:
        """HMAC-SHA256 of the parts, each with its length before it."""
        encoded = [part.encode() for part in parts]
        message = b"".join(len(part).to_bytes(8, "big") + part for part in encoded)
        return hmac.digest(self._secret, message, "sha256")

    def _owner_ref(self, owner: Owner) -> bytes:
        return self._hash("owner", owner.tenant, owner.user)[:16]

    def turn_id(self, owner: Owner, key: str) -> str:
        """The stream id of the owner's turn with this key."""
        return id_to_text(self._hash("turn", owner.tenant, owner.user, key)[:16])

    def ledger_id(self, owner: Owner) -> str:
        """The stream id of the owner's ledger."""
        return id_to_text(self._hash("ledger", owner.tenant, owner.user)[:16])

    def digest(self, owner: Owner, text: str) -> str:
        """64 hex digits; equal for equal texts of one owner."""
        return self._hash("text", owner.tenant, owner.user, text).hex()
