"""How fast every projection is rebuilt, how that grows, and how much memory it takes.

The store holds copies of what the examples leave (see `filling.py`) for as many owners as it takes. Each
measurement is a process of its own: it opens the store, rebuilds it once so that there are live rows to
compare with, and then measures `rounds` rebuilds: reading the log, folding, writing the new tables beside
the live ones, comparing both, swapping. Memory is the greatest of the process and of its helper.

`sqlite3` writes the rows that came out, ready-made, into equal tables: the disk's limit.

    python benchmarks/rebuild.py [--events 1000 10000 100000 1000000] [--rounds 2] [--folder DIR] [--json]
"""

import argparse
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from filling import filled_store

from memstrata import Memstrata

TABLES = ("memory", "memory_period", "decision", "batch")


@dataclass(frozen=True)
class Figure:
    """Medians of the rounds. `processor` counts the process and its helper."""

    events: int
    rows: int
    seconds: float
    events_per_second: int
    processor_seconds: float
    sqlite_seconds: float
    peak_megabytes: int


def processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def written_bare(source: Path, target: Path) -> tuple[int, float]:
    """Rows, and the seconds that sqlite3 takes for them in one transaction."""
    rows = {}
    with closing(sqlite3.connect(source)) as connection:
        for table in TABLES:
            (ddl,) = connection.execute("select sql from sqlite_master where name = ?", (table,)).fetchone()
            rows[table] = (ddl, connection.execute(f"select * from {table}").fetchall())
    started = time.perf_counter()
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=full")
        with connection:
            for table, (ddl, values) in rows.items():
                connection.execute(ddl)
                if values:
                    marks = ",".join("?" * len(values[0]))
                    connection.executemany(f"insert into {table} values ({marks})", values)
    return sum(len(values) for _, values in rows.values()), time.perf_counter() - started


def measured(path: Path, rounds: int) -> dict[str, float]:
    """Runs in a process of its own."""
    with Memstrata.open(str(path)) as memory:  # which rebuilds what was written without projections
        seconds, busy = [], []
        for _ in range(rounds):
            started, used = time.perf_counter(), processor()
            report = memory.rebuild()
            seconds.append(time.perf_counter() - started)
            busy.append(processor() - used)
            assert report.same, "a rebuild gave other rows than the one before"
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(kind).ru_maxrss for kind in kinds)
    return {
        "events": report.events,
        "seconds": statistics.median(seconds),
        "processor": statistics.median(busy),
        "peak": peak // 1024,
    }


def measure(events: int, rounds: int, folder: Path) -> Figure:
    path = folder / f"{events}.db"
    filled_store(path, events)
    command = [sys.executable, __file__, "--measure", str(path), "--rounds", str(rounds)]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    rows, limit = written_bare(path, folder / f"{events}-bare.db")
    return Figure(
        events=found["events"],
        rows=rows,
        seconds=round(found["seconds"], 2),
        events_per_second=round(found["events"] / found["seconds"]),
        processor_seconds=round(found["processor"], 2),
        sqlite_seconds=round(limit, 2),
        peak_megabytes=found["peak"],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", help="where the files are written (default: a temporary folder)")
    parser.add_argument("--json", action="store_true", help="one JSON object for each number of events")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(Path(options.measure), options.rounds)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for events in options.events:
            figure = asdict(measure(events, options.rounds, Path(folder)))
            print(json.dumps(figure) if options.json else "  ".join(f"{k} {v}" for k, v in figure.items()))


if __name__ == "__main__":
    main()
