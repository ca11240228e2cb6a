"""A gate that says what a test tells it to, on the real store, policy and projections."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from memstrata import Memstrata, Turn
from memstrata.domain.candidate import Candidate, Signal
from memstrata.domain.events import BatchClosed, BatchOpened, Judged, Proposed, RolledBack, Superseded
from memstrata.domain.evidence import Span, bind
from memstrata.domain.judgement import Judgement
from memstrata.domain.ports import Prepared
from memstrata.pipeline.controller import Gate
from memstrata.pipeline.relate import WordRelations

ZONE = timezone(timedelta(hours=8))
OWNER = "acme/lin"


def day(month: int, date: int, hour: int = 9) -> datetime:
    return datetime(2026, month, date, hour, tzinfo=ZONE)


class SteppingClock:
    """Moves one second with each look, and jumps where it is told to."""

    def __init__(self, start: datetime) -> None:
        self.time = start

    def now(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


class ScriptedExtractor:
    """Finds what the script names for a turn's text; the whole text is the evidence."""

    def __init__(self) -> None:
        self.script: dict[str, list[dict[str, Any]]] = {}

    def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
        words = bind(prepared.context.turn_id, prepared.text, (Span(start=0, end=len(prepared.text)),))
        defaults = {"extractor": "x0", "rule": "scripted", "category": "preference", "evidence": (words,)}
        return [Candidate(**{**defaults, **fields}) for fields in self.script.get(prepared.text, [])]


class WillingJudge:
    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement:
        return Judgement(
            should_extract=True,
            confidence=0.9,
            category="preference",
            stability="stable",
            importance=4,
            reason="scripted",
            route="rules",
            rule="scripted",
        )


class Stage:
    """One owner's conversation, told turn by turn."""

    def __init__(self, url: str = "sqlite://", start: datetime | None = None) -> None:
        self.clock = SteppingClock(start or day(10, 1))
        self.extractor = ScriptedExtractor()
        gate = Gate(
            fast_reject=lambda prepared: None,
            extractors=(self.extractor,),
            judges=(WillingJudge(),),
            normalise=lambda judgement, candidates: judgement,
            relations_of=WordRelations,
        )
        self.memory = Memstrata.open(url, clock=self.clock, gate=gate)
        self.turns: list[Turn] = []

    def says(self, text: str, *candidates: dict[str, Any], session: str, **turn: Any) -> str:
        """Let the user say something; returns the turn's id."""
        self.extractor.script[text] = list(candidates)
        self.turns.append(Turn(user=text, assistant="ok", session=session, message_id=text, **turn))
        return self.memory.ingest(OWNER, [self.turns[-1]]).turns[0].turn_id

    def active(self) -> list[str]:
        """Contents that hold now, oldest memory first."""
        return [listed.memory.content for listed in self.memory.memories(OWNER)]

    def id_of(self, content: str) -> str:
        """The memory that once said it."""
        for event in self.memory.log(OWNER):
            statement = getattr(event.event, "statement", None)
            if (
                statement is not None
                and statement.content == content
                and not isinstance(event.event, Proposed)
            ):
                return event.stream_id
        raise AssertionError(f"nothing ever said {content!r}")

    def written_since(self, position: int) -> list[tuple[str, ...]]:
        """Every event after a position but judgements, accepted proposals and a batch's frame.

        As `(stream, name, what it names)`, where a stream is called by its first content.
        """
        told = []
        for entry in self.memory.log(OWNER, after_position=position):
            event = entry.event
            if isinstance(event, Judged | BatchOpened | BatchClosed):
                continue
            if isinstance(event, Proposed) and event.outcome == "accepted":
                continue
            what = ""
            if isinstance(event, RolledBack):
                what = ",".join(self.name_of(entry.stream_id, version) for version in event.names)
            elif isinstance(event, Superseded):
                what = self.first_content(event.successor)
            told.append((self.first_content(entry.stream_id), type(event).__name__, what))
        return told

    def name_of(self, stream_id: str, version: int) -> str:
        """The type of a stream's event."""
        for event in self.memory.log(OWNER):
            if event.stream_id == stream_id and event.stream_version == version:
                return type(event.event).__name__
        raise AssertionError("no such event")

    def first_content(self, stream_id: str) -> str:
        history = self.memory.views.versions(self.memory._owner(OWNER), stream_id)
        return history[0].statement.content if history and history[0].statement else stream_id

    @property
    def position(self) -> int:
        return self.memory.store.head_position()

    def check(self) -> None:
        """What holds after every scenario: rebuild = live, the chain verifies, nothing new on repeat."""
        before = self.position
        self.memory.ingest(OWNER, self.turns)
        assert self.position == before
        assert self.memory.rebuild(check=True).same
        assert [report.problem for report in self.memory.verify()] == [None]


def standing(content: str, family: str, **more: Any) -> dict[str, Any]:
    """A standing instruction for a family of tasks, in free text."""
    signals = (
        Signal(kind="lasting", text="always", start=0, end=1),
        Signal(kind="family", text=family, start=0, end=1, value=family),
    )
    return {
        "kind": "preference",
        "attribute": "instruction",
        "content": content,
        "importance": 4,
        "family": family,
        "signals": signals,
        **more,
    }


def city(name: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "fact",
        "attribute": "city",
        "value": name,
        "content": f"用户住在{name}",
        "category": "important_fact",
        "importance": 4,
        **more,
    }


def taste(thing: str, **more: Any) -> dict[str, Any]:
    return {"kind": "preference", "attribute": "taste", "value": thing, "content": f"用户喜欢{thing}", **more}


def habit(key: str, family: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "hint",
        "attribute": "habit",
        "hint_key": key,
        "content": key,
        "family": family,
        "source": "single_task_inference",
        "signals": (Signal(kind="family", text=family, start=0, end=1, value=family),),
        **more,
    }


def dropped(attribute: str, value: str, intent: str) -> dict[str, Any]:
    """A taking back: `intent` is `end` (no longer so) or `retract` (it is not to be kept)."""
    return {
        "kind": "retraction",
        "attribute": attribute,
        "value": value,
        "content": f"不再记{value}",
        "intent": intent,
    }
