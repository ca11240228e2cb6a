"""How fast events are appended: the store, with digests and checks, against bare sqlite3.

All write rows of the same size into the same tables with the same indexes, pragmas and durability.
`sqlite3, rows ready` gets its rows ready-made: the disk's limit. `sqlite3, events to JSON` turns the
validated events into JSON first, as everybody must who stores them, and computes nothing else. Rounds
are interleaved, and the best of each counts, because a shared machine's disk is slower at some moments
than at others.

    python benchmarks/append.py [--rounds 5] [--durability full|fast] [--folder DIR] [--json]
"""

import argparse
import gc
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import pydantic_core

from memstrata.adapters.storage import SqlEventStore, UuidSevenIds, open_store
from memstrata.domain.events import Created
from memstrata.domain.evidence import Evidence, Span
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.scope import GLOBAL
from memstrata.domain.statement import Provenance, Statement
from memstrata.domain.stream import NewEvent

OWNER = Owner(tenant="bench", user="one")
COLUMNS, STATE = 13, 10
READY, JSON = "sqlite3, rows ready", "sqlite3, events to JSON"
Row = tuple[object, ...]


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


IDS = UuidSevenIds(SystemClock())


@dataclass(frozen=True)
class Figure:
    """Events per second, best round; `ratio` is to `sqlite3, events to JSON`."""

    what: str
    events_per_transaction: int
    events_per_second: int
    ratio: float | None = None


def created(number: int) -> Created:
    now, turn = datetime.now(UTC), IDS.new_id()
    quote = f"Let us keep the weekly report number {number} below one page from now on"
    statement = Statement(
        attribute="report_length",
        type="preference",
        content=f"Weekly report number {number} stays below one page",
        value="one page",
        scope=GLOBAL,
        confidence=0.92,
        importance=3,
        valid_from=now,
        evidence=(Evidence(turn_id=turn, spans=(Span(start=0, end=len(quote)),), quotes=(quote,)),),
        provenance=Provenance(
            turn_id=turn,
            session="s1",
            said_at=now,
            zone="UTC",
            channel="rule",
            extractor="rules",
            rule="benchmark",
            source="explicit_user_statement",
        ),
    )
    return Created(actor="user", correlation_id=turn, policy="p" * 64, said_at=now, statement=statement)


def appends(count: int, per_transaction: int) -> list[Append]:
    events = [NewEvent(IDS.new_id(), 1, created(number)) for number in range(count)]
    return [
        Append(OWNER, events[start : start + per_transaction], None)
        for start in range(0, count, per_transaction)
    ]


def seconds(action: Callable[[], object]) -> float:
    gc.collect()
    gc.freeze()  # the events that wait to be written are the benchmark's, not the store's
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def bare(
    path: Path, rows: Sequence[Row], batches: Sequence[Append], durability: str, *, to_json: bool
) -> float:
    """Seconds that sqlite3 alone takes for the rows of these appends in the same tables."""
    open_store(str(path), clock=SystemClock()).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA synchronous = {'FULL' if durability == 'full' else 'NORMAL'}")
        connection.execute("PRAGMA wal_autocheckpoint = 16000")
        connection.execute("PRAGMA cache_size = -65536")
        insert = f"INSERT INTO event VALUES ({','.join('?' * COLUMNS)})"

        def write() -> None:
            start = 0
            for batch in batches:
                chosen = rows[start : start + len(batch.events)]
                if to_json:
                    chosen = [
                        (*row[:STATE], pydantic_core.to_json(new.event, exclude_none=True), *row[STATE + 1 :])
                        for row, new in zip(chosen, batch.events, strict=True)
                    ]
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(insert, chosen)
                connection.execute("COMMIT")
                start += len(chosen)

        return seconds(write)


def ours(path: Path, batches: Sequence[Append], durability: str) -> float:
    """Seconds that the store takes, from validated events to durable rows."""
    with open_store(str(path), clock=SystemClock(), durability=durability) as store:  # type: ignore[arg-type]
        return seconds(lambda: [store.append(batch) for batch in batches])


def rows_of(batches: Sequence[Append], folder: Path) -> list[Row]:
    path = folder / "rows.db"
    with open_store(str(path), clock=SystemClock(), durability="fast") as store:
        store.append_many(batches)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT * FROM event ORDER BY pos").fetchall()
    path.unlink()
    return rows


def compared(per_transaction: int, count: int, rounds: int, durability: str, folder: Path) -> list[Figure]:
    batches = appends(count, per_transaction)
    rows = rows_of(batches, folder)
    best: dict[str, float] = {}
    for number in range(rounds):
        took = {
            READY: bare(folder / f"r{number}.db", rows, batches, durability, to_json=False),
            JSON: bare(folder / f"j{number}.db", rows, batches, durability, to_json=True),
            "store": ours(folder / f"s{number}.db", batches, durability),
        }
        best = {name: min(best.get(name, time_taken), time_taken) for name, time_taken in took.items()}
        for file in folder.glob("*.db*"):
            file.unlink()
    return [
        Figure(name, per_transaction, round(count / time_taken), round(best[JSON] / time_taken, 2))
        for name, time_taken in best.items()
    ]


def grouped(threads: int, count: int, rounds: int, durability: str, folder: Path) -> Figure:
    """Appends of one event from many threads that share transactions."""
    best = float("inf")
    for number in range(rounds):
        batches, path = appends(count, 1), str(folder / f"group{number}.db")
        with (
            open_store(path, clock=SystemClock(), durability=durability, group_commit=True) as store,  # type: ignore[arg-type]
            ThreadPoolExecutor(threads) as pool,
        ):
            best = min(
                best,
                seconds(
                    lambda store=store, pool=pool, batches=batches: list(pool.map(store.append, batches))
                ),
            )
    return Figure(f"store, group commit, {threads} threads", 1, round(count / best))


def reading(count: int, rounds: int, folder: Path) -> list[Figure]:
    """Reading the log from its start, in pages of 1,000, and verifying it."""
    with open_store(str(folder / "read.db"), clock=SystemClock(), durability="fast") as store:
        store.append_many(appends(count, 1_000))

        def paged(read: Callable[..., Sequence[object]]) -> None:
            for after in range(0, count, 1_000):
                read(after_position=after, limit=1_000)

        actions = {
            "read, payloads trusted": lambda: paged(store.read_log_trusted),
            "read, events validated": lambda: paged(store.read_log),
            "verify": lambda: checked(store),
        }
        best = {name: min(seconds(action) for _ in range(rounds)) for name, action in actions.items()}
    return [Figure(name, 1_000, round(count / time_taken)) for name, time_taken in best.items()]


def checked(store: SqlEventStore) -> None:
    report = store.verify()
    assert report.ok, report


def main() -> None:
    parser = argparse.ArgumentParser(description="Append to the store and to bare sqlite3, interleaved.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--durability", choices=("full", "fast"), default="full")
    parser.add_argument(
        "--folder", type=Path, help="where the databases are written; default: a temporary one"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        figures = compared(1, 1_000, options.rounds, options.durability, folder)
        figures += compared(1_000, 20_000, options.rounds, options.durability, folder)
        figures.append(grouped(32, 2_000, options.rounds, options.durability, folder))
        figures += reading(20_000, options.rounds, folder)
    if options.json:
        print(json.dumps({"durability": options.durability, "figures": [asdict(f) for f in figures]}))
        return
    print(f"durability {options.durability}, best of {options.rounds} interleaved rounds")
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:8.0%}"
        print(f"{figure.what:34}{figure.events_per_transaction:7,}/tx{figure.events_per_second:10,}/s{ratio}")


if __name__ == "__main__":
    main()
