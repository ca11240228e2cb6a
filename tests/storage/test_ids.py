"""Ids, keyed names and digests."""

import hashlib
import hmac
import struct
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from contracts.event_store import LIN, NOON, ManualClock
from hypothesis import given
from hypothesis import strategies as st

from memstrata.adapters.storage import UuidSevenIds
from memstrata.adapters.storage.ids import id_to_bytes, id_to_text
from memstrata.adapters.storage.keyed import Pepper, chain, from_microseconds, leaf_of, to_microseconds
from memstrata.domain.errors import InvalidInputError


def test_the_stored_bytes_are_a_version_seven_uuid_of_the_moment(clock: ManualClock) -> None:
    uuid = UUID(bytes=id_to_bytes(UuidSevenIds(clock).new_id()))

    assert (uuid.version, uuid.variant) == (7, "specified in RFC 4122")
    assert uuid.int >> 80 == int(NOON.timestamp() * 1000)


def test_ids_ascend_as_bytes_and_differ_in_their_first_digits_as_text(clock: ManualClock) -> None:
    source = UuidSevenIds(clock)
    ids = []
    for step in range(6_000):
        clock.moment = NOON - timedelta(milliseconds=step // 2_000)  # standing still, then backwards
        ids.append(source.new_id())

    assert [id_to_bytes(i) for i in ids] == sorted({id_to_bytes(i) for i in ids})
    assert len({i[:8] for i in ids}) > 5_980


def test_all_bits_but_time_version_and_variant_are_random(clock: ManualClock) -> None:
    milliseconds = f"{int(NOON.timestamp() * 1000):012x}"

    assert UuidSevenIds(clock, bytes).new_id() == f"8000000000000000{milliseconds}7000"
    # The counter's upper bit stays free, so that counting within a millisecond does not overflow.
    assert UuidSevenIds(clock, lambda n: b"\xff" * n).new_id() == f"bfffffffffffffff{milliseconds}77ff"


def test_threads_never_get_the_same_id(clock: ManualClock) -> None:
    source = UuidSevenIds(clock)

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda _: source.new_id(), range(4_000)))

    assert len({i[16:] for i in ids}) == 4_000  # the time halves alone differ


@given(st.binary(min_size=16, max_size=16))
def test_an_id_is_the_same_after_it_was_stored(stored: bytes) -> None:
    assert id_to_bytes(id_to_text(stored)) == stored


@pytest.mark.parametrize("text", ["", "abc", "g" * 32, "A" * 32, "0" * 31 + "\n", "0" * 33, "0 " * 16])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        id_to_bytes(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_is_the_same_after_it_was_stored(moment: datetime) -> None:
    assert from_microseconds(to_microseconds(moment)) == moment


# The next three hold the stored format: they compute it by hand and must never be changed.


def test_a_leaf_is_the_hash_of_framed_columns() -> None:
    leaf = leaf_of(b"o" * 16, b"s" * 16, 3, "memory.created", 2, -5, 1, b"key", b"{}")

    frame = struct.pack(">IqIIIIII", 3, -5, 2, 1, 16, 16, 14, 3)
    body = b"memstrata:leaf:1\n" + frame + b"o" * 16 + b"s" * 16 + b"memory.created" + b"key" + b"{}"
    assert leaf == hashlib.sha256(body).digest()


def test_a_digest_binds_the_former_one_the_position_and_the_leaf() -> None:
    digest = chain(b"f" * 32, 258, b"l" * 32)

    body = b"memstrata:chain:1\n" + b"f" * 32 + b"\0\0\0\0\0\0\1\2" + b"l" * 32
    assert digest == hashlib.sha256(body).digest()


def test_an_owner_is_named_by_a_keyed_hash() -> None:
    def framed(*parts: bytes) -> bytes:
        return b"".join(struct.pack(">Q", len(part)) + part for part in parts)

    pepper = Pepper(b"p" * 32)

    keyed = hmac.new(b"p" * 32, framed(b"owner", b"acme", b"lin"), hashlib.sha256).digest()
    assert pepper.owner_ref(LIN) == keyed[:16]
    text = hmac.new(b"p" * 32, framed(b"text", b"acme", b"lin", "杭州".encode()), hashlib.sha256).hexdigest()
    assert pepper.digest(LIN, "杭州") == text


@given(st.lists(st.tuples(st.binary(max_size=3), st.binary(max_size=3), st.text(max_size=3)), unique=True))
def test_columns_cannot_be_shifted_into_each_other(columns: list[tuple[bytes, bytes, str]]) -> None:
    leaves = {leaf_of(owner, stream, 1, topic, 1, 0, 0, b"", b"") for owner, stream, topic in columns}

    assert len(leaves) == len(columns)
