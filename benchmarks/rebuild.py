"""How fast every projection is rebuilt, against bare sqlite3 writing the same rows.

The store holds the examples' turns, taken in again and again for further owners until there are
enough events. `rebuild` reads the log, folds it, writes shadow tables, compares and swaps. `sqlite3`
writes the rows that came out, ready-made, into equal tables with the same indexes: the disk's limit.

    python benchmarks/rebuild.py [--events 20000] [--rounds 3] [--folder DIR] [--json]
"""

import argparse
import json
import resource
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from memstrata import Memstrata
from memstrata.adapters.importers import Defaults, read_turns

ROOT = Path(__file__).resolve().parent.parent
TABLES = ("memory", "memory_version", "memory_period", "decision", "turn", "batch")


@dataclass(frozen=True)
class Figure:
    """Medians of the rounds; `ratio` is sqlite3's time over the rebuild's."""

    events: int
    rows: int
    rebuild_seconds: float
    events_per_second: int
    sqlite_seconds: float
    ratio: float
    peak_megabytes: int


def filled(folder: Path, events: int) -> Memstrata:
    """A store with at least so many events."""
    memory = Memstrata.open(str(folder / "store.db"), durability="fast")
    histories = [
        [placed.turn for placed in read_turns(path.read_bytes(), Defaults()).turns]
        for path in sorted((ROOT / "examples").glob("*.jsonl"))
    ]
    owner = 0
    while memory.store.head_position() < events:
        for turns in histories:
            owner += 1
            memory.ingest(f"bench/{owner}", turns)
    return memory


def raw_rows(path: Path) -> dict[str, tuple[str, list[str], list[tuple[object, ...]]]]:
    """Of each projection table: its DDL, the DDL of its indexes, and its rows."""
    found = {}
    with closing(sqlite3.connect(path)) as connection:
        for table in TABLES:
            query = "select sql from sqlite_master where tbl_name = ? and type = ? and sql is not null"
            ddl = [sql for (sql,) in connection.execute(query, (table, "table"))]
            indexes = [sql for (sql,) in connection.execute(query, (table, "index"))]
            if ddl:
                found[table] = (ddl[0], indexes, connection.execute(f"select * from {table}").fetchall())
    return found


def written_bare(path: Path, rows: dict[str, tuple[str, list[str], list[tuple[object, ...]]]]) -> float:
    """Seconds that sqlite3 takes for the same rows in one transaction, indexes last."""
    started = time.perf_counter()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=full")
        with connection:
            for ddl, indexes, values in rows.values():
                connection.execute(ddl)
                if values:
                    marks = ",".join("?" * len(values[0]))
                    table = ddl.split("(")[0].split()[-1]
                    connection.executemany(f"insert into {table} values ({marks})", values)
                for index in indexes:
                    connection.execute(index)
    return time.perf_counter() - started


def measure(events: int, rounds: int, folder: Path) -> Figure:
    memory = filled(folder, events)
    path = folder / "store.db"
    rebuilt, bare = [], []
    for number in range(rounds):
        started = time.perf_counter()
        report = memory.rebuild()
        rebuilt.append(time.perf_counter() - started)
        assert report.same, "a rebuild gave other rows than the appends"
        rows = raw_rows(path)
        bare.append(written_bare(folder / f"bare-{number}.db", rows))
    memory.close()
    seconds, limit = statistics.median(rebuilt), statistics.median(bare)
    return Figure(
        events=report.events,
        rows=sum(len(values) for _, _, values in rows.values()),
        rebuild_seconds=round(seconds, 2),
        events_per_second=round(report.events / seconds),
        sqlite_seconds=round(limit, 2),
        ratio=round(limit / seconds, 3),
        peak_megabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where the files are written (default: a temporary folder)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        figure = measure(options.events, options.rounds, Path(folder))
    if options.json:
        print(json.dumps(asdict(figure)))
        return
    for name, value in asdict(figure).items():
        print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
