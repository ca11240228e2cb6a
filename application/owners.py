"""Owners' states, kept between calls and brought up to date by what was recorded since."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import Generic, TypeVar

from ..domain.draft import Draft
from ..domain.errors import OwnerPositionConflictError, WrongExpectedVersionError
from ..domain.ledger import Ledger
from ..domain.many_objects import many_objects
from ..domain.owner import Owner
from ..domain.owner_state import STATE_TOPICS, OwnerState
from ..domain.ports import Append, EventStore, IdSource
from ..domain.slot import Registry
from ..domain.stream import NewEvent, RecordedEvent

Result = TypeVar("Result")

KEPT = 256
"""Owners whose states are kept in memory, the least recently used goes first."""


class OwnerStates:
    """Folded states by owner. A state that is kept is only ever a head start, never the truth."""

    def __init__(self, store: EventStore, registry: Registry) -> None:
        self._store, self._registry = store, registry
        self._kept: OrderedDict[Owner, OwnerState] = OrderedDict()
        self._lock = Lock()

    def load(self, owner: Owner) -> OwnerState:
        """The owner's present state."""
        position = self._store.owner_position(owner)
        with self._lock:
            state = self._kept.get(owner)
        if state is None:
            state = OwnerState(self._registry, Ledger(self._store.ledger_id(owner)))
        if state.position < position:
            with many_objects():
                news = self._store.read_owner(owner, after_position=state.position, topics=STATE_TOPICS)
                state = state.evolve(news)
            state = replace(state, position=max(state.position, position))
            self.keep(owner, state)
        return state

    def keep(self, owner: Owner, state: OwnerState) -> None:
        """Remember a state, unless a later one is kept already."""
        with self._lock:
            kept = self._kept.get(owner)
            if kept is None or kept.position <= state.position:
                self._kept[owner] = state
                self._kept.move_to_end(owner)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Part:
    """Events of a draft that are recorded at one time of a simulated clock (None: the real one).

    `recent` holds the masked texts of turns, by id, for the buffer of recent turns.
    """

    events: Sequence[NewEvent]
    clock: datetime | None = None
    recent: Mapping[str, str] = field(default_factory=dict)


class Lines:
    """Lets the threads that write for one owner do so one after another, in the order in which they came.

    Of decisions made side by side on one state all but one are in vain; and whoever takes longest to
    decide would lose again and again to those who are quick.
    """

    def __init__(self) -> None:
        self._lines: dict[Owner, deque[Lock]] = {}
        self._gate = Lock()

    @contextmanager
    def turn(self, owner: Owner) -> Iterator[None]:
        """Wait for those who came before; be the only one in the body. Not to be entered twice."""
        mine = Lock()
        mine.acquire()
        with self._gate:
            line = self._lines.setdefault(owner, deque())
            line.append(mine)
            if line[0] is mine:
                mine.release()
        try:
            mine.acquire()
            yield
        finally:  # also of who was interrupted while he waited
            with self._gate:
                first = line[0] is mine
                line.remove(mine)
                if not line:
                    del self._lines[owner]
                elif first:
                    line[0].release()


Decide = Callable[[Draft], tuple[Result, Sequence[Part] | None]]
"""Fills a draft, and says what came of it and how its events are parted."""


class Writer:
    """Decides on an owner's state and appends; when another writer was faster, decides anew.

    Threads wait for each other. Another process can be faster, but only once: then all others are kept
    from writing while the decision is made, so that nobody loses for ever.
    """

    def __init__(self, store: EventStore, states: OwnerStates, ids: IdSource) -> None:
        self._store, self._states, self._ids = store, states, ids
        self._lines = Lines()
        self._overtaken: dict[Owner, int] = {}
        """Owners for whom another process was faster the last time, with the position that we left."""

    def write(self, owner: Owner, decide: Decide[Result]) -> tuple[Result, list[RecordedEvent]]:
        """Let `decide` fill a draft on the present state, and append what it holds.

        Args:
            owner: Whose events they are.
            decide: Fills the draft; returns its result, and how the events are parted for the
                recording clock (None: all at once, under the real clock). It may be called again on
                a later state, so it must not have effects of its own.

        Returns:
            The result of the call whose events were recorded, and those events.

        Raises:
            StoreUnavailableError: nothing was acknowledged; see the store. That others were faster is
                no error.
        """
        with self._lines.turn(owner):
            left_at, attempt = self._overtaken.pop(owner, None), None
            if left_at is None:
                # Else it would be in vain again: the other process is likely to go on.
                with suppress(OwnerPositionConflictError, WrongExpectedVersionError):
                    attempt = self._attempt(owner, decide)
            if attempt is None:
                with self._store.alone(owner):
                    attempt = self._attempt(owner, decide)
                self._note_overtaken(owner, left_at, attempt)
            if attempt.events:
                self._states.keep(owner, attempt.draft.recorded(attempt.events))
            return attempt.result, attempt.events

    def _attempt(self, owner: Owner, decide: Decide[Result]) -> _Attempt[Result]:
        state = self._states.load(owner)
        draft = Draft(state, self._ids)
        result, parts = decide(draft)
        if not draft.events:
            return _Attempt(state.position, draft, result, [])
        chosen = parts if parts is not None else [Part(draft.events)]
        recorded = self._store.append_many(
            [Append(owner, part.events, state.position, part.clock, part.recent) for part in chosen]
        )
        events = [event for part_events in recorded for event in part_events]
        return _Attempt(state.position, draft, result, events)

    def _note_overtaken(self, owner: Owner, left_at: int | None, attempt: _Attempt[Result]) -> None:
        """Remember the owner, unless nobody wrote for him since we did."""
        if attempt.position == left_at:
            return
        if len(self._overtaken) >= KEPT:
            self._overtaken.clear()
        self._overtaken[owner] = attempt.events[-1].position if attempt.events else attempt.position


@dataclass(frozen=True, slots=True)
class _Attempt(Generic[Result]):
    """A decision on the state at a position, and what of it was recorded."""

    position: int
    draft: Draft
    result: Result
    events: list[RecordedEvent]
