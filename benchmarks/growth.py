"""How the cost of one append grows with the store: with its events, its owners, and one stream's length.

A store is filled in bulk to each size in turn; then single events are appended, each in a transaction of
its own. `log` is the event store alone, `whole` the store with its projections in the same transaction.
Medians, so that neither a checkpoint of the write-ahead log nor a moment of somebody else's counts.

    python benchmarks/growth.py [--most 100000] [--longest 10000] [--only events|owners|chain]
                                [--appends 200] [--durability full|fast] [--folder DIR] [--json]
"""

import argparse
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path

from append import IDS, SystemClock, created

from memstrata import Memstrata
from memstrata.adapters.storage import SqlEventStore, open_store
from memstrata.domain.events import Event, Updated
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent

BULK = 1_000
OWNERS = 100
"""Owners among whom the events are spread where their number is not what is measured."""

SAMPLES = [created(number) for number in range(BULK)]


@dataclass(frozen=True)
class Figure:
    """Medians of the appends to a store of `size` (events, owners, or versions of one memory)."""

    store: str
    grows: str
    size: int
    microseconds: int
    processor_microseconds: int
    megabytes: int


def owner(number: int) -> Owner:
    return Owner(tenant="bench", user=str(number))


def single(whose: Owner, event: NewEvent) -> Append:
    return Append(whose, [event], None)


def new_memories(owners: int) -> Iterator[Append]:
    """Memories for one owner after another, for ever."""
    for number, event in zip(cycle(range(owners)), cycle(SAMPLES), strict=False):
        yield single(owner(number), NewEvent(IDS.new_id(), 1, event))


def new_owners() -> Iterator[Append]:
    """A memory each for one new owner after another."""
    for number, event in enumerate(cycle(SAMPLES)):
        yield single(owner(number), NewEvent(IDS.new_id(), 1, event))


def versions() -> Iterator[Append]:
    """One memory that changes again and again."""
    stream = IDS.new_id()
    yield single(owner(0), NewEvent(stream, 1, SAMPLES[0]))
    for version, sample in enumerate(cycle(SAMPLES), start=2):
        event: Event = Updated(
            actor="user",
            correlation_id=sample.correlation_id,
            policy=sample.policy,
            said_at=sample.said_at,
            kind="replace",
            statement=sample.statement,
        )
        yield single(owner(0), NewEvent(stream, version, event))


def timed(store: SqlEventStore, appends: Sequence[Append]) -> tuple[int, int]:
    """Median microseconds of an append, by the clock and of the processor."""
    gc.collect()
    wall, processor = [], []
    for append in appends:
        before, started = time.process_time(), time.perf_counter()
        store.append(append)
        wall.append(time.perf_counter() - started)
        processor.append(time.process_time() - before)
    return round(statistics.median(wall) * 1e6), round(statistics.median(processor) * 1e6)


def grown(
    name: str, grows: str, store: SqlEventStore, stream: Iterator[Append], sizes: Sequence[int], count: int
) -> Iterator[Figure]:
    filled = 0
    for size in sizes:
        while filled < size:
            batch = [next(stream) for _ in range(min(BULK, size - filled))]
            store.append_many(batch)
            filled += len(batch)
        # What is measured must not be new to the store in a way that grows with the measuring.
        again = new_memories(min(size, 1_000)) if grows == "owners" else stream
        appends = [next(again) for _ in range(count)]
        wall, processor = timed(store, appends)
        filled += 0 if grows == "owners" else count
        yield Figure(name, grows, size, wall, processor, round(Path(store.where).stat().st_size / 1e6))


GROWING: dict[str, Callable[[], Iterator[Append]]] = {
    "events": lambda: new_memories(OWNERS),
    "owners": new_owners,
    "chain": versions,
}


def powers(first: int, last: int) -> list[int]:
    found = [first]
    while found[-1] * 10 <= last:
        found.append(found[-1] * 10)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of an append by the size of the store.")
    parser.add_argument("--most", type=int, default=100_000, help="events of the largest store")
    parser.add_argument("--longest", type=int, default=10_000, help="versions of the longest memory")
    parser.add_argument("--only", choices=GROWING, action="append", help="may be given several times")
    parser.add_argument("--appends", type=int, default=200, help="appends that are measured at each size")
    parser.add_argument("--durability", choices=("full", "fast"), default="full")
    parser.add_argument("--folder", type=Path, help="where the stores are written; default: a temporary one")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    sizes = {
        "events": powers(1_000, options.most),
        "owners": powers(1, min(options.most, 100_000)),
        "chain": powers(1, options.longest),
    }
    for grows in options.only or GROWING:
        for name in ("log", "whole"):
            with ExitStack() as stack:
                folder = stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder))
                path = str(Path(folder) / "store.db")
                if name == "log":
                    store = stack.enter_context(
                        open_store(path, clock=SystemClock(), durability=options.durability)
                    )
                else:
                    memory = stack.enter_context(Memstrata.open(path, durability=options.durability))
                    store = memory.store
                for figure in grown(name, grows, store, GROWING[grows](), sizes[grows], options.appends):
                    if options.json:
                        print(json.dumps(asdict(figure)), flush=True)
                        continue
                    print(
                        f"{figure.store:6}{figure.grows:8}{figure.size:10,}{figure.microseconds:10,} µs"
                        f"{figure.processor_microseconds:8,} µs of the processor{figure.megabytes:7,} MB",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
