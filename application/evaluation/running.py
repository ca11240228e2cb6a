"""One case is played: memories in, turns in, and a look at the store before and after the last turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from ...domain.errors import InvalidInputError
from ...domain.expiry import End
from ...domain.memory import Status
from ...domain.owner import Owner
from ...domain.ports import Clock
from ...domain.scope import Scope
from ...domain.statement import Statement
from ...domain.stream import RecordedEvent
from ...domain.turn import Turn
from ...domain.values import Polarity
from ...projections.ports import Listed
from ..importing import ImportedMemory
from ..reports import BatchReport, IngestReport, TurnReport
from .cases import Case, GivenMemory, Located, SessionState, scope_named

Result = TypeVar("Result")

OWNER = Owner(tenant="eval", user="case")
SESSION = "case"
STEP = timedelta(minutes=1)
GIVEN_BEFORE = timedelta(days=1)
"""How long before the first turn the given memories were imported."""


class Remembering(Protocol):
    """What the runner needs of the façade."""

    def import_memories(self, owner: Owner, memories: Sequence[ImportedMemory]) -> BatchReport:
        """Take memories over."""

    def ingest(self, owner: Owner, turns: Sequence[Turn]) -> IngestReport:
        """Take turns in."""

    def by_status(self, owner: Owner, status: Status) -> Sequence[Listed]:
        """The memories of a status."""

    def log(self, owner: Owner) -> Iterator[RecordedEvent]:
        """The owner's events, decrypted."""


class Store(Protocol):
    """A fresh store for one case."""

    @property
    def memory(self) -> Remembering:
        """The façade before it."""

    def cells(self) -> Iterable[str | bytes]:
        """Everything that stands in any column of any table, projections included."""


OpenStore = Callable[[Clock], AbstractContextManager[Store]]
"""Opens a fresh store in memory whose clock is the given one."""


class CaseClock:
    """The clock of a case: it stands still until it is set."""

    def __init__(self, start: datetime) -> None:
        self.time = start

    def now(self) -> datetime:
        """The time that it was set to."""
        return self.time


@dataclass(frozen=True, slots=True)
class Standing:
    """What an active memory says, as far as a change of it counts; weight and counters are left out."""

    content: str
    value: str | None
    polarity: Polarity
    scope: Scope
    end: End


View = Mapping[str, Statement]
"""The statements that hold, or will, by memory id."""


@dataclass(frozen=True, slots=True)
class Played:
    """What happened in one case.

    `given` maps the case's names to memory ids. `report` is about the last turn. `texts` are all
    strings of the events, `cells` all cells of the tables; both are empty unless the case looks for
    strings that must be nowhere.
    """

    case: Case
    given: Mapping[str, str]
    before: View
    after: View
    report: TurnReport
    texts: Sequence[str] = ()
    cells: Sequence[str | bytes] = ()


def play(located: Located, open_store: OpenStore) -> Played:
    """Play a case in a store of its own.

    Raises:
        InvalidInputError: a turn or a given memory cannot be taken; names file, line and field.
    """
    case = located.case
    clock = CaseClock(case.now - GIVEN_BEFORE)
    with open_store(clock) as store:
        state = case.given.session
        memories = [_imported(memory, state) for memory in case.given.memories]
        ids = _taken(lambda: store.memory.import_memories(OWNER, memories), located, "given").memories
        before: View = {}
        report: TurnReport | None = None
        for number, said in enumerate(case.turns):
            state = state.changed_by(said.session)
            clock.time = case.now + number * STEP
            before = view_of(store.memory, clock.time)
            turn = Turn(
                user=said.user,
                assistant=said.assistant,
                session=SESSION,
                at=clock.time,
                task_id=state.task_id,
                task=state.task,
                project=state.project,
                recent_tasks=state.recent_tasks,
                allow_extraction=said.allow_extraction,
            )
            report = _take_in(store.memory, turn, located, number)
        assert report is not None, "a case has a turn"
        searched = bool(case.expect.absent) and case.expect.absent_in is None
        return Played(
            case,
            dict(zip([memory.id for memory in case.given.memories], ids, strict=True)),
            before,
            view_of(store.memory, clock.time),
            report,
            [text for event in store.memory.log(OWNER) for text in texts_in(event.event.model_dump())]
            if searched
            else (),
            list(store.cells()) if searched else (),
        )


def view_of(memory: Remembering, now: datetime) -> View:
    """The active memories whose date, if they have one, is not past; those that begin later too."""
    return {
        listed.memory.memory_id: listed.statement
        for listed in memory.by_status(OWNER, "active")
        if listed.statement is not None and (listed.statement.end.at is None or listed.statement.end.at > now)
    }


def standing(statement: Statement) -> Standing:
    """What counts when two views are compared."""
    said = statement
    return Standing(said.content, said.value, said.polarity, said.scope, said.end)


def texts_in(value: object) -> Iterator[str]:
    """Every string in a tree of plain data, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from texts_in(key)
            yield from texts_in(entry)
    elif isinstance(value, list | tuple | set | frozenset):
        for entry in value:
            yield from texts_in(entry)


def _imported(memory: GivenMemory, state: SessionState) -> ImportedMemory:
    scope = scope_named(memory.scope)
    anchors = {
        "current_task": state.task_id or f"session:{SESSION}",
        "project": state.project or "",
        "family": scope.family,
        "global": "",
    }
    return ImportedMemory(
        content=memory.content,
        type=memory.type,
        attribute=memory.attribute,
        value=memory.value,
        scope=Scope(kind=scope.kind, anchor=anchors[scope.kind]),
        confidence=memory.confidence,
    )


def _take_in(memory: Remembering, turn: Turn, located: Located, number: int) -> TurnReport:
    report = _taken(lambda: memory.ingest(OWNER, [turn]), located, f"turns.{number}")
    return report.turns[0]


def _taken(act: Callable[[], Result], located: Located, field: str) -> Result:
    try:
        return act()
    except InvalidInputError as error:
        where = f"{located.where}: {field}.{error.field}"
        raise InvalidInputError(where, error.problem, error.next_step) from error
