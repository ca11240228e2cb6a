"""How fast turns are judged, decided and taken in, on the examples and on public conversations.

`judge`: secrets, fast reject, rules, judgement. `decide`: that, and the decisions on a state in
memory. `ingest`: all of it into a file with an fsync per commit, projections included, one call per
history. Rounds are interleaved; the median of each counts. `--cpu` counts processor time instead: it
can be compared while others work, and does not count the disk.

    python benchmarks/pipeline.py [--rounds 5] [--cpu] [--data DIR] [--folder DIR] [--json]

DIR holds `memorybank/dialogue.jsonl`; without it only the examples are measured. `one owner` are the
same conversations as if one person had held all of them, in order of time.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memstrata import Memstrata, Turn
from memstrata.adapters.importers import Defaults, read_turns
from memstrata.adapters.storage import UuidSevenIds
from memstrata.bootstrap import SystemClock, load_policy, offline_gate
from memstrata.domain.draft import Draft, Header
from memstrata.domain.ledger import Ledger
from memstrata.domain.owner_state import OwnerState
from memstrata.pipeline.controller import Analysis, Judging
from memstrata.pipeline.prepare import arrive

ROOT = Path(__file__).resolve().parent.parent
HISTORY = 6
LEDGER = "0" * 32

Clock = Callable[[], float]
"""Seconds, from whatever moment."""

Histories = Mapping[str, Sequence[Turn]]
"""The turns of each owner, in their order."""


@dataclass(frozen=True)
class Figure:
    """Turns per second of one kind of work on one set of turns: median, least and most of the rounds."""

    what: str
    data: str
    turns: int
    turns_per_second: int
    least: int
    most: int


def examples() -> Histories:
    histories = {}
    for path in sorted((ROOT / "examples").glob("*.jsonl")):
        read = read_turns(path.read_bytes(), Defaults())
        histories[f"example/{path.stem}"] = [placed.turn for placed in read.turns]
    return histories


def conversations(folder: Path) -> Histories:
    """The turns of `memorybank/dialogue.jsonl` by speaker; a day is a session."""
    histories: dict[str, list[Turn]] = {}
    for line in (folder / "memorybank" / "dialogue.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        at = datetime.fromisoformat(f"{row['date']}T20:00:00+08:00") + timedelta(minutes=row["index"])
        turn = Turn(user=row["query"], assistant=row["response"], session=row["date"], at=at)
        histories.setdefault(f"{row['lang']}/{row['user']}", []).append(turn)
    return histories


def told_by_one(histories: Histories) -> Histories:
    """The same turns as one history; sessions of different speakers stay apart."""
    turns = [
        turn.model_copy(update={"session": f"{owner}/{turn.session}"})
        for owner, told in histories.items()
        for turn in told
    ]
    return {"all/one": sorted(turns, key=lambda turn: turn.at or datetime.min.replace(tzinfo=UTC))}


def analyses(judging: Judging, turns: Sequence[Turn]) -> Sequence[Analysis]:
    history: list[tuple[str, str]] = []
    found = []
    for number, one in enumerate(arrive(turns, datetime.now(UTC)), start=1):
        turn_id = f"{number:032x}"
        found.append(judging.gate.analyse(one.prepare(turn_id, history[-HISTORY:])))
        history.append((turn_id, one.text))
    return found


def judge(judging: Judging, histories: Histories) -> None:
    for turns in histories.values():
        analyses(judging, turns)


def decide(judging: Judging, histories: Histories) -> None:
    ids = UuidSevenIds(SystemClock())
    for turns in histories.values():
        draft = Draft(OwnerState(judging.policy.registry, Ledger(LEDGER)), ids)
        for analysis in analyses(judging, turns):
            context = analysis.prepared.context
            header = Header("user", context.turn_id, judging.policy.fingerprint, context.said_at)
            judging.decide_turn(draft, analysis, header, "0" * 64)


def ingest(path: Path, histories: Histories, clock: Clock = time.perf_counter) -> float:
    """Seconds to take everything in, opening and closing left out."""
    with Memstrata.open(str(path)) as memory:
        started = clock()
        for owner, turns in histories.items():
            memory.ingest(owner, turns)
        return clock() - started


def seconds(action: Callable[[], object], clock: Clock) -> float:
    started = clock()
    action()
    return clock() - started


def measure(data: Mapping[str, Histories], rounds: int, folder: Path, clock: Clock) -> list[Figure]:
    judging = Judging(offline_gate, load_policy())
    taken: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds + 1):
        for name, histories in data.items():
            path = folder / f"{name}-{turn}.db"
            figures = {
                "judge": seconds(lambda histories=histories: judge(judging, histories), clock),
                "decide": seconds(lambda histories=histories: decide(judging, histories), clock),
                "ingest": ingest(path, histories, clock),
            }
            for what, spent in figures.items():
                if turn:  # the first round compiles patterns and statements
                    taken.setdefault((what, name), []).append(spent)
            for left in folder.glob(f"{path.name}*"):
                left.unlink()
    return [_figure(what, name, data[name], spent) for (what, name), spent in taken.items()]


def _figure(what: str, name: str, histories: Histories, spent: Sequence[float]) -> Figure:
    turns = sum(map(len, histories.values()))
    return Figure(
        what,
        name,
        turns,
        round(turns / statistics.median(spent)),
        round(turns / max(spent)),
        round(turns / min(spent)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Turns per second of the offline gate and of bulk ingest.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="count processor time")
    parser.add_argument("--data", type=Path, default=os.environ.get("MEMSTRATA_DATA_DIR"))
    parser.add_argument("--folder", type=Path, help="where the stores are written; default: a temporary one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    data = {"examples": examples()}
    if options.data is not None:
        data["memorybank"] = conversations(options.data)
        data["one owner"] = told_by_one(data["memorybank"])
    clock = time.process_time if options.cpu else time.perf_counter
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        figures = measure(data, options.rounds, Path(folder), clock)
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures]))
        return
    for figure in figures:
        print(
            f"{figure.what:<7} {figure.data:<11} {figure.turns:>6,} turns  "
            f"{figure.turns_per_second:>7,} turns/s  ({figure.least:,} to {figure.most:,})"
        )


if __name__ == "__main__":
    main()
