"""How long it takes to plan and apply a rollback, and to undo it, for one owner with many turns.

The turns are facts of single- and many-valued attributes and standing instructions, from sessions of
ten turns; the gate is scripted, so that only the store and the planner are measured. Rolled back are
one session, one extractor (a tenth of all turns) and a time window (the later half). `--cpu` counts
processor time: it can be compared while others work.

    python benchmarks/rollback.py [--turns 2000] [--cpu] [--json]
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from memstrata import Memstrata, Selector, Turn
from memstrata.domain.candidate import Candidate
from memstrata.domain.evidence import Span, bind
from memstrata.domain.judgement import Judgement
from memstrata.domain.ports import Prepared
from memstrata.pipeline.controller import Gate
from memstrata.pipeline.relate import WordRelations

OWNER = "bench/one"
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
KINDS = ("city", "taste", "skill", "pet", "employer")


class StandingClock:
    """Tells the time that it was set to."""

    time = START

    def now(self) -> datetime:
        return self.time


class Script:
    """One fact for each turn, by its number."""

    def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
        number = int(prepared.text.split()[-1])
        attribute = KINDS[number % len(KINDS)]
        value = f"{attribute} {number // len(KINDS) % 97}"
        words = bind(prepared.context.turn_id, prepared.text, (Span(start=0, end=len(prepared.text)),))
        return [
            Candidate(
                kind="fact",
                attribute=attribute,
                value=value,
                content=f"The user has {value}",
                importance=4,
                extractor=f"x{number % 10}",
                rule="benchmark",
                category="important_fact",
                evidence=(words,),
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


@dataclass(frozen=True)
class Figure:
    """Seconds for one selector; `events` is what the rollback wrote."""

    what: str
    selected: int
    effects: int
    events: int
    plan: float
    apply: float
    undo: float


@contextmanager
def filled(turns: int) -> Iterator[Memstrata]:
    clock = StandingClock()
    gate = Gate(
        fast_reject=lambda prepared: None,
        extractors=(Script(),),
        judges=(Willing(),),
        normalise=lambda judgement, candidates: judgement,
        relations_of=WordRelations,
    )
    with Memstrata.open("sqlite://", clock=clock, gate=gate) as memory:
        clock.time = START + timedelta(minutes=turns)
        memory.ingest(
            OWNER,
            [
                Turn(
                    user=f"turn {n}",
                    session=f"s{n // 10}",
                    message_id=f"m{n}",
                    at=START + timedelta(minutes=n),
                )
                for n in range(turns)
            ],
            simulated_clock=True,
        )
        yield memory


def measured(memory: Memstrata, what: str, selector: Selector, clock: Callable[[], float]) -> Figure:
    def timed(action: Callable[[], object]) -> float:
        started = clock()
        action()
        return round(clock() - started, 3)

    plan_time = timed(lambda: memory.plan_rollback(OWNER, selector))
    plan = memory.plan_rollback(OWNER, selector)
    apply_time = timed(lambda: memory.apply(OWNER, plan))
    batch = memory.batches(OWNER)[-1]
    written = sum(1 for e in memory.log(OWNER) if e.event.correlation_id == batch.batch_id)
    undo_time = timed(lambda: memory.apply(OWNER, memory.plan_undo(OWNER, batch.batch_id)))
    return Figure(what, len(plan.selected), len(plan.effects), written, plan_time, apply_time, undo_time)


def main() -> None:
    parser = argparse.ArgumentParser(description="Plan, apply and undo rollbacks of one owner.")
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    with filled(options.turns) as memory:
        half = START + timedelta(minutes=options.turns // 2)
        figures = [
            measured(memory, "one session", Selector(session=f"s{options.turns // 20}"), clock),
            measured(memory, "one extractor of ten", Selector(extractor="x3"), clock),
            measured(memory, "the later half", Selector(since=half), clock),
        ]
    if options.json:
        print(json.dumps({"turns": options.turns, "figures": [asdict(figure) for figure in figures]}))
        return
    print(f"{options.turns:,} turns, seconds")
    for f in figures:
        took = f"plan {f.plan:7.3f}  apply {f.apply:7.3f}  undo {f.undo:7.3f}"
        print(f"{f.what:24}{f.selected:6,} selected{f.effects:5,} memories  {took}")


if __name__ == "__main__":
    main()
