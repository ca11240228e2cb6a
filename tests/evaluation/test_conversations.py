"""Public conversations of both languages go in without an error, and everything agrees afterwards."""

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from memstrata import Memstrata, Turn


def histories(folder: Path) -> dict[str, list[Turn]]:
    """The turns by speaker; a day is a session."""
    found: dict[str, list[Turn]] = {}
    for line in (folder / "memorybank" / "dialogue.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        at = datetime.fromisoformat(f"{row['date']}T20:00:00+08:00") + timedelta(minutes=row["index"])
        turn = Turn(user=row["query"], assistant=row["response"], session=row["date"], at=at)
        found.setdefault(f"{row['lang']}/{row['user']}", []).append(turn)
    return found


def test_all_turns_are_judged_and_the_store_agrees_with_itself(data_dir: Path, tmp_path: Path) -> None:
    by_owner = histories(data_dir)
    assert Counter(owner.partition("/")[0] for owner, turns in by_owner.items() for _ in turns) == {
        "cn": 566,
        "en": 566,
    }

    with Memstrata.open(str(tmp_path / "memory.db")) as memory:
        reports = {owner: memory.ingest(owner, turns) for owner, turns in by_owner.items()}

        judged = [turn for report in reports.values() for turn in report.turns]
        assert Counter(turn.status for turn in judged) == {"new": 1132}
        assert all(turn.judgement is not None for turn in judged)
        assert sum(memory.counts(owner).turns for owner in by_owner) == 1132
        assert all(report.ok for report in memory.verify())
        for table in memory.rebuild(check=True).tables:
            assert table.live_rows == table.rebuilt_rows == table.equal_rows
