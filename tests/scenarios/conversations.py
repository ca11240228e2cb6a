"""Random conversations as plain data, played on a stage with a scripted gate.

A step is a tuple, so that a failing conversation can be written down, cut and played again. Every
step has its own minute: a conversation without some of its steps says the rest at the same times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from memstrata import Selector, Turn
from memstrata.application.importing import ImportedMemory
from memstrata.domain.candidate import Signal, TimeFrame
from memstrata.domain.errors import MemstrataError
from memstrata.domain.history import struck_versions
from memstrata.domain.owner_state import OwnerState
from memstrata.domain.plan import Plan
from memstrata.domain.stream import RecordedEvent
from memstrata.projections.ports import DecisionQuery
from memstrata.projections.rows import MemoryRow

from .scripted import OWNER, Stage, city, day, habit, standing, taste

Step = tuple[Any, ...]

NOT_CURRENT = {
    # What tells of the history rather than of what stands: it grows with every undo.
    *("versions", "stream_version", "updated_pos", "updated_at", "chain_version"),
}


def spoken(words: Sequence[Any], now: datetime) -> dict[str, Any]:
    """The candidate that an extractor would find in these words."""
    match words:
        case ("city", value, intent):
            return city(value, intent=intent)
        case ("guess", value):
            return city(value, source="repeated_behaviour")
        case ("unsure", value):
            return city(value, certainty="uncertain")
        case ("dated", value, minutes):
            return city(value, time=TimeFrame(end=now + timedelta(minutes=minutes), words="until"))
        case ("late", value, start, end):
            frame = TimeFrame(start=now - timedelta(minutes=start), end=now - timedelta(minutes=end))
            return city(value, intent="late", time=frame)
        case ("taste", value, polarity):
            return taste(value, polarity=polarity)
        case ("only", value):
            signal = Signal(kind="exclusive", text="only", start=0, end=1)
            return taste(value, exclusive=True, content=f"用户只喜欢{value}", signals=(signal,))
        case ("instead", value, former):
            return taste(value, intent="change", former_value=former)
        case ("report", manner):
            return standing(f"reports: lead with {manner}", "writing")
        case ("once", manner):
            signal = Signal(kind="limiting", text="this", start=0, end=1)
            limited = {"kind": "constraint", "family": None, "signals": (signal,)}
            return {**standing(f"reports: lead with {manner}", "writing"), **limited}
        case ("habit", key):
            return habit(key, "writing")
        case ("stage", value, final):
            return {
                "kind": "state",
                "attribute": "job_search_status",
                "value": value,
                "content": f"用户求职：{value}",
                "importance": 4,
                "final": final,
            }
        case ("drop", attribute, value, intent):
            return {
                "kind": "retraction",
                "attribute": attribute,
                "value": value,
                "content": f"不再记{value}",
                "intent": intent,
            }
    raise AssertionError(words)


class World:
    """One owner's conversation, step by step."""

    def __init__(self) -> None:
        self.stage = Stage(start=day(10, 1))
        self.memory = self.stage.memory
        self.said: list[str] = []
        """Ids of the turns, by number."""
        self._steps = 0
        self._spoken: dict[str, Turn] = {}
        """Every turn by its text, earlier texts of edited turns too."""

    # --- what is said and done -------------------------------------------------------------------

    def play(self, step: Step) -> None:
        """Carry out one step that is no undo; what is refused leaves no trace."""
        self.skip()
        try:
            getattr(self, f"_{step[0]}")(*step[1:])
        except MemstrataError:
            return

    def skip(self) -> None:
        """Let the minute of a step pass without it."""
        self._steps += 1
        self.stage.clock.time = day(10, 1) + timedelta(minutes=self._steps)

    def _say(self, words: Sequence[Any], session: int, extractor: int, task: int | None) -> None:
        number = len(self.said)
        self.said.append(self._tell(f"{number} {words}", number, words, session, extractor, task))

    def _tell(
        self, text: str, number: int, words: Sequence[Any], session: int, extractor: int, task: int | None
    ) -> str:
        origin = {"extractor": f"x{extractor}", "rule": f"r.{words[0]}"}
        found = {**spoken(words, self.stage.clock.time), **origin}
        self.stage.extractor.script[text] = [found]
        turn = Turn(
            user=text,
            assistant="ok",
            session=f"s{session}",
            message_id=f"m{number}",
            task_id=None if task is None else f"t{task}",
            at=self.stage.clock.time,
        )
        former = next((t for t in self._spoken.values() if t.message_id == turn.message_id), None)
        if former is not None:
            turn = turn.model_copy(update={"session": former.session})
        self._spoken[text] = turn
        return self.memory.ingest(OWNER, [turn], revise=former is not None).turns[0].turn_id

    def _revise(self, which: int, words: Sequence[Any]) -> None:
        if self.said:
            number = which % len(self.said)
            self._tell(f"{number} again at {self._steps} {words}", number, words, 0, 0, None)

    def _person(self, verb: str, which: int, content: str) -> None:
        known = [listed.memory_id for listed in self.memory.by_status(OWNER, ("active", "held"))]
        if not known:
            return
        memory_id = known[which % len(known)]
        if verb == "correct":
            self.memory.correct(OWNER, memory_id, f"{content} {self._steps}", actor="operator:mo")
        elif verb in ("pin", "unpin"):
            self.memory.pin(OWNER, memory_id, pinned=verb == "pin", actor="operator:mo")
        else:
            getattr(self.memory, verb)(OWNER, memory_id, actor="operator:mo")

    def _task(self, change: str, task: int) -> None:
        if change == "finish":
            self.memory.finish_task(OWNER, f"t{task}")
        else:
            self.memory.start_task(OWNER, f"t{task}")

    def _import(self, attribute: str, value: str) -> None:
        content = f"用户住在{value}" if attribute == "city" else f"用户喜欢{value}"
        self.memory.import_memories(
            OWNER, [ImportedMemory(content=content, attribute=attribute, value=value)]
        )

    # --- undo ------------------------------------------------------------------------------------

    def selector(self, kind: str, first: int, second: int) -> Selector:
        """A selector of the kind, about something that there is where there is anything."""
        log = list(self.memory.log(OWNER))
        memories = [listed.memory_id for listed in self.memory.by_status(OWNER, EVERY_STATUS)]
        match kind:
            case "session":
                return Selector(session=f"s{first % 3}")
            case "turn":
                return Selector(turn=self.said[first % len(self.said)]) if self.said else NOTHING
            case "extractor":
                return Selector(extractor=f"x{first % 3}")
            case "rule":
                return Selector(rule="r." + ("city", "taste", "report", "habit", "only")[first % 5])
            case "window":
                if not log:
                    return NOTHING
                low, high = sorted((first % len(log), second % len(log)))
                return Selector(
                    since=log[low].recorded_at, until=log[high].recorded_at + timedelta(milliseconds=1)
                )
            case "memory":
                return Selector(memory=memories[first % len(memories)]) if memories else NOTHING
            case "after":
                if not memories:
                    return NOTHING
                return Selector(memory=memories[first % len(memories)], after_version=second % 3 + 1)
            case "actor":
                return Selector(actor=("user", "operator:mo", "operator:import", "system")[first % 4])
            case "batch":
                standing = self.standing_batches()
                return Selector(batch=standing[first % len(standing)]) if standing else NOTHING
        raise AssertionError(kind)

    def plan(self, selector: Selector) -> Plan:
        return (
            self.memory.plan_undo(OWNER, selector.batch)
            if selector.batch is not None
            else self.memory.plan_rollback(OWNER, selector)
        )

    def apply(self, plan: Plan) -> str | None:
        return self.memory.apply(OWNER, plan, actor="operator:ann").batch_id

    def standing_batches(self) -> list[str]:
        """Batches that are not undone, oldest first."""
        return [batch.batch_id for batch in self.memory.batches(OWNER) if batch.undone_by is None]

    # --- what is seen ----------------------------------------------------------------------------

    @property
    def owner(self) -> Any:
        return self.memory._owner(OWNER)

    def views(self) -> dict[str, Any]:
        """All that is current: memories, what holds when, versions and decisions in force, tasks."""
        seen: dict[str, Any] = {}
        for listed in self.memory.by_status(OWNER, EVERY_STATUS):
            row = listed.memory
            if row.status == "withdrawn":
                continue
            seen[row.memory_id] = {
                **_current(row),
                "periods": [
                    (p.number, p.kind, p.status, p.valid_from, p.valid_to)
                    for p in self.memory.views.periods(self.owner, row.memory_id)
                ],
                "in force": [
                    (v.number, v.kind, v.of, v.statement)
                    for v in self.memory.views.versions(self.owner, row.memory_id)
                    if v.in_force
                ],
            }
        seen["decisions"] = [
            (d.stream_id, d.stream_version)
            for d in self.memory.decisions(OWNER, DecisionQuery(in_force=True))
        ]
        ledger = self.state.ledger
        seen["tasks"] = {t: e.change for t, e in ledger.tasks.items()}
        seen["processes"] = {p: (e.stage, e.final) for p, e in ledger.processes.items()}
        return seen

    def repeat(self) -> None:
        """Say all again that was said, with the texts that are in force."""
        rows = [self.memory.views.turn(self.owner, turn_id) for turn_id in self.said]
        self.stage.turns = [self._spoken[row.text] for row in rows if row is not None and row.text]
        self.stage.check()

    def statements(self) -> dict[str, Any]:
        """What stands in each memory, the withdrawn and held ones with nothing."""
        return {m.memory_id: m.current.statement if m.current else None for m in self.state.memories.values()}

    def saying(self) -> set[tuple[str, ...]]:
        """What is active, without regard to which memory says it and since when."""
        return {
            (s.attribute, s.value or s.content, s.polarity, s.scope.name, s.scope.anchor)
            for s in self.statements().values()
            if s is not None and (s.end.at is None or s.end.at > self.stage.clock.time)
        }

    def struck(self) -> set[tuple[str, int]]:
        """Stream and stream version of every event that is undone."""
        streams: dict[str, list[RecordedEvent]] = {}
        for entry in self.log():
            streams.setdefault(entry.stream_id, []).append(entry)
        return {(stream, v) for stream, entries in streams.items() for v in struck_versions(entries)}

    @property
    def state(self) -> OwnerState:
        return self.memory._states.load(self.owner)

    def log(self) -> list[RecordedEvent]:
        return list(self.memory.log(OWNER))


def _current(row: MemoryRow) -> dict[str, Any]:
    return {f.name: getattr(row, f.name) for f in fields(row) if f.name not in NOT_CURRENT}


EVERY_STATUS = ("active", "held", "ended", "retracted", "superseded", "rejected", "withdrawn", "erased")
NOTHING = Selector(session="never")
