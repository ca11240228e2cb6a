"""Run as a program: starts the real command line again and again, and kills it where it is told to.

A start costs half a second of imports, a kill nothing. So everything is imported and tried once, here,
and each run is a fork of this process. That is safe because a fork shares nothing that is open: no thread,
no socket and no database (SQLite's locks and connections must not cross a fork; the store that is tried
here lies in memory and is closed). Each run opens its store itself and ends by `_exit` or by the kill.
Nothing of the product is changed: to be killed between two statements, a run lets SQLAlchemy's public
event for new connections set SQLite's own trace callback.

One JSON object a line on standard input asks for a run, one answers it:

    arguments   of the command line, or of `serve` below
    at          kill at this point, see `Points`
    steps       kill after so many hundreds of steps of SQLite's virtual machine, within a statement
    after       kill after so many seconds
    lines       begin to count the seconds when so many lines were answered

    status      exit status, -9 for a kill
    out, err    what it wrote
    points      how many points it passed; None for a run that was killed
"""

import importlib
import json
import os
import pkgutil
import select
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from typing import Any, NoReturn

from sqlalchemy import event
from sqlalchemy.pool import Pool
from telling import OWNER, story

import memstrata.cli
from memstrata import Memstrata, Selector, Turn

WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "COMMIT")


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process goes on")


class Points:
    """Counts the places at which what a crash leaves can differ from the place before.

    Those are: before each statement that writes, before each commit, after each commit, and the end.
    """

    def __init__(self, fatal: int | None) -> None:
        self.passed, self._fatal, self._committed = 0, fatal, False

    def statement(self, sql: str) -> None:
        first = sql.lstrip().partition(" ")[0].upper()
        if first.startswith(WRITES) or self._committed:
            self.reach()
        self._committed = first.startswith("COMMIT")

    def reach(self) -> None:
        self.passed += 1
        if self.passed == self._fatal:
            die()


def watch(points: Points, steps: int | None) -> None:
    """Let every connection that is opened from now on report its statements, or end after so many steps."""
    left = [steps or 0]

    def step() -> None:
        left[0] -= 1
        if left[0] == 0:
            die()

    def opened(connection: sqlite3.Connection, _: object) -> None:
        if steps is None:
            connection.set_trace_callback(points.statement)
        else:
            connection.set_progress_handler(step, 100)

    event.listen(Pool, "connect", opened)


def serve(path: str, first: str, owners: str) -> None:
    """A service: one thread for each owner says turns from `first` on for ever, and tells each answer."""

    def talk(owner: str) -> None:
        number = int(first)
        while True:
            turn = Turn(user=f"我喜欢吃第{number}号菜", session=f"s{number}", message_id="m1")
            (report,) = memory.ingest(owner, [turn]).turns
            os.write(1, f"{owner} {report.session} {report.status}\n".encode())
            number += 1

    with Memstrata.open(path, group_commit=True) as memory:
        threads = [threading.Thread(target=talk, args=(f"acme/{n}",)) for n in range(int(owners))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def run(arguments: list[str], points: Points) -> int:
    if arguments[0] == "serve":
        serve(*arguments[1:])
        return 0
    sys.argv = ["memstrata", *arguments]
    try:
        memstrata.cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    points.reach()
    return 0


def child(asked: dict[str, Any], out: int, err: int, passed: int) -> NoReturn:
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
    points, status = Points(asked.get("at")), 70
    try:
        watch(points, asked.get("steps"))
        status = run(asked["arguments"], points)
        points.reach()
        os.write(passed, str(points.passed).encode())
    except BaseException:  # noqa: BLE001 - not handled: shown, since this process is left by `_exit`
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(status)


def started(asked: dict[str, Any]) -> dict[str, Any]:
    read_out, out = os.pipe()
    read_passed, passed = os.pipe()
    with tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            child(asked, out, err.fileno(), passed)
        os.close(out)
        os.close(passed)
        said = watched(pid, read_out, asked.get("after"), asked.get("lines", 0))
        _, status = os.waitpid(pid, 0)
        points = os.read(read_passed, 20)
        os.close(read_out)
        os.close(read_passed)
        err.seek(0)
        talk = err.read().decode()
    return {
        "status": os.waitstatus_to_exitcode(status),
        "out": said.decode(),
        "err": talk,
        "points": int(points) if points else None,
    }


def watched(pid: int, out: int, after: float | None, lines: int) -> bytes:
    """All that the run writes; it is killed when its time is over."""
    said, deadline = b"", None
    while True:
        if after is not None and deadline is None and said.count(b"\n") >= lines:
            deadline = time.monotonic() + after
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([out], [], [], wait)
        if not ready:
            os.kill(pid, signal.SIGKILL)
            after, deadline = None, None
            lines = sys.maxsize
            continue
        more = os.read(out, 65536)
        if not more:
            return said
        said += more


def warm() -> None:
    """Load everything that a run will need, and let it find its words and patterns."""
    for module in pkgutil.walk_packages(memstrata.__path__, "memstrata."):
        if not module.name.startswith(UNUSED):
            importlib.import_module(module.name)
    with Memstrata.open("sqlite://") as memory:
        memory.ingest(OWNER, story())
        report = memory.apply(
            OWNER, memory.plan_rollback(OWNER, Selector(session="s5")), actor="nobody", reason="warm"
        )
        assert report.batch_id
        memory.plan_undo(OWNER, report.batch_id)
        memory.rebuild()


UNUSED = tuple(
    f"memstrata.{name}" for name in ("__main__", "tests", "benchmarks", "docs", "build", "examples")
)
"""Below the root of the package, but no part of it."""


def main() -> None:
    warm()
    for line in sys.stdin:
        print(json.dumps(started(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
