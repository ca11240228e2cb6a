"""Record a new history: play its story on the real service, write down what was stored and answered.

    PYTHONPATH=tests python -m golden_histories.record NAME

A history that exists is never written again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from memstrata import Memstrata
from memstrata.domain.owner import Owner

from .history import HISTORIES, POLICIES, answer, compact, rows_of, stored_lines
from .stories import STORIES, Telling

MOST_MOMENTS = 5
"""Positions and times that are asked about: enough to see both axes, few enough to be read."""


class AlreadyRecordedError(Exception):
    """A history of that name exists."""


def record(name: str, histories: Path = HISTORIES, policies: Path = POLICIES) -> Path:
    """Play the story of that name and write its history; returns the folder.

    Raises:
        AlreadyRecordedError: there is one; nothing was written.
    """
    folder = histories / name
    if folder.exists():
        raise AlreadyRecordedError(f"{folder} exists: a history is written once; take another name")
    pepper = hashlib.sha256(f"golden history {name}".encode()).hexdigest()
    with tempfile.TemporaryDirectory() as place, Telling(Path(place) / "store.db", pepper) as telling:
        STORIES[name](telling)
        memory = telling.memory
        assert memory.rebuild(check=True).same
        assert [report.problem for report in memory.verify()] == [None]
        events = stored_lines(memory.store)
        owners = sorted(telling.owners)
        store = {"pepper": pepper, "owners": owners, "policies": sorted(_policies(events))}
        rows = {owner: rows_of(memory.views, Owner.parse(owner)) for owner in owners}
        asked = [question for owner in owners for question in _questions(memory, owner, rows[owner])]
        answers = [{**question, "answer": answer(memory, question)} for question in asked]
        documents = {one: memory.store.policy_document(one) for one in store["policies"]}
    folder.mkdir(parents=True)
    policies.mkdir(exist_ok=True)
    (folder / "store.json").write_text(json.dumps(store, indent=1) + "\n", "utf-8")
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in events), "utf-8")
    (folder / "projections.json").write_text(_laid_out(rows), "utf-8")
    (folder / "answers.json").write_text(_lines(answers) + "\n", "utf-8")
    for fingerprint, document in documents.items():
        assert document is not None, f"the store names the policy {fingerprint} and does not keep it"
        (policies / f"{fingerprint}.json").write_text(document, "utf-8")
    return folder


def _policies(events: Sequence[str]) -> set[str]:
    return {json.loads(line)["state"]["policy"] for line in events}


def _questions(memory: Memstrata, owner: str, rows: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lists at a grid of both times, histories and periods at some positions, and why for everything."""
    log = list(memory.log(owner))
    closed = [batch["closed_pos"] for batch in rows["batches"] if batch["closed_pos"]]
    spread = [log[len(log) * part // 4 - 1].position for part in (1, 2, 3, 4)]
    known = _some(sorted({*closed, *spread}))
    begun = sorted({row["valid_from"] for row in rows["periods"]})
    last = (log[-1].recorded_at + timedelta(days=400)).isoformat()
    valid = [*_some(begun), last]
    erased = {row["memory_id"] for row in rows["memories"] if row["status"] == "erased"}
    ids = [row["memory_id"] for row in rows["memories"]]
    asked: list[dict[str, Any]] = []
    asked += [{"ask": "memories", "as_of": p, "valid_at": v} for p in known for v in valid]
    asked += [{"ask": "memories", "as_of": log[len(log) // 2].recorded_at.isoformat()}]
    for name in ("history", "periods"):
        asked += [{"ask": name, "memory": one, "as_of": p} for one in ids for p in known]
    asked += [{"ask": "why", "memory": one} for one in ids if one not in erased]
    return [{"owner": owner, **question} for question in asked]


def _some(values: Sequence[Any]) -> list[Any]:
    """At most so many of the values, spread over all of them, the last one among them."""
    if len(values) <= MOST_MOMENTS:
        return list(values)
    step = (len(values) - 1) / (MOST_MOMENTS - 1)
    return [values[round(step * number)] for number in range(MOST_MOMENTS)]


def _laid_out(rows: Mapping[str, Mapping[str, Sequence[Any]]]) -> str:
    """One row a line."""
    owners = [
        f"{compact(owner)}: {{\n"
        + ",\n".join(f"{compact(name)}: {_lines(found)}" for name, found in projections.items())
        + "}"
        for owner, projections in rows.items()
    ]
    return "{" + ",\n".join(owners) + "}\n"


def _lines(values: Sequence[Any]) -> str:
    return "[\n" + ",\n".join(map(compact, values)) + "\n]" if values else "[]"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Record a new golden history; an old one is never touched.")
    parser.add_argument("name", choices=sorted(STORIES))
    try:
        folder = record(parser.parse_args(arguments).name)
    except AlreadyRecordedError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"recorded {folder.name}; look at it, then commit it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
