"""One case is played: memories in, turns in, and a look at the store before and after the last turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

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
from .cases import DEFAULT_NOW, Case, CaseTurn, GivenMemory, Located, SessionState, scope_named

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
    """A store that cases are played in."""

    @property
    def memory(self) -> Remembering:
        """The façade before it."""

    def cells(self) -> Iterable[str | bytes]:
        """Everything that stands in any column of any table, projections included."""


OpenStore = Callable[[Clock], AbstractContextManager[Store]]
"""Opens a fresh store in memory whose clock is the given one."""


class CaseClock:
    """The clock of a case: it stands still until it is set."""

    def __init__(self) -> None:
        self.time = datetime.fromisoformat(DEFAULT_NOW)

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


def looks_everywhere(case: Case) -> bool:
    """Whether the case names strings that may stand nowhere in its store."""
    return bool(case.expect.absent) and case.expect.absent_in is None


def play(located: Located, store: Store, clock: CaseClock) -> Played:
    """Play a case, as an owner of its own.

    Cases share nothing but the store's log, so that they may follow one another in one store; a case
    that looks everywhere needs a fresh one, else it would find what others have written.

    Raises:
        InvalidInputError: a turn or a given memory cannot be taken; names file, line and field.
    """
    case, memory = located.case, store.memory
    owner = Owner(tenant="eval", user=case.id)
    clock.time = case.now - GIVEN_BEFORE
    state = case.given.session
    imported = [_imported(given, state) for given in case.given.memories]
    with _naming(located, "given"):
        ids = memory.import_memories(owner, imported).memories
    before: View = {}
    report: TurnReport | None = None
    for number, said in enumerate(case.turns):
        state = state.changed_by(said.session)
        clock.time = case.now + number * STEP
        before = view_of(memory, owner, clock.time)
        with _naming(located, f"turns.{number}"):
            report = memory.ingest(owner, [_turn(said, state, clock.time)]).turns[0]
    assert report is not None, "a case has a turn"
    everywhere = looks_everywhere(case)
    return Played(
        case,
        dict(zip([given.id for given in case.given.memories], ids, strict=True)),
        before,
        view_of(memory, owner, clock.time),
        report,
        _texts_of_events(memory, owner) if everywhere else (),
        list(store.cells()) if everywhere else (),
    )


def view_of(memory: Remembering, owner: Owner, now: datetime) -> View:
    """The active memories whose date, if they have one, is not past; those that begin later too."""
    return {
        listed.memory.memory_id: listed.statement
        for listed in memory.by_status(owner, "active")
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


def _turn(said: CaseTurn, state: SessionState, at: datetime) -> Turn:
    return Turn(
        user=said.user,
        assistant=said.assistant,
        session=SESSION,
        at=at,
        task_id=state.task_id,
        task=state.task,
        project=state.project,
        recent_tasks=state.recent_tasks,
        allow_extraction=said.allow_extraction,
    )


def _texts_of_events(memory: Remembering, owner: Owner) -> list[str]:
    return [text for event in memory.log(owner) for text in texts_in(event.event.model_dump())]


@contextmanager
def _naming(located: Located, field: str) -> Iterator[None]:
    """Let an error about what was handed over say where in the file that stands."""
    try:
        yield
    except InvalidInputError as error:
        where = f"{located.where}: {field}.{error.field}"
        raise InvalidInputError(where, error.problem, error.next_step) from error
