"""Stories of reported failures: those of the case file in its words, and siblings in ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from memstrata.application.importing import ImportedMemory
from memstrata.application.reports import TurnReport

from ..scenarios.spoken import OWNER, Conversation

START = datetime(2026, 10, 8, 9, tzinfo=timezone(timedelta(hours=8)))


@dataclass(frozen=True)
class Story:
    """What is remembered when the story begins, and what is then said: user text, or fields of a turn."""

    given: Sequence[str | ImportedMemory]
    turns: Sequence[str | dict[str, Any]]
    common: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A case of the file by its id, with fields that its turns need."""

    id: str
    common: dict[str, Any] = field(default_factory=dict)


class Played:
    """A story that was told to the public API and the real gate."""

    def __init__(self, story: Story) -> None:
        self.talk = Conversation(START)
        self.memory = self.talk.memory
        given = [
            one if isinstance(one, ImportedMemory) else ImportedMemory(content=one) for one in story.given
        ]
        self.given = list(self.memory.import_memories(OWNER, given).memories) if given else []
        self.before = self.talk.position
        self.reports: list[TurnReport] = []
        for day, turn in enumerate(story.turns, start=1):
            fields = {"user": turn} if isinstance(turn, str) else dict(turn)
            fields = {**story.common, **fields}
            at = fields.pop("at", START + timedelta(days=day))
            self.reports.append(self.talk.says(fields.pop("user"), at, **{"session": f"s{day}", **fields}))

    @property
    def reasons(self) -> list[str]:
        return [candidate.reason for report in self.reports for candidate in report.candidates]

    @property
    def outcomes(self) -> set[str]:
        return {candidate.outcome for report in self.reports for candidate in report.candidates}

    def active(self) -> list[str]:
        return self.talk.active()

    def versions(self, memory_id: str) -> list[str]:
        rows = self.memory.history(OWNER, memory_id)
        return [row.statement.content for row in rows if row.statement is not None]

    def surfaces(self, query: str) -> list[str]:
        """Everything that list, search and context show."""
        return [
            *self.active(),
            *(line.text for line in self.memory.search(OWNER, query)),
            *(line.text for line in self.memory.context(OWNER, query)),
        ]

    def check(self) -> None:
        self.talk.check()


def story_of(case: Case | Story, cases_dir: Callable[[], Path]) -> Story:
    """A case of the file as a story; lines in brackets are faults and stubs, which the test itself sets."""
    if isinstance(case, Story):
        return case
    lines = (cases_dir() / "reported-failures.jsonl").read_text("utf-8").splitlines()
    (raw,) = [one for one in map(json.loads, lines) if one["id"] == case.id]
    given = [re.sub(r"^(?:（[^）]*）)?m[0-9]+: ", "", text) for text in raw["given"]]
    turns: list[dict[str, Any]] = []
    around: dict[str, Any] = {}
    for line in raw["turns"]:
        who, _, text = line.partition(": ")
        if who.startswith(("(", "（")):
            continue
        if who.startswith("user"):
            turns.append({"user": text, **around})
            around = {}
        elif who.startswith("assistant"):
            around["assistant"] = text
        else:
            item = {"role": "tool" if who.startswith("tool") else "system", "text": text}
            if turns and who.startswith("tool"):
                turns[-1]["context"] = [item]
            else:
                around["context"] = [item]
    return Story(given, turns, case.common)
