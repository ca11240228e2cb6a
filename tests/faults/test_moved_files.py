"""Files that are removed or replaced while they are open: nothing is acknowledged into the lost ones."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.telling import OWNER, holds, said, turn

from memstrata import Memstrata
from memstrata.domain.errors import StoreUnavailableError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems do not let go of open files")


def aside(path: Path) -> Path:
    return path.with_name("aside.db")


def by_nothing(path: Path) -> None:
    path.unlink()


def by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def by_an_empty_file(path: Path) -> None:
    path.unlink()
    path.touch()


def by_a_copy_of_itself(path: Path) -> None:
    shutil.copy(path, aside(path))
    os.replace(aside(path), path)


def by_another_store(path: Path) -> None:
    with Memstrata.open(str(aside(path))) as other:
        other.ingest(OWNER, [turn(7)])
    os.replace(aside(path), path)


def without_its_log(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def without_the_index_of_its_log(path: Path) -> None:
    path.with_name(path.name + "-shm").unlink()


@pytest.mark.parametrize("group_commit", [False, True], ids=["alone", "grouped"])
@pytest.mark.parametrize(
    "replaced",
    [
        by_nothing,
        by_a_folder,
        by_an_empty_file,
        by_a_copy_of_itself,
        by_another_store,
        without_its_log,
        without_the_index_of_its_log,
    ],
)
def test_a_store_that_is_taken_away_takes_nothing_more(
    path: Path, replaced: Callable[[Path], None], group_commit: bool
) -> None:
    with Memstrata.open(str(path), group_commit=group_commit) as memory:
        memory.ingest(OWNER, [turn(1)])
        replaced(path)

        for _ in range(2):
            with pytest.raises(
                StoreUnavailableError, match="removed or replaced while it was open; put it back"
            ):
                memory.ingest(OWNER, [turn(2)])
        with pytest.raises(StoreUnavailableError, match="removed or replaced"):
            memory.memories(OWNER)


def test_a_file_that_goes_while_it_is_written_is_not_acknowledged(path: Path) -> None:
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [turn(1)])

        def lose_it_while_writing() -> None:
            with memory.store.writing() as connection:
                connection.exec_driver_sql("UPDATE meta SET value = value")
                path.unlink()

        with pytest.raises(StoreUnavailableError, match="removed or replaced while it was open"):
            lose_it_while_writing()


def test_nothing_is_begun_on_a_file_that_is_gone(path: Path) -> None:
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [turn(1)])
        path.unlink()

        with (
            pytest.raises(StoreUnavailableError, match="removed or replaced"),
            memory.store.writing(),
        ):
            pytest.fail("the transaction began")


def test_a_file_that_is_taken_away_is_not_made_anew(path: Path) -> None:
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [turn(1)])
        path.unlink()

        with pytest.raises(StoreUnavailableError):
            memory.memories(OWNER)

    assert not path.exists()


def test_a_file_that_is_put_back_holds_everything_acknowledged_and_takes_more(path: Path) -> None:
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [turn(1)])
        os.rename(path, aside(path))
        with pytest.raises(StoreUnavailableError):
            memory.ingest(OWNER, [turn(2)])
        os.rename(aside(path), path)

        assert said(memory) == ["s1"]
        assert [one.status for one in memory.ingest(OWNER, [turn(1), turn(2)]).turns] == ["known", "new"]

    with Memstrata.open(str(path)) as again:
        assert said(again) == ["s1", "s2"]
        assert holds(again)


def test_a_store_whose_log_was_removed_keeps_what_was_acknowledged(path: Path) -> None:
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [turn(1)])
        without_its_log(path)
        with pytest.raises(StoreUnavailableError):
            memory.ingest(OWNER, [turn(2)])

    with Memstrata.open(str(path)) as again:
        assert said(again) == ["s1"]
        assert holds(again)


def test_the_store_that_came_in_place_is_left_as_it_is(path: Path) -> None:
    with Memstrata.open(str(aside(path))) as other:
        other.ingest(OWNER, [turn(7)])
    came = aside(path).read_bytes()
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [turn(1)])
        os.replace(aside(path), path)
        with pytest.raises(StoreUnavailableError):
            memory.ingest(OWNER, [turn(2)])

    assert path.read_bytes() == came


def test_the_command_line_says_so_in_one_line(path: Path) -> None:
    command = [sys.executable, "-m", "memstrata", "chat", "--db", str(path), "--owner", OWNER, "--json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write("我住在成都\n")
        program.stdin.flush()
        assert '"status": "new"' in program.stdout.readline()
        path.unlink()
        out, err = program.communicate("我住在绵阳\n", timeout=60)

    assert (program.returncode, out) == (1, "")
    assert "removed or replaced while it was open; put it back" in err.splitlines()[-1]
    assert "Traceback" not in err
