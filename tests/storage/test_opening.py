"""Opening a store: what is created, what is kept, what is refused untouched."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from contracts.event_store import LIN, ManualClock, append, everything, new_stream, run_of, task
from permissions import as_somebody_whom_permissions_bind, open_folder

from memstrata.adapters.storage import open_store
from memstrata.domain.errors import StoreTooNewError, StoreUnavailableError

OPEN_AND_NAME = """
import sys
from datetime import UTC, datetime
from memstrata.adapters.storage import open_store
from memstrata.domain.errors import MemstrataError
from memstrata.domain.owner import Owner

class Clock:
    def now(self): return datetime.now(UTC)

try:
    with open_store(sys.argv[1], clock=Clock()) as store:
        print(store.ledger_id(Owner(tenant="acme", user="lin")))
except MemstrataError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def test_a_store_keeps_its_names_and_events_when_it_is_opened_again(path: Path, clock: ManualClock) -> None:
    stream = new_stream()
    with open_store(str(path), clock=clock) as store:
        ledger = store.ledger_id(LIN)
        store.append(append(LIN, 0, *run_of(stream, 1, task())))

    with open_store(f"sqlite:///{path}", clock=clock) as store:
        assert store.ledger_id(LIN) == ledger
        assert everything(store) == [(stream, 1)]


def test_two_stores_name_the_same_owner_differently(tmp_path: Path, clock: ManualClock) -> None:
    with open_store(str(tmp_path / "a"), clock=clock) as a, open_store(str(tmp_path / "b"), clock=clock) as b:
        assert a.ledger_id(LIN) != b.ledger_id(LIN)


def test_several_processes_may_create_the_store_at_once(path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", OPEN_AND_NAME, str(path)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(5)
    ]

    answers = [process.communicate(timeout=60) for process in processes]

    assert {error for _, error in answers} == {""}
    assert len({name for name, _ in answers}) == 1


def test_an_empty_file_becomes_a_store(path: Path, clock: ManualClock) -> None:
    path.touch()

    with open_store(str(path), clock=clock) as store:
        assert store.verify().ok


@pytest.mark.parametrize("name", ["with space.db", "hash#percent%41?.db", "周报.db"])
def test_a_file_name_is_taken_as_it_is(tmp_path: Path, clock: ManualClock, name: str) -> None:
    with open_store(str(tmp_path / name), clock=clock) as store:
        store.append(append(LIN, 0, *run_of(new_stream(), 1, task())))

    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_path_in_a_url_may_be_relative(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("sqlite:///here.db", clock=clock):
        pass

    assert (tmp_path / "here.db").exists()


@pytest.mark.parametrize("url", ["sqlite://", ":memory:", "sqlite:///:memory:"])
def test_a_store_in_memory_is_gone_when_it_is_closed(
    url: str, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(url, clock=clock) as store:
        store.append(append(LIN, 0, *run_of(new_stream(), 1, task())))

    with open_store(url, clock=clock) as store:
        assert everything(store) == []
    assert list(tmp_path.iterdir()) == []


def test_closing_twice_is_no_error(path: Path, clock: ManualClock) -> None:
    store = open_store(str(path), clock=clock, group_commit=True)
    store.close()
    store.close()


@pytest.mark.parametrize(
    "url",
    ["postgresql://kim:secret@db/x", "oracle://x", "sqlite://host/x.db", "", "sqlite:///", "sqlite:///x?a=b"],
)
def test_an_address_that_is_none_is_refused(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreUnavailableError) as caught:
        open_store(url, clock=clock)

    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_refused_untouched(path: Path, clock: ManualClock) -> None:
    path.write_bytes(b"just some notes about the weekly report\n" * 200)
    before = path.read_bytes()

    with pytest.raises(StoreUnavailableError, match="not a database"):
        open_store(str(path), clock=clock)

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_another_programs_database_is_refused_untouched(path: Path, clock: ManualClock) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE meta (name, value)")
    before = path.read_bytes()

    with pytest.raises(StoreUnavailableError, match="another program"):
        open_store(str(path), clock=clock)

    assert path.read_bytes() == before


def test_a_store_of_a_later_version_is_refused_untouched(path: Path, clock: ManualClock) -> None:
    open_store(str(path), clock=clock).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
        other.commit()
    before = path.read_bytes()

    with pytest.raises(StoreTooNewError) as caught:
        open_store(str(path), clock=clock)

    assert (caught.value.found, caught.value.known) == (99, 1)
    assert path.read_bytes() == before


def test_a_folder_is_no_file(tmp_path: Path, clock: ManualClock) -> None:
    with pytest.raises(StoreUnavailableError, match="cannot be opened"):
        open_store(str(tmp_path), clock=clock)


def test_a_missing_folder_is_not_created(tmp_path: Path, clock: ManualClock) -> None:
    with pytest.raises(StoreUnavailableError, match="check that its folder exists"):
        open_store(str(tmp_path / "missing" / "store.db"), clock=clock)

    assert list(tmp_path.iterdir()) == []


def test_a_store_can_be_opened_for_reading_only(path: Path, clock: ManualClock) -> None:
    stream = new_stream()
    with open_store(str(path), clock=clock) as store:
        store.append(append(LIN, 0, *run_of(stream, 1, task())))

    with open_store(f"sqlite:///{path}?mode=ro", clock=clock) as store:
        with pytest.raises(StoreUnavailableError, match="read-only"):
            store.append(append(LIN, 1, *run_of(stream, 2, task())))
        assert everything(store) == [(stream, 1)]


@pytest.mark.skipif(os.name != "posix", reason="permissions of other systems differ")
def test_a_read_only_folder_is_named_as_the_cause(clock: ManualClock) -> None:
    open_store("sqlite://", clock=clock).close()
    with open_folder() as folder:
        folder.chmod(0o555)

        with (
            as_somebody_whom_permissions_bind(),
            pytest.raises(StoreUnavailableError, match="check that its folder exists and is writable"),
        ):
            open_store(str(folder / "store.db"), clock=clock)

        assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of other systems differ")
def test_a_read_only_file_is_named_as_the_cause(clock: ManualClock) -> None:
    with open_folder() as folder:
        target = folder / "store.db"
        open_store(str(target), clock=clock).close()
        target.chmod(0o444)

        with (
            as_somebody_whom_permissions_bind(),
            open_store(str(target), clock=clock) as store,
            pytest.raises(StoreUnavailableError, match="read-only"),
        ):
            store.append(append(LIN, 0, *run_of(new_stream(), 1, task())))
