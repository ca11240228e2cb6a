"""How fast events are appended: the store, with digests and checks, against bare sqlite3.

All write rows of the same size into the same tables with the same indexes, pragmas and durability.

`log`: events alone. `sqlite3, rows ready` gets its rows ready-made: the disk's limit. `sqlite3, events
to JSON` turns the validated events into JSON first, as everybody must who stores them, and computes
nothing else.
`whole`: the events of the examples, with the projections in the same transactions. `sqlite3, the same
rows` is given everything that the store wrote, ready-made, transaction by transaction.
`group`: appends of one event from one caller, and from many who share transactions.
`read`: reading and verifying the log.

Rounds are interleaved, and the best of each counts, because a shared machine's disk is slower at some
moments than at others. `--cpu` counts processor time instead: it can be compared while others work.

    python benchmarks/append.py [--only log|whole|group|read] [--rounds 5] [--durability full|fast]
                                [--cpu] [--folder DIR] [--json]
"""

import argparse
import gc
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pydantic_core

from memstrata import Memstrata
from memstrata.adapters.importers import Defaults, read_turns
from memstrata.adapters.storage import SqlEventStore, UuidSevenIds, open_store
from memstrata.domain.events import Created
from memstrata.domain.evidence import Evidence, Span
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.scope import GLOBAL
from memstrata.domain.statement import Provenance, Statement
from memstrata.domain.stream import NewEvent

ROOT = Path(__file__).resolve().parent.parent
OWNER = Owner(tenant="bench", user="one")
COLUMNS, STATE = 13, 10
READY, JSON, SAME = "sqlite3, rows ready", "sqlite3, events to JSON", "sqlite3, the same rows"
Row = tuple[object, ...]


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


IDS = UuidSevenIds(SystemClock())


@dataclass(frozen=True)
class Figure:
    """Events per second, best round; `ratio` is to bare sqlite3 doing the same, or to one caller."""

    what: str
    events_per_transaction: int
    events_per_second: int
    ratio: float | None = None


@dataclass(frozen=True)
class Setting:
    """How often, how durable, where, and by which watch."""

    rounds: int
    durability: str
    folder: Path
    watch: Callable[[], float]

    def seconds(self, action: Callable[[], object]) -> float:
        gc.collect()
        gc.freeze()  # the events that wait to be written are the benchmark's, not the store's
        started = self.watch()
        action()
        return self.watch() - started

    def best(self, what: dict[str, Callable[[Path], float]]) -> dict[str, float]:
        """The least seconds of each, in interleaved rounds; each gets a path of its own."""
        least: dict[str, float] = {}
        for _ in range(self.rounds):
            for name, action in what.items():
                least[name] = min(least.get(name, float("inf")), action(self.folder / "measured.db"))
                for file in self.folder.glob("measured.db*"):
                    file.unlink()
        return least

    @contextmanager
    def bare(self, path: Path) -> Iterator[sqlite3.Connection]:
        """A connection like the store's."""
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA synchronous = {'FULL' if self.durability == 'full' else 'NORMAL'}")
            connection.execute("PRAGMA wal_autocheckpoint = 16000")
            connection.execute("PRAGMA cache_size = -65536")
            yield connection

    def store(self, path: Path, **options: Any) -> SqlEventStore:
        return open_store(str(path), clock=SystemClock(), durability=self.durability, **options)  # type: ignore[arg-type]


# --- the log alone -----------------------------------------------------------------------------------


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


def bare(
    setting: Setting, path: Path, rows: Sequence[Row], batches: Sequence[Append], to_json: bool
) -> float:
    """Seconds that sqlite3 alone takes for the rows of these appends in the same tables."""
    setting.store(path).close()
    insert = f"INSERT INTO event VALUES ({','.join('?' * COLUMNS)})"
    with setting.bare(path) as connection:

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

        return setting.seconds(write)


def ours(setting: Setting, path: Path, batches: Sequence[Append]) -> float:
    """Seconds that the store takes, from validated events to durable rows."""
    with setting.store(path) as store:
        return setting.seconds(lambda: [store.append(batch) for batch in batches])


def rows_of(setting: Setting, batches: Sequence[Append]) -> list[Row]:
    path = setting.folder / "rows.db"
    with setting.store(path) as store:
        store.append_many(batches)
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM event ORDER BY pos").fetchall()


def log(setting: Setting, per_transaction: int, count: int) -> list[Figure]:
    batches = appends(count, per_transaction)
    rows = rows_of(setting, batches)
    best = setting.best(
        {
            READY: lambda path: bare(setting, path, rows, batches, to_json=False),
            JSON: lambda path: bare(setting, path, rows, batches, to_json=True),
            "store": lambda path: ours(setting, path, batches),
        }
    )
    return figures_of(best, per_transaction, count, JSON)


def figures_of(best: dict[str, float], per_transaction: int, count: int, against: str) -> list[Figure]:
    return [
        Figure(name, per_transaction, round(count / taken), round(best[against] / taken, 2))
        for name, taken in best.items()
    ]


# --- with the projections ----------------------------------------------------------------------------


@dataclass
class Written:
    """What a program wrote, as statements with the rows of each, by transaction."""

    transactions: list[dict[str, list[Any]]] = field(default_factory=list)
    open: dict[str, list[Any]] = field(default_factory=dict)

    def note(self, sql: str, rows: Sequence[Any]) -> None:
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            self.open.setdefault(sql, []).extend(rows)
        elif sql == "COMMIT":
            self.commit()

    def commit(self) -> None:
        if self.open:
            self.transactions.append(self.open)
        self.open = {}


@contextmanager
def recording() -> Iterator[Written]:
    """Note what is written on connections that are opened in the body."""
    written, connect = Written(), sqlite3.connect

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            written.note(sql, [parameters])
            return super().execute(sql, parameters)

        def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
            rows = list(parameters)
            written.note(sql, rows)
            return super().executemany(sql, rows)

    class Recording(sqlite3.Connection):
        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def commit(self) -> None:
            super().commit()
            written.commit()

    sqlite3.connect = lambda *given, **named: connect(*given, factory=Recording, **named)
    try:
        yield written
    finally:
        sqlite3.connect = connect


def history(count: int, folder: Path) -> list[Append]:
    """The events of the examples, one append each; they are taken in again for further owners."""
    histories = [
        [placed.turn for placed in read_turns(path.read_bytes(), Defaults()).turns]
        for path in sorted((ROOT / "examples").glob("*.jsonl"))
    ]
    owners: dict[bytes, Owner] = {}
    with Memstrata.open(str(folder / "history.db"), durability="fast") as memory:
        while memory.store.head_position() < count:
            for turns in histories:
                owner = Owner(tenant="bench", user=str(len(owners)))
                owners[memory.store.owner_ref(owner)] = owner
                memory.ingest(owner, turns)
        return [
            Append(owners[one.owner_ref], [NewEvent(one.stream_id, one.stream_version, one.event)], None)
            for one in memory.store.read_log(limit=count)
        ]


def joined(singles: Sequence[Append], per_transaction: int) -> list[list[Append]]:
    """The same events in transactions of so many; what is one owner's in a row is one append."""
    return [
        [
            Append(owner, [event for append in run for event in append.events], None)
            for owner, run in groupby(
                singles[start : start + per_transaction], key=lambda append: append.owner
            )
        ]
        for start in range(0, len(singles), per_transaction)
    ]


def whole(setting: Setting, per_transaction: int, count: int) -> list[Figure]:
    """The store with its projections, and sqlite3 writing the same rows."""
    with tempfile.TemporaryDirectory(dir=setting.folder) as name:
        batches = joined(history(count, Path(name)), per_transaction)
    first = setting.folder / "first.db"
    with recording() as written, Memstrata.open(str(first), durability="fast") as memory:
        written.transactions.clear()
        for batch in batches:
            memory.store.append_many(batch)
        transactions = written.transactions
    assert len(transactions) == len(batches)
    expected = contents(first)

    def same_rows(path: Path) -> float:
        Memstrata.open(str(path)).close()
        with setting.bare(path) as connection:

            def write() -> None:
                for transaction in transactions:
                    connection.execute("BEGIN IMMEDIATE")
                    for sql, rows in transaction.items():
                        connection.executemany(sql, rows)
                    connection.execute("COMMIT")

            taken = setting.seconds(write)
        assert contents(path) == expected, "sqlite3 wrote something else"
        return taken

    def with_projections(path: Path) -> float:
        with Memstrata.open(str(path), durability=setting.durability) as memory:  # type: ignore[arg-type]
            store = memory.store
            return setting.seconds(lambda: [store.append_many(batch) for batch in batches])

    best = setting.best({SAME: same_rows, "store, projections inline": with_projections})
    first.unlink()
    return figures_of(best, per_transaction, count, SAME)


def contents(path: Path) -> dict[str, list[Row]]:
    """All rows of the tables that appends write."""
    with closing(sqlite3.connect(path)) as connection:
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
            for name in names
            if name not in ("meta", "policy")
        }


# --- many callers, and reading -----------------------------------------------------------------------


def grouped(setting: Setting, threads: int, count: int) -> list[Figure]:
    """Appends of one event: from one caller, and from many threads that share transactions."""

    def from_threads(path: Path, callers: int, batches: Sequence[Append]) -> float:
        with setting.store(path, group_commit=True) as store, ThreadPoolExecutor(callers) as pool:
            if callers == 1:
                return setting.seconds(lambda: [store.append(batch) for batch in batches])
            return setting.seconds(lambda: list(pool.map(store.append, batches)))

    few, many = appends(count // 4, 1), appends(count, 1)
    best = setting.best(
        {
            "one": lambda path: from_threads(path, 1, few) * len(many) / len(few),
            "many": lambda path: from_threads(path, threads, many),
        }
    )
    return [
        Figure("store, group commit, 1 caller", 1, round(count / best["one"])),
        Figure(
            f"store, group commit, {threads} callers",
            1,
            round(count / best["many"]),
            round(best["one"] / best["many"], 2),
        ),
    ]


def reading(setting: Setting, count: int) -> list[Figure]:
    """Reading the log from its start, in pages of 1,000, and verifying it."""
    with setting.store(setting.folder / "read.db") as store:
        store.append_many(appends(count, 1_000))

        def paged(read: Callable[..., Sequence[object]]) -> None:
            for after in range(0, count, 1_000):
                read(after_position=after, limit=1_000)

        best = setting.best(
            {
                "read, payloads trusted": lambda _: setting.seconds(lambda: paged(store.read_log_trusted)),
                "read, events validated": lambda _: setting.seconds(lambda: paged(store.read_log)),
                "verify": lambda _: setting.seconds(lambda: checked(store)),
            }
        )
    return [Figure(name, 1_000, round(count / taken)) for name, taken in best.items()]


def checked(store: SqlEventStore) -> None:
    report = store.verify()
    assert report.ok, report


PARTS: dict[str, Callable[[Setting], list[Figure]]] = {
    "log": lambda setting: log(setting, 1, 1_000) + log(setting, 1_000, 20_000),
    "whole": lambda setting: whole(setting, 1, 1_000) + whole(setting, 1_000, 5_000),
    "group": lambda setting: grouped(setting, 64, 4_000),
    "read": lambda setting: reading(setting, 20_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Append to the store and to bare sqlite3, interleaved.")
    parser.add_argument("--only", choices=PARTS, action="append", help="may be given several times")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--durability", choices=("full", "fast"), default="full")
    parser.add_argument("--cpu", action="store_true", help="count processor time, waiting left out")
    parser.add_argument(
        "--folder", type=Path, help="where the databases are written; default: a temporary one"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    figures: list[Figure] = []
    for part in options.only or PARTS:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            watch = time.process_time if options.cpu else time.perf_counter
            figures += PARTS[part](Setting(options.rounds, options.durability, Path(name), watch))
    if options.json:
        print(json.dumps({"durability": options.durability, "figures": [asdict(f) for f in figures]}))
        return
    kind = "processor time" if options.cpu else "time"
    print(f"durability {options.durability}, {kind}, best of {options.rounds} interleaved rounds")
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:8.0%}"
        print(f"{figure.what:34}{figure.events_per_transaction:7,}/tx{figure.events_per_second:10,}/s{ratio}")


if __name__ == "__main__":
    main()
