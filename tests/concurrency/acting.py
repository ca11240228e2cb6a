"""What writers do in the tests of this folder, told in plain data: the same in whatever process.

A deed is a dictionary; `do` names it, the rest are its arguments. Words mean what the deed's `finds` says,
so that a test knows what is found, and every call of the extractor and of the judge is counted.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from scenarios.scripted import ScriptedExtractor, WillingJudge, city, dropped, habit, standing, taste

from memstrata import Memstrata, Selector, Turn
from memstrata.application.importing import ImportedMemory
from memstrata.domain.candidate import Candidate
from memstrata.domain.errors import ConflictError, MemstrataError
from memstrata.domain.judgement import Judgement
from memstrata.domain.ports import Prepared
from memstrata.pipeline.controller import Gate
from memstrata.pipeline.relate import WordRelations

Deed = dict[str, Any]
Outcome = list[Any]

OWNER = "acme/lin"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def passing(content: str) -> dict[str, Any]:
    """A constraint for the task at hand."""
    return {**standing(content, "writing"), "kind": "constraint", "signals": (), "family": None}


FINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "city": city,
    "taste": taste,
    "habit": lambda key: habit(key, "writing"),
    "standing": lambda content: standing(content, "writing"),
    "passing": passing,
    "said": lambda attribute, value: {
        **city(value),
        "attribute": attribute,
        "content": f"{attribute}: {value}",
    },
    "dropped": lambda attribute, value: dropped(attribute, value, "end"),
}


class StandingClock:
    """Stands still: whatever happens in whatever order happens at one time."""

    def now(self) -> datetime:
        return NOW


class CountingGate:
    """A gate that finds what it is told, and counts how often it was asked about each text."""

    def __init__(self) -> None:
        self._script = ScriptedExtractor()
        self._lock = threading.Lock()
        self.extracted: Counter[str] = Counter()
        self.judged: Counter[str] = Counter()

    def learn(self, text: str, finds: Sequence[Sequence[Any]]) -> None:
        self._script.script[text] = [FINDS[name](*arguments) for name, *arguments in finds]

    def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
        with self._lock:
            self.extracted[prepared.text] += 1
        return self._script.extract(prepared, judgement)

    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement:
        with self._lock:
            self.judged[prepared.text] += 1
        return WillingJudge().judge(prepared, candidates)

    def gate(self) -> Gate:
        return Gate(
            fast_reject=lambda prepared: None,
            extractors=(self,),
            judges=(self,),
            normalise=lambda judgement, candidates: judgement,
            relations_of=WordRelations,
        )


class Actor:
    """One opening of a store, which does deeds."""

    def __init__(self, path: str, *, group_commit: bool = False, durability: Any = "fast") -> None:
        self.counting = CountingGate()
        self.memory = Memstrata.open(
            path,
            clock=StandingClock(),
            gate=self.counting.gate(),
            durability=durability,
            group_commit=group_commit,
        )

    def do(self, deed: Deed) -> Outcome:
        """What came of it; an error of ours by its name. Any other error is a fault and goes on up."""
        try:
            return list(DEEDS[deed["do"]](self, deed))
        except MemstrataError as error:
            return [type(error).__name__]

    def do_at_once(self, deeds: Sequence[Deed], start: float) -> list[Outcome]:
        """All deeds, each in its own thread, from a moment of the monotonic clock on."""
        outcomes: list[Outcome] = [["was not done"] for _ in deeds]

        def act(place: int) -> None:
            time.sleep(max(0.0, start + deeds[place].get("after", 0.0) - time.monotonic()))
            try:
                outcomes[place] = self.do(deeds[place])
            except BaseException as error:  # noqa: BLE001 - not handled: shown to the test, which fails
                outcomes[place] = ["FAULT", repr(error)]

        threads = [threading.Thread(target=act, args=(place,)) for place in range(len(deeds))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes

    def view(self, owner: str = OWNER) -> list[list[Any]]:
        """What this opening knows of the owner: by its rows, and by its own fold of the events."""
        shown = sorted(
            [one.memory.memory_id, one.memory.status, one.content] for one in self.memory.memories(owner)
        )
        named = self.memory._owner(owner)
        folded = sorted(
            [one.memory_id, one.status, one.current.statement.content]
            for one in self.memory._states.load(named).active()
            if one.current is not None
        )
        return [shown, folded]


def _say(actor: Actor, deed: Deed) -> Outcome:
    text = deed["text"]
    actor.counting.learn(text, deed.get("finds", ()))
    at = datetime.fromisoformat(deed["at"]) if "at" in deed else NOW
    turn = Turn(
        user=text,
        session=deed.get("session", "s1"),
        message_id=deed.get("message", text),
        at=at,
        task_id=deed.get("task"),
    )
    owner = deed.get("owner", OWNER)
    (report,) = actor.memory.ingest(owner, [turn], revise=deed.get("revise", False)).turns
    return [report.status, [[one.action, one.outcome, one.reason] for one in report.candidates]]


def _finish_task(actor: Actor, deed: Deed) -> Outcome:
    report = actor.memory.finish_task(OWNER, deed["task"], at=NOW)
    return [report.batch_id is not None, report.written, len(report.memories)]


def _roll_back(actor: Actor, deed: Deed) -> Outcome:
    """Plans and applies; planned anew as long as others change what the plan is about."""
    while True:
        plan = actor.memory.plan_rollback(OWNER, Selector(session=deed["session"]))
        try:
            report = actor.memory.apply(OWNER, plan)
        except ConflictError:
            continue
        return [report.batch_id is not None, report.written, len(report.memories)]


def _undo(actor: Actor, deed: Deed) -> Outcome:
    while True:
        plan = actor.memory.plan_undo(OWNER, deed["batch"])
        try:
            report = actor.memory.apply(OWNER, plan)
        except ConflictError as error:
            if type(error) is not ConflictError:
                raise
            continue
        return [report.batch_id is not None, report.written, len(report.memories)]


def _person(actor: Actor, deed: Deed) -> Outcome:
    verb, arguments = deed["verb"], deed.get("arguments", [])
    report = getattr(actor.memory, verb)(OWNER, deed["memory"], *arguments, actor="operator:ann")
    return [report.written]


def _bring(actor: Actor, deed: Deed) -> Outcome:
    memories = [ImportedMemory(**fields) for fields in deed["memories"]]
    report = actor.memory.import_memories(OWNER, memories)
    return [report.written, len(report.memories)]


def _one_by_one(actor: Actor, deed: Deed) -> Outcome:
    return [actor.do(one) for one in deed["deeds"]]


DEEDS: dict[str, Callable[[Actor, Deed], Outcome]] = {
    "say": _say,
    "finish task": _finish_task,
    "roll back": _roll_back,
    "undo": _undo,
    "person": _person,
    "bring": _bring,
    "one by one": _one_by_one,
}
