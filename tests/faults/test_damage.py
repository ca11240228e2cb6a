"""Files that are damaged or cut short: named in one line, with what to do; nothing is made worse."""

import json
import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from faults.telling import OWNER, as_lines, holds, produced, said, story, turn

from memstrata import Memstrata
from memstrata.cli import cli
from memstrata.domain.errors import StoreUnavailableError, VerificationFailedError

NEXT_STEPS = (
    "reload and decide again",
    "restore",
    "name another file with --db",
    "`memstrata doctor`",
    "`memstrata rebuild`",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the story and as many turns that its tables take several pages."""
    path = tmp_path_factory.mktemp("told") / "store.db"
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [*story(), *(turn(number) for number in range(10, 60))])
    return path


@pytest.fixture
def path(told: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(told, tmp_path / "store.db"))


def run(path: Path, *arguments: str) -> Result:
    """A command; whatever it comes to, it is no traceback."""
    done = CliRunner().invoke(cli, [*arguments, "--db", str(path), "--owner", OWNER])
    assert done.exception is None or isinstance(done.exception, SystemExit), (arguments, done.exception)
    return done


def pages_of(path: Path, name: str) -> list[int]:
    """Numbers (from 1) of the pages that only the table or index uses: its root, and the leaves below."""
    with closing(sqlite3.connect(path)) as raw:
        (root,) = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    content, size = path.read_bytes(), 4096
    page = content[(root - 1) * size : root * size]
    if page[0] not in (2, 5):  # a leaf has no pages below
        return [root]
    cells = int.from_bytes(page[3:5], "big")
    starts = [int.from_bytes(page[12 + 2 * n : 14 + 2 * n], "big") for n in range(cells)]
    return [root, *(int.from_bytes(page[start : start + 4], "big") for start in starts)]


def spoil(path: Path, page: int, offset: int = 0, length: int = 60) -> None:
    """Turn bytes of a page over."""
    with path.open("r+b") as file:
        at = (page - 1) * 4096 + offset
        file.seek(at)
        before = file.read(length)
        file.seek(at)
        file.write(bytes(byte ^ 0xA5 for byte in before))


def test_a_page_in_the_middle_of_the_log_is_named_by_its_first_position(path: Path) -> None:
    pages = pages_of(path, "event")
    assert len(pages) > 5
    spoil(path, pages[len(pages) // 2])

    verified, diagnosed = run(path, "verify", "--json"), run(path, "doctor")

    (report,) = (json.loads(line) for line in verified.stdout.splitlines())
    assert (verified.exit_code, diagnosed.exit_code) == (5, 5)
    assert (report["ok"], report["position"]) == (False, report["up_to"] + 1)
    assert 1 < report["position"] < 250
    assert "restore the store from a backup" in verified.stderr
    assert "damaged, restore it from a backup: event: " in diagnosed.stdout
    with Memstrata.open(str(path)) as memory, pytest.raises((StoreUnavailableError, VerificationFailedError)):
        memory.rebuild()


def test_a_byte_in_the_words_of_an_event_is_named_by_its_position(path: Path) -> None:
    content = path.read_bytes()
    with closing(sqlite3.connect(path)) as raw:
        state, position = raw.execute(
            "SELECT state, pos FROM event WHERE topic = 'memory.updated' LIMIT 1"
        ).fetchone()
    at = content.index(state) + len(state) // 2
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])

    verified = run(path, "verify", "--json")

    assert (verified.exit_code, json.loads(verified.stdout)["position"]) == (5, position)


TABLES = [
    "owner",
    "head",
    "meta",
    "policy",
    "projection",
    "memory",
    "decision",
    "batch",
    "recent_turn",
]


@pytest.mark.parametrize("table", ["event", *TABLES])
def test_doctor_names_the_table_that_is_damaged(path: Path, table: str) -> None:
    spoil(path, pages_of(path, table)[0])

    diagnosed = run(path, "doctor", "--json")

    checks = {one["check"]: one for one in json.loads(diagnosed.stdout)["checks"]}
    assert diagnosed.exit_code == 5
    assert not checks["file"]["ok"]
    assert checks["file"]["says"].startswith(f"damaged, restore it from a backup: {table}: ")


@pytest.mark.parametrize("index", ["sqlite_autoindex_event_1", "sqlite_autoindex_event_2", "event_owner"])
def test_doctor_names_the_table_whose_index_is_damaged(path: Path, index: str) -> None:
    spoil(path, pages_of(path, index)[0])

    diagnosed = run(path, "doctor")

    assert diagnosed.exit_code == 5
    assert "damaged, restore it from a backup: event: " in diagnosed.stdout


def test_a_damaged_beginning_looks_like_no_database(path: Path) -> None:
    spoil(path, 1)

    for command in (["list"], ["verify"], ["rebuild"], ["ingest", os.devnull], ["doctor"]):
        done = run(path, *command)
        assert done.exit_code == 1
        assert (
            "not a database, or its beginning is damaged; name another file with --db, or restore"
            in done.output
        )


COMMANDS = (
    ["list"],
    ["log"],
    ["batches"],
    ["verify"],
    ["doctor"],
    ["rebuild", "--check"],
    ["ingest", "TURNS"],
    ["rollback", "--session", "s3", "--yes"],
    ["rebuild"],
)


@pytest.mark.parametrize("seed", range(3))
def test_damage_anywhere_is_no_traceback(told: Path, tmp_path: Path, seed: int) -> None:
    turns = tmp_path / "turns.jsonl"
    turns.write_text(as_lines([turn(90)]), "utf-8")
    dice, whole = random.Random(seed), told.read_bytes()
    used = [start for start in range(0, len(whole), 64) if any(whole[start : start + 64])]
    refused = 0

    for number in range(6):
        path = tmp_path / f"{number}.db"
        path.write_bytes(whole)
        at = dice.choice(used)
        spoil(path, at // 4096 + 1, at % 4096, dice.choice([1, 4, 60]))
        for command in COMMANDS:
            done = run(path, *(str(turns) if word == "TURNS" else word for word in command))
            assert done.exit_code in (0, 1, 4, 5), command  # 4: damage can look like another writer
            refused += done.exit_code != 0
            if done.exit_code and command[0] != "doctor":
                assert any(step in done.stderr for step in NEXT_STEPS), (command, done.stderr)

    assert refused


@pytest.mark.parametrize("left", [100, 4096, 5000, 0.5, 0.99])
def test_a_file_that_was_cut_short_is_named(path: Path, left: float) -> None:
    os.truncate(path, int(left if left > 1 else path.stat().st_size * left))

    for command in (["list"], ["verify"], ["rebuild"]):
        done = run(path, *command)
        assert done.exit_code in (1, 5)
        assert any(step in done.stderr for step in NEXT_STEPS)
    assert run(path, "doctor").exit_code == 5


@pytest.mark.parametrize("spoiled", [0.3, 0.6, 0.999])
def test_what_a_damaged_write_ahead_log_loses_is_lost_whole_and_can_be_told_again(
    tmp_path: Path, spoiled: float
) -> None:
    path, left = tmp_path / "store.db", tmp_path / "left.db"
    with Memstrata.open(str(path)) as memory:
        for one in story():
            memory.ingest(OWNER, [one])
        every = produced(memory)
        # As a power cut would leave them: the index of the log is not part of what lies on the disk.
        shutil.copy(path, left)
        shutil.copy(f"{path}-wal", f"{left}-wal")
    log = Path(f"{left}-wal")
    spoil(log, 1, int(log.stat().st_size * spoiled))

    with Memstrata.open(str(left)) as memory:
        there = said(memory)
        assert there == list(every)[: len(there)]
        assert len(there) < len(every)
        assert produced(memory) == {session: every[session] for session in there}
        assert holds(memory)
        memory.ingest(OWNER, story())
        assert produced(memory) == every
        assert holds(memory)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE event SET stream_id = 'x' WHERE pos = 3",
        "UPDATE event SET recorded_at = 'x' WHERE pos = 3",
        "UPDATE event SET recorded_at = 1 << 62 WHERE pos = 3",
        "UPDATE event SET schema_version = 'x' WHERE pos = 3",
        "UPDATE event SET state = replace(state, '\"statement\"', '\"stAtement\"') WHERE pos = 3",
    ],
)
def test_an_event_that_cannot_be_read_is_named_by_every_reader(path: Path, change: str) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DROP TRIGGER event_no_update")
        raw.execute(change)

    for command in (["log"], ["verify"], ["rebuild"], ["rebuild", "--check"]):
        done = run(path, *command)
        assert done.exit_code == 5, (command, done.output)
        assert "position 3" in done.output
    assert run(path, "doctor").exit_code == 5


@pytest.mark.parametrize(
    ("change", "table"),
    [
        ("UPDATE head SET pos = 'x'", "head"),
        ("UPDATE head SET pos = -1", "head"),
        ("UPDATE head SET digest = 'x'", "head"),
        ("UPDATE head SET recorded_at = 'x'", "head"),
        ("UPDATE head SET part = 5", "head"),
        ("UPDATE meta SET value = 'x' WHERE name = 'format'", "meta"),
        ("UPDATE meta SET value = 'x' WHERE name = 'pepper'", "meta"),
        ("UPDATE meta SET value = x'ff' WHERE name = 'pepper'", "meta"),
        ("DELETE FROM meta WHERE name = 'partitions'", "meta"),
    ],
)
def test_a_store_that_says_nothing_sensible_of_itself_is_not_opened(
    path: Path, change: str, table: str
) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(change)

    with pytest.raises(
        StoreUnavailableError, match=f"the table {table} is damaged; restore it from a backup"
    ):
        Memstrata.open(str(path))


def test_a_damaged_checkpoint_is_put_right_by_the_next_opening(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE projection SET pos = 'x'")

    with Memstrata.open(str(path)) as memory:
        assert holds(memory)


def test_a_store_that_cannot_be_opened_leaves_no_file_open(path: Path) -> None:
    spoil(path, pages_of(path, "policy")[0])
    with pytest.raises(StoreUnavailableError, match="damaged; `memstrata doctor` says where"):
        Memstrata.open(str(path))

    assert [file.name for file in path.parent.iterdir()] == [path.name]  # the last one to close tidies up
