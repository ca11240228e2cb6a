"""What one more turn, one question and one rollback cost for an owner with few or with many memories.

The memories are facts of many attributes, two words each out of a vocabulary that grows with the root
of their number; a scripted gate puts them in. Then the offline gate takes in turns one by one, each in
a call of its own and acknowledged when it is on disk; `context` is asked about words that some memories
hold; a rollback of one session is planned, right after it and with all that was said since.

`--cpu` counts processor time: it can be compared while others work, and does not count the disk.

    python benchmarks/owner_size.py [--memories 100 1000 10000] [--cpu] [--folder DIR] [--json]
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from math import isqrt
from pathlib import Path

from memstrata import Memstrata, Selector, Turn
from memstrata.domain.candidate import Candidate
from memstrata.domain.evidence import Span, bind
from memstrata.domain.judgement import Judgement
from memstrata.domain.ports import Prepared
from memstrata.pipeline.controller import Gate
from memstrata.pipeline.relate import WordRelations

OWNER = "bench/one"
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
ATTRIBUTES = ("taste", "skill", "pet", "allergy", "hobby", "device", "language", "fact", "goal", "place")
A_SESSION = 10
REPEATS = 40
SPOKEN = (
    "I like {0} {1}",
    "我住在{1}附近",
    "What is the weather like today?",
    "thanks, that helps",
    "以后写周报都要包含{0}",
    "I have a cat called {1}",
    "Please book a table for two at seven",
    "My sister Anna works at {0} {1}",
)


@dataclass(frozen=True)
class Figure:
    """Milliseconds for an owner with so many memories; `turn` and `context` are medians."""

    memories: int
    load: float
    """The first turn of a process, which reads the owner's state."""
    turn: float
    context: float
    plan_last: float
    plan_first: float


class Words:
    """Made-up words, two of them for a number."""

    def __init__(self, memories: int) -> None:
        self._side = max(isqrt(memories), 2)

    def __call__(self, number: int) -> tuple[str, str]:
        return _word("b", number % self._side), _word("k", number // self._side % self._side)


def _word(first: str, number: int) -> str:
    syllables = ("ra", "ne", "lo", "mi", "tu", "sa", "vo", "de", "fi", "go")
    return first + "".join(syllables[int(digit)] for digit in f"{number:03}")


class Script:
    """One fact for each turn, by its number."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
        number = int(prepared.text.split()[-1])
        attribute = ATTRIBUTES[number % len(ATTRIBUTES)]
        value = " ".join(self._words(number))
        evidence = bind(prepared.context.turn_id, prepared.text, (Span(start=0, end=len(prepared.text)),))
        return [
            Candidate(
                kind="fact",
                attribute=attribute,
                value=None if attribute == "fact" else value,
                content=f"The user has {value}",
                importance=4,
                extractor="script/1",
                rule="benchmark",
                category="important_fact",
                evidence=(evidence,),
            )
        ]


class Willing:
    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement:
        return Judgement(
            should_extract=True,
            confidence=0.9,
            category="important_fact",
            stability="stable",
            importance=4,
            reason="benchmark",
            route="rules",
            rule="benchmark",
        )


def fill(path: Path, memories: int, words: Words) -> None:
    gate = Gate(
        fast_reject=lambda prepared: None,
        extractors=(Script(words),),
        judges=(Willing(),),
        normalise=lambda judgement, candidates: judgement,
        relations_of=WordRelations,
    )
    turns = [
        Turn(
            user=f"turn {number}",
            session=f"s{number // A_SESSION}",
            message_id=f"m{number}",
            at=START + timedelta(minutes=number),
        )
        for number in range(memories)
    ]
    with closing(Memstrata.open(str(path), gate=gate, durability="fast")) as memory:
        memory.ingest(OWNER, turns)


def measure(path: Path, memories: int, clock: Callable[[], float]) -> Figure:
    words = Words(memories)
    fill(path, memories, words)

    def taken(action: Callable[[], object]) -> float:
        started = clock()
        action()
        return (clock() - started) * 1_000

    def say(number: int) -> Turn:
        text = SPOKEN[number % len(SPOKEN)].format(*words(number * 7))
        at = START + timedelta(minutes=memories + number)
        return Turn(user=text, session="live", message_id=f"live{number}", at=at)

    with closing(Memstrata.open(str(path))) as memory:
        counted = len(memory.memories(OWNER))
        memory.ingest("bench/other", [say(0)])  # loads the rules
        load = taken(lambda: memory.ingest(OWNER, [say(0)]))
        turns = [taken(lambda number=n: memory.ingest(OWNER, [say(number)])) for n in range(1, REPEATS + 1)]
        asked = [" ".join(words(n * 11)) for n in range(REPEATS)]
        memory.context(OWNER, asked[0])
        contexts = [taken(lambda query=query: memory.context(OWNER, query)) for query in asked]
        last = Selector(session=f"s{(memories - 1) // A_SESSION}")
        plan_last = taken(lambda: memory.plan_rollback(OWNER, last))
        plan_first = taken(lambda: memory.plan_rollback(OWNER, Selector(session="s0")))
    median = statistics.median
    return Figure(counted, load, median(turns), median(contexts), plan_last, plan_first)


def main() -> None:
    parser = argparse.ArgumentParser(description="How costs grow with the memories of one owner.")
    parser.add_argument("--memories", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    parser.add_argument("--folder", type=Path, help="where the stores are written; default: a temporary one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        figures = [measure(Path(folder) / f"{size}.db", size, clock) for size in options.memories]
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures]))
        return
    print("milliseconds")
    for f in figures:
        print(
            f"{f.memories:>7,} memories  first turn {f.load:9,.1f}  turn {f.turn:7.2f}  "
            f"context {f.context:7.2f}  plan: last session {f.plan_last:9,.1f}, first {f.plan_first:9,.1f}"
        )


if __name__ == "__main__":
    main()
