"""Owners' states, kept between calls and brought up to date by what was recorded since."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import TypeVar

from ..domain.draft import Draft
from ..domain.errors import OwnerPositionConflictError, WrongExpectedVersionError
from ..domain.ledger import Ledger
from ..domain.owner import Owner
from ..domain.owner_state import STATE_TOPICS, OwnerState
from ..domain.ports import Append, EventStore, IdSource
from ..domain.slot import Registry
from ..domain.stream import NewEvent, RecordedEvent

Result = TypeVar("Result")

ATTEMPTS = 50
"""How often a decision is made anew because another writer was faster, before giving up."""

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


class Writer:
    """Decides on an owner's state and appends; when another writer was faster, decides anew."""

    def __init__(self, store: EventStore, states: OwnerStates, ids: IdSource) -> None:
        self._store, self._states, self._ids = store, states, ids

    def write(
        self,
        owner: Owner,
        decide: Callable[[Draft], tuple[Result, Sequence[Part] | None]],
        *,
        compare_owner: bool = True,
    ) -> tuple[Result, list[RecordedEvent]]:
        """Let `decide` fill a draft on the present state, and append what it holds.

        Args:
            owner: Whose events they are.
            decide: Fills the draft; returns its result, and how the events are parted for the
                recording clock (None: all at once, under the real clock). It may be called again on
                a later state, so it must not have effects of its own.
            compare_owner: False for long jobs: only the versions of the touched streams must agree.

        Returns:
            The result of the call whose events were recorded, and those events.

        Raises:
            OwnerPositionConflictError, WrongExpectedVersionError: others were faster 50 times.
        """
        for attempt in range(1, ATTEMPTS + 1):
            state = self._states.load(owner)
            draft = Draft(state, self._ids)
            result, parts = decide(draft)
            if not draft.events:
                return result, []
            expected = state.position if compare_owner else None
            chosen = parts if parts is not None else [Part(draft.events)]
            try:
                recorded = self._store.append_many(
                    [Append(owner, part.events, expected, part.clock, part.recent) for part in chosen]
                )
            except (OwnerPositionConflictError, WrongExpectedVersionError):
                if attempt == ATTEMPTS:
                    raise
                continue
            events = [event for part_events in recorded for event in part_events]
            if compare_owner:  # otherwise others may have written in between
                self._states.keep(owner, draft.recorded(events))
            return result, events
        raise AssertionError("the last attempt returns or raises")
