"""What an owner's events mean: a second definition, written without a look at the first.

It knows the event types and nothing else of the product. Nothing is folded step by step here, nothing is
cached between events, nothing is fast: each question is answered from all the events of a stream, as the
rule itself is put. Where the product and this module disagree, one of them misreads the rule.

1. **In force.** An event is in force unless a `RolledBack` of its stream that is in force names it.
2. **Places.** Each version has a place in its memory's story. A version that corrects, refines, merges,
   extends or reweighs has the place of the version that it is about, and is late if that one is; any
   other has a place of its own. Of several versions in force at one place the last one written speaks.
3. **Closings** (superseded, ended, retracted) have places too. What is retracted held at no time: every
   place before it is void.
4. **What stands** is told by the last place in force that is not a late version's: a version there is
   current, a closing there means that nothing is.
5. **What held at a moment** is told by the last place that has something to say about the moment. A
   version speaks about everything from its start on: it holds until its dated end, and nothing does after
   that. A closing speaks about everything from its time on: nothing holds. A late version speaks only
   about its own closed period. That ends where it says, but not after it was said; where it does not say,
   at what is known to begin next; and where nothing does, when it was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

from memstrata.domain.events import (
    BatchClosed,
    BatchOpened,
    Created,
    Endorsed,
    Erased,
    Event,
    Expired,
    Judged,
    ProcessChanged,
    Proposed,
    RolledBack,
    Superseded,
    TaskChanged,
    Updated,
)
from memstrata.domain.statement import Statement

KEEPS_PLACE = ("correct", "refine", "merge", "extend", "reweigh")


class Recorded(Protocol):
    """An event in its envelope."""

    @property
    def position(self) -> int: ...
    @property
    def stream_id(self) -> str: ...
    @property
    def stream_version(self) -> int: ...
    @property
    def event(self) -> Event: ...


Decide = Callable[[Proposed], str]

Key = tuple[str, int]
"""Stream and stream version."""


@dataclass(frozen=True)
class Version:
    """The n-th statement of a memory."""

    number: int
    entry: Recorded
    statement: Statement
    place: int
    late: bool
    in_force: bool


@dataclass(frozen=True)
class Closing:
    """An end in force, at its own place."""

    place: int
    kind: str
    at: datetime
    reason: str
    successor: str | None


@dataclass(frozen=True)
class Period:
    """A version holds in `[start, end)`; None is an open end."""

    number: int
    start: datetime
    end: datetime | None


class Stream:
    """All the events of one stream up to some position, ascending."""

    def __init__(self, entries: Sequence[Recorded]) -> None:
        self.entries = entries

    def until(self, position: int) -> Stream:
        """The stream as it was when the position was the last one."""
        return Stream([entry for entry in self.entries if entry.position <= position])

    # --- in force --------------------------------------------------------------------------------

    @cached_property
    def _rollbacks(self) -> list[tuple[int, RolledBack]]:
        return [(e.stream_version, e.event) for e in self.entries if isinstance(e.event, RolledBack)]

    def struck_by(self, version: int) -> str | None:
        """The batch of the first rollback in force that names the event; None while it is in force.

        A rollback names only what is before it, so the question ends.
        """
        for own, rollback in self._rollbacks:
            if version in rollback.names and self.struck_by(own) is None:
                return rollback.batch_id
        return None

    @cached_property
    def in_force(self) -> list[Recorded]:
        """The events that count, in order."""
        return [entry for entry in self.entries if self.struck_by(entry.stream_version) is None]

    @cached_property
    def _standing(self) -> frozenset[int]:
        return frozenset(entry.stream_version for entry in self.in_force)

    def stands(self, version: int) -> bool:
        """Whether the event is in force."""
        return version in self._standing

    # --- versions and closings -------------------------------------------------------------------

    @cached_property
    def versions(self) -> list[Version]:
        """Every statement, struck ones too, numbered from 1."""
        found: list[Version] = []
        for entry in self.entries:
            event = entry.event
            if not isinstance(event, Created | Updated):
                continue
            place, late = entry.stream_version, isinstance(event, Updated) and event.kind == "late"
            if isinstance(event, Updated) and event.kind in KEEPS_PLACE and event.of is not None:
                about = found[event.of - 1]
                place, late = about.place, about.late
            version = Version(
                number=len(found) + 1,
                entry=entry,
                statement=event.statement,
                place=place,
                late=late,
                in_force=self.stands(entry.stream_version),
            )
            found.append(version)
        return found

    @cached_property
    def speaking(self) -> list[Version]:
        """The versions in force that speak for their places, by place."""
        return sorted({v.place: v for v in self.versions if v.in_force}.values(), key=lambda v: v.place)

    @cached_property
    def closings(self) -> list[Closing]:
        """The ends in force, by place."""
        found = []
        for entry in self.in_force:
            event, place = entry.event, entry.stream_version
            if isinstance(event, Superseded):
                found.append(Closing(place, "superseded", event.at, "superseded", event.successor))
            elif isinstance(event, Expired):
                found.append(Closing(place, event.kind, event.at, event.reason, None))
        return found

    @cached_property
    def story(self) -> list[Version | Closing]:
        """What counts, by place, without what a retraction made void."""
        void_before = max((c.place for c in self.closings if c.kind == "retracted"), default=0)
        told = [*self.speaking, *self.closings]
        return sorted((one for one in told if one.place > void_before), key=lambda one: one.place)

    # --- what stands -----------------------------------------------------------------------------

    @cached_property
    def last(self) -> Version | None:
        """The version that stands, or stood before it closed."""
        return next((version for version in reversed(self.speaking) if not version.late), None)

    @cached_property
    def closing(self) -> Closing | None:
        """How it closed; None while something stands."""
        last = self.closings[-1] if self.closings else None
        if last is None or (self.last is not None and self.last.place > last.place):
            return None
        return last

    @property
    def current(self) -> Version | None:
        """The version that stands."""
        return self.last if self.closing is None else None

    # --- what held when --------------------------------------------------------------------------

    def holding(self, moment: datetime) -> Version | None:
        """The version that holds in the world at the moment."""
        return _holder(self.story, moment)

    @cached_property
    def periods(self) -> list[Period]:
        """The moments at which versions hold, cut where the holder changes."""
        return _periods(self.story)

    # --- proposals and people --------------------------------------------------------------------

    @property
    def hints(self) -> list[tuple[Recorded, Proposed]]:
        """What was held, in force."""
        proposals = [(entry, entry.event) for entry in self.in_force if isinstance(entry.event, Proposed)]
        return [(entry, proposal) for entry, proposal in proposals if proposal.outcome == "held"]

    @property
    def confirmations(self) -> list[Proposed]:
        """What said it again, in force."""
        proposals = [entry.event for entry in self.in_force if isinstance(entry.event, Proposed)]
        return [proposal for proposal in proposals if proposal.outcome == "confirmed"]

    @property
    def verdicts(self) -> list[str]:
        """What people said of it, in force, in order."""
        return [entry.event.verdict for entry in self.in_force if isinstance(entry.event, Endorsed)]

    @property
    def pinned(self) -> bool:
        """Whether it was pinned and not unpinned since."""
        pins = [verdict for verdict in self.verdicts if verdict in ("pinned", "unpinned")]
        return pins[-1:] == ["pinned"]

    # --- the memory as a whole -------------------------------------------------------------------

    @property
    def is_memory(self) -> bool:
        """Whether the stream is a memory's, and neither a turn's nor a ledger's."""
        return any(
            isinstance(entry.event, Created | Updated | Superseded | Expired | Endorsed | Erased)
            or (isinstance(entry.event, Proposed) and entry.event.target == entry.stream_id)
            for entry in self.entries
        )

    @property
    def status(self) -> str:
        """Where the memory stands, whatever the time; `none` where nothing makes it a memory."""
        if self.current is not None:
            return "active"
        if self.last is not None and self.closing is not None:
            return self.closing.kind
        if self.speaking:  # only the past is left
            return self.closing.kind if self.closing is not None else "withdrawn"
        if "rejected" in self.verdicts:
            return "rejected"
        if self.hints:
            return "held"
        return "withdrawn" if self.versions else "none"

    @property
    def statement(self) -> Statement | None:
        """What the memory is about: what stands or stood, else the last hint, else the last thing undone."""
        if self.last is not None:
            return self.last.statement
        offered = [hint.statement for _, hint in self.hints if hint.statement is not None]
        if offered:
            return offered[-1]
        return self.versions[-1].statement if self.versions else None


def _holder(story: Sequence[Version | Closing], moment: datetime) -> Version | None:
    """The last place that has something to say about the moment has the word."""
    for index in reversed(range(len(story))):
        told = story[index]
        if isinstance(told, Closing):
            if moment >= told.at:
                return None
        elif told.late:
            if told.statement.valid_from <= moment < _late_end(story[:index], told.statement):
                return told
        elif moment >= told.statement.valid_from:
            end = told.statement.end.at
            return told if end is None or moment < end else None
    return None


def _late_end(before: Sequence[Version | Closing], statement: Statement) -> datetime:
    said_at = statement.provenance.said_at
    if statement.end.at is not None:
        return min(statement.end.at, said_at)
    begins = [period.start for period in _periods(before) if period.start > statement.valid_from]
    return min(begins, default=said_at)


def _periods(story: Sequence[Version | Closing]) -> list[Period]:
    """Ask at each moment at which anything may change."""
    moments: set[datetime] = set()
    for index, told in enumerate(story):
        if isinstance(told, Closing):
            moments.add(told.at)
        else:
            said = told.statement
            moments.add(said.valid_from)
            moments |= {said.end.at} if said.end.at is not None else set()
            moments |= {_late_end(story[:index], said)} if told.late else set()
    ordered = sorted(moments)
    found: list[Period] = []
    ends: list[datetime | None] = [*ordered[1:], None]
    for start, end in zip(ordered, ends, strict=False):
        holder = _holder(story, start)
        if holder is None:
            continue
        if found and found[-1].number == holder.number and found[-1].end == start:
            found[-1] = Period(holder.number, found[-1].start, end)
        else:
            found.append(Period(holder.number, start, end))
    return found


# --- the owner as a whole ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Unsupported:
    """Something in force that rests on what is not."""

    entry: Recorded
    why: str


class Story:
    """All the events of one owner, ascending."""

    def __init__(self, entries: Iterable[Recorded] = ()) -> None:
        self.entries: list[Recorded] = []
        self.streams: dict[str, Stream] = {}
        self.tell(entries)

    def tell(self, entries: Iterable[Recorded]) -> set[str]:
        """Go on; the streams that have more to say now."""
        grouped: dict[str, list[Recorded]] = {}
        for entry in entries:
            self.entries.append(entry)
            grouped.setdefault(entry.stream_id, []).append(entry)
        for stream_id, new in grouped.items():
            before = self.streams[stream_id].entries if stream_id in self.streams else ()
            self.streams[stream_id] = Stream([*before, *new])
        return set(grouped)

    @property
    def memories(self) -> dict[str, Stream]:
        """The streams that are memories."""
        return {stream_id: stream for stream_id, stream in self.streams.items() if stream.is_memory}

    def stands(self, stream_id: str, version: int) -> bool:
        """Whether an event is in force."""
        return self.streams[stream_id].stands(version)

    def in_force(self) -> Iterator[Recorded]:
        """Every event that counts, ascending."""
        return (entry for entry in self.entries if self.stands(entry.stream_id, entry.stream_version))

    # --- the ledger ------------------------------------------------------------------------------

    @property
    def tasks(self) -> dict[str, str]:
        """The last change in force of each task."""
        changes = [entry.event for entry in self.in_force() if isinstance(entry.event, TaskChanged)]
        return {change.task_id: change.change for change in changes}

    @property
    def processes(self) -> dict[str, tuple[str, bool]]:
        """Stage of each long process, and whether it is over."""
        moves = [entry.event for entry in self.in_force() if isinstance(entry.event, ProcessChanged)]
        return {move.process: (move.stage, move.final) for move in moves}

    @property
    def opened(self) -> dict[str, BatchOpened]:
        """Every batch, in order."""
        events = [entry.event for entry in self.entries if isinstance(entry.event, BatchOpened)]
        return {event.batch_id: event for event in events}

    @property
    def written(self) -> dict[str, int]:
        """How many events each complete batch says it wrote."""
        events = [entry.event for entry in self.entries if isinstance(entry.event, BatchClosed)]
        return {event.batch_id: event.written for event in events}

    def undone_by(self, batch_id: str) -> str | None:
        """The undo of a batch that stands, that is, is not undone itself."""
        undos = [undo.batch_id for undo in self.opened.values() if undo.undoes == batch_id]
        return next((undo for undo in undos if self.undone_by(undo) is None), None)

    # --- turns -----------------------------------------------------------------------------------

    def judged(self, turn_id: str) -> list[tuple[Recorded, Judged]]:
        """The judgements of a turn, undone ones too."""
        return [(e, e.event) for e in self.streams[turn_id].entries if isinstance(e.event, Judged)]

    # --- support ---------------------------------------------------------------------------------

    def unsupported(self, threshold: int) -> list[Unsupported]:
        """What is in force although what it rests on is not; nothing, in any committed state.

        `threshold` is how many occasions let a hint become a memory.
        """
        return [
            Unsupported(entry, why)
            for entry in self.in_force()
            if (why := self._lacks(entry.event, threshold)) is not None
        ]

    def _lacks(self, event: Event, threshold: int) -> str | None:
        if isinstance(event, Superseded | Expired):
            lost = [ref for ref in event.caused_by if not self.stands(ref.stream, ref.version)]
            return "its cause is undone" if lost else None
        if not isinstance(event, Created | Updated):
            return None
        if any(not self.stands(ref.stream, ref.version) for ref in event.based_on):
            return "what it took over is undone"
        legs = [self._event(ref) for ref in event.caused_by if self.stands(ref.stream, ref.version)]
        if event.caused_by and not legs:
            return "no leg is left"
        hints = [leg for leg in legs if isinstance(leg, Proposed)]
        if _counts_occasions(event) and any(hint.candidate.kind == "hint" for hint in hints):
            seen = {hint.context.occasion for hint in hints}
            return f"seen on {len(seen)} occasions" if len(seen) < threshold else None
        return None

    def _event(self, ref: Any) -> Event:
        return self.streams[ref.stream].entries[ref.version - 1].event

    def forsaken(self, decide: Decide) -> list[Recorded]:
        """Repetitions in force of what nothing in force says any more, though by itself each would be let in.

        None, in any committed state: a fact keeps standing while anybody's word for it stands. Free text is
        left out: what repeats it, and what says it better, depends on the words that stood at the time.
        `decide` is the policy's decision about a candidate on the owner's present state: its outcome.
        """
        renewed = {
            (ref.stream, ref.version)
            for entry in self.in_force()
            if isinstance(entry.event, Proposed)
            for ref in entry.event.caused_by
        }
        return [
            entry
            for stream in self.memories.values()
            if not stream.speaking and not stream.closings and "rejected" not in stream.verdicts
            for entry in stream.in_force
            if isinstance(entry.event, Proposed)
            and entry.event.outcome == "confirmed"
            and entry.event.candidate.value is not None
            and (entry.stream_id, entry.stream_version) not in renewed
            and decide(entry.event) == "accepted"
        ]


def _counts_occasions(event: Created | Updated) -> bool:
    """Whether a version rests on repetition alone: on hints, and on nobody's word."""
    return isinstance(event, Created) and event.statement.provenance.source == "repeated_behaviour"


def occasions(hints: Iterable[tuple[Recorded, Proposed]]) -> set[str]:
    """Where hints were seen."""
    return {hint.context.occasion for _, hint in hints}


def slots(statements: Mapping[str, Statement], single: Any) -> dict[tuple[str, ...], list[str]]:
    """Memories by what they are about; `single(attribute)` tells whether it has one value at a time."""
    found: dict[tuple[str, ...], list[str]] = {}
    for memory_id, said in statements.items():
        value = "" if single(said.attribute) else (said.value or said.content)
        key = (said.subject, said.attribute, said.scope.kind, said.scope.anchor, value.casefold())
        found.setdefault(key, []).append(memory_id)
    return found
