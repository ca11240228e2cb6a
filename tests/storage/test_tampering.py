"""The past cannot be changed by accident, nor on purpose without being found."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from contracts.event_store import LIN, WEI, ManualClock, append, new_stream, run_of, task

from memstrata.adapters.storage import SqlEventStore, open_store
from memstrata.adapters.storage.keyed import chain, leaf_of
from memstrata.domain.errors import VerificationFailedError
from memstrata.domain.events import BatchClosed

STREAM, OTHER = new_stream(), new_stream()


@pytest.fixture(autouse=True)
def _log(store: SqlEventStore) -> None:
    """Seven events: LIN's at positions 1–3, WEI's at 4 and 5, LIN's again at 6 and 7."""
    store.append(append(LIN, 0, *run_of(STREAM, 1, task("a"), task("b"), task("c"))))
    store.append(append(WEI, 0, *run_of(OTHER, 1, task("d"), task("e"))))
    store.append(append(LIN, None, *run_of(STREAM, 4, task("f"), task("g"))))


@pytest.fixture
def forger(raw: sqlite3.Connection) -> sqlite3.Connection:
    """Somebody who drops the triggers first."""
    raw.execute("DROP TRIGGER event_no_update")
    raw.execute("DROP TRIGGER event_no_delete")
    return raw


def test_an_untouched_log_verifies(store: SqlEventStore) -> None:
    reached: list[int] = []

    report = store.verify(progress=reached.append)

    assert (report.ok, report.up_to, report.events, report.position) == (True, 7, 7, None)
    assert reached == [7]


def test_a_new_store_verifies(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(str(tmp_path / "new.db"), clock=clock) as empty:
        assert (empty.verify().ok, empty.verify().up_to) == (True, 0)


@pytest.mark.parametrize("statement", ["UPDATE event SET state = state", "DELETE FROM event WHERE pos = 7"])
def test_events_are_append_only(store: SqlEventStore, raw: sqlite3.Connection, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw.execute(statement)

    assert store.verify().ok


@pytest.mark.parametrize(
    "change",
    [
        "owner_ref = zeroblob(16)",
        "stream_id = zeroblob(16)",
        "stream_version = 99",
        "topic = 'ledger.batch_closed'",
        "schema_version = 2",
        "recorded_at = recorded_at + 1",
        "codec = 1",
        "key_id = zeroblob(1)",
        "state = replace(state, '\"b\"', '\"x\"')",
        "state = CAST(state AS TEXT)",
        "stream_version = -1",
        "stream_version = 'two'",
        "leaf = zeroblob(32)",
        "digest = zeroblob(32)",
    ],
)
def test_a_changed_column_is_found(store: SqlEventStore, forger: sqlite3.Connection, change: str) -> None:
    forger.execute(f"UPDATE event SET {change} WHERE pos = 2")

    report = store.verify()

    assert (report.ok, report.position, report.up_to) == (False, 2, 1)


def test_swapped_events_are_found(store: SqlEventStore, forger: sqlite3.Connection) -> None:
    for former, new in ((2, -1), (5, 2), (-1, 5)):
        forger.execute("UPDATE event SET pos = ? WHERE pos = ?", (new, former))

    assert (store.verify().ok, store.verify().position) == (False, 2)


def test_a_missing_event_is_found(store: SqlEventStore, forger: sqlite3.Connection) -> None:
    forger.execute("DELETE FROM event WHERE pos = 3")

    assert (store.verify().position, store.verify().up_to) == (3, 2)


def test_a_cut_tail_is_found(store: SqlEventStore, forger: sqlite3.Connection) -> None:
    forger.execute("DELETE FROM event WHERE pos > 5")

    assert (store.verify().ok, store.verify().position, store.verify().up_to) == (False, 6, 5)


def test_a_cut_tail_with_a_matching_head_is_found(store: SqlEventStore, forger: sqlite3.Connection) -> None:
    forger.execute("DELETE FROM event WHERE pos > 5")
    forger.execute("UPDATE head SET pos = 5, digest = (SELECT digest FROM event WHERE pos = 5)")

    report = store.verify()

    assert (report.ok, report.problem) == (False, "an owner's position is not that of the owner's last event")


def rechain(forger: sqlite3.Connection, change: Callable[[list[list[object]]], None]) -> None:
    """Change the rows and write the whole chain anew, as a forger who knows the rules would."""
    columns = "owner_ref, stream_id, stream_version, topic, schema_version, recorded_at, codec, key_id, state"
    rows = [list(row) for row in forger.execute(f"SELECT {columns} FROM event ORDER BY pos")]
    change(rows)
    forger.execute("DELETE FROM event")
    digest, position = bytes(32), 0
    for position, row in enumerate(rows, start=1):
        leaf = leaf_of(*row)  # type: ignore[arg-type]
        digest = chain(digest, position, leaf)
        forger.execute(f"INSERT INTO event VALUES ({','.join('?' * 13)})", (0, position, *row, leaf, digest))
    forger.execute("UPDATE head SET pos = ?, digest = ?, recorded_at = ?", (position, digest, rows[-1][5]))


def test_rewriting_the_chain_unchanged_is_what_the_store_would_have_written(
    store: SqlEventStore, forger: sqlite3.Connection
) -> None:
    rechain(forger, lambda rows: None)

    assert store.verify().ok


def test_an_event_left_out_of_a_rewritten_chain_leaves_a_gap_in_its_stream(
    store: SqlEventStore, forger: sqlite3.Connection
) -> None:
    rechain(forger, lambda rows: rows.pop(1))  # type: ignore[arg-type, return-value]
    forger.execute("UPDATE owner SET pos = pos - 1")

    assert store.verify().problem == "its stream has a gap or two owners"


def test_time_that_runs_backwards_is_found(store: SqlEventStore, forger: sqlite3.Connection) -> None:
    def later(rows: list[list[object]]) -> None:
        rows[1][5] = int(str(rows[1][5])) + 1

    rechain(forger, later)

    assert (store.verify().problem, store.verify().position) == ("recorded before its predecessor", 3)


def test_an_event_put_in_past_the_store_is_found(store: SqlEventStore, raw: sqlite3.Connection) -> None:
    raw.execute(
        "INSERT INTO event SELECT part, 8, owner_ref, stream_id, 6, topic, schema_version, recorded_at, "
        "codec, key_id, state, leaf, digest FROM event WHERE pos = 7"
    )

    assert (store.verify().ok, store.verify().position) == (False, 8)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE head SET pos = 6",
        "UPDATE head SET digest = zeroblob(32)",
        "UPDATE head SET recorded_at = 0",
        "DELETE FROM head",
        "UPDATE owner SET pos = 1 WHERE pos = 5",
        "DELETE FROM owner WHERE pos = 5",
        "INSERT INTO owner VALUES (0, zeroblob(16), 3)",
    ],
)
def test_a_head_or_owner_that_does_not_match_the_log_is_found(
    store: SqlEventStore, raw: sqlite3.Connection, change: str
) -> None:
    raw.execute(change)

    report = store.verify()

    assert not report.ok
    assert report.up_to == 7


@pytest.mark.parametrize(
    "state",
    [b"", b"[]", b"{}", b'{"actor": 1}', b"\xff", b'"text"'],
    ids=["none", "list", "no", "kind", "utf", "str"],
)
def test_a_payload_that_cannot_be_read_names_its_position(
    store: SqlEventStore, forger: sqlite3.Connection, state: bytes
) -> None:
    forger.execute("UPDATE event SET state = ? WHERE pos = 2", (state,))

    with pytest.raises(VerificationFailedError) as caught:
        store.read_stream(LIN, STREAM)

    assert caught.value.position == 2


def test_a_payload_under_another_topic_is_not_taken_for_one_of_it(
    store: SqlEventStore, forger: sqlite3.Connection
) -> None:
    forger.execute("UPDATE event SET topic = ? WHERE pos = 2", (BatchClosed.TOPIC,))

    with pytest.raises(VerificationFailedError, match="at position 2"):
        list(store.read_owner(LIN))
