"""How long reading takes for one owner with many memories in a store with many events.

The store is filled with copies of what the examples leave (see `filling.py`): one owner gets as many
memories as are wanted, of which some end, and others the rest of the events. Measured are calls of the
service inside a warm process, medians and the slowest tenth, and whole commands, each in its own process.

`list` and `context` touch every memory that holds; `history` and `why` go through different memories.

    python benchmarks/reading.py [--events 1000000] [--memories 1150] [--rounds 60] [--folder DIR] [--json]
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from filling import filled_store

from memstrata import Memstrata, Owner

READER = Owner(tenant="bench", user="reader")
QUESTION = "帮我写一份周报"


@dataclass(frozen=True)
class Figure:
    """Milliseconds. `first` is the first call in the process, with nothing cached."""

    what: str
    median: float
    slowest_tenth: float
    first: float


def timed(what: str, call: Callable[[int], object], rounds: int) -> Figure:
    taken = []
    for number in range(rounds):
        started = time.perf_counter()
        call(number)
        taken.append((time.perf_counter() - started) * 1000)
    warm = sorted(taken[1:])
    slow = warm[int(len(warm) * 0.9)]
    return Figure(what, round(statistics.median(warm), 2), round(slow, 2), round(taken[0], 2))


def of_service(memory: Memstrata, rounds: int) -> list[Figure]:
    listed = memory.memories(READER)
    ids = [one.memory_id for one in listed]
    return [
        timed("list", lambda _: [one.content for one in memory.memories(READER)], rounds),
        timed("history", lambda n: memory.history(READER, ids[n * 7 % len(ids)]), rounds),
        timed("why", lambda n: memory.why(READER, ids[n * 7 % len(ids)]), rounds),
        timed("context", lambda _: memory.context(READER, QUESTION), rounds),
        timed("search", lambda _: memory.search(READER, QUESTION), rounds),
        timed("list, with statements", lambda _: [o.statement for o in memory.memories(READER)], rounds // 4),
        timed("decisions, the last 50", lambda _: memory.decisions(READER, last(50)), rounds),
    ]


def last(limit: int) -> object:
    from memstrata.projections.ports import DecisionQuery

    return DecisionQuery(limit=limit)


def of_commands(path: Path, memory_id: str) -> list[Figure]:
    commands = {
        "memstrata list": ["list"],
        "memstrata why": ["why", memory_id],
        "memstrata history": ["history", memory_id],
        "memstrata context": ["context", QUESTION],
    }
    store = ["--db", str(path), "--owner", str(READER)]

    def run(arguments: list[str]) -> None:
        command = [sys.executable, "-m", "memstrata", *arguments, *store]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    return [timed(what, lambda _, given=given: run(given), 6) for what, given in commands.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--memories", type=int, default=1_150)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--folder", help="where the file is written (default: a temporary folder)")
    parser.add_argument("--json", action="store_true", help="one JSON object for each call")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "store.db"
        filled_store(path, options.events, until_memories=(READER, options.memories))
        with Memstrata.open(str(path)) as memory:
            holding = len(memory.memories(READER))
            print(f"{memory.store.head_position()} events; {holding} memories hold")
            figures = of_service(memory, options.rounds)
            one = memory.memories(READER)[-1].memory_id
        for figure in [*figures, *of_commands(path, one)]:
            found = asdict(figure)
            print(json.dumps(found) if options.json else "  ".join(f"{k} {v}" for k, v in found.items()))


if __name__ == "__main__":
    main()
