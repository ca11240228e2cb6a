"""Undo: planned on the present state, shown, applied in one append, undoable itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..domain.decision import Decision
from ..domain.draft import Draft, Header
from ..domain.errors import BatchStateError, ConflictError, InvalidInputError
from ..domain.events import BatchClosed, BatchOpened, Proposed
from ..domain.many_objects import many_objects
from ..domain.owner import Owner
from ..domain.owner_state import OwnerState
from ..domain.plan import Plan
from ..domain.policy import Policy
from ..domain.ports import Clock, EventStore
from ..domain.rollback import plan_rollback, plan_turn_revision
from ..domain.selector import Selector
from ..domain.stream import RecordedEvent
from ..pipeline.controller import Judging
from .owners import OwnerStates, Writer
from .reports import BatchReport

PolicyOf = Callable[[str], Policy]
"""The policy of a fingerprint, as it was kept when it was used."""


class Undo:
    """Plans and applies undos."""

    def __init__(
        self,
        store: EventStore,
        states: OwnerStates,
        writer: Writer,
        judging: Judging,
        policy_of: PolicyOf,
        clock: Clock,
    ) -> None:
        self._store, self._states, self._writer = store, states, writer
        self._judging, self._policy_of, self._clock = judging, policy_of, clock

    def plan(self, owner: Owner, selector: Selector) -> Plan:
        """What undoing the selected events would come to; nothing is written."""
        if not selector.criteria():
            raise InvalidInputError(
                "selector", "names nothing", "give a memory, session, turn or another one"
            )
        return self._plan(owner, self._states.load(owner), selector)

    def plan_undo(self, owner: Owner, batch_id: str) -> Plan:
        """What undoing a batch would come to.

        Raises:
            BatchStateError: there is no such batch, or it is undone already.
        """
        state = self._states.load(owner)
        _check_undoable(state, batch_id)
        return self._plan(owner, state, Selector(batch=batch_id))

    def plan_revision(self, owner: Owner, state: OwnerState, turn_id: str) -> Plan:
        """What taking back all that one turn produced would come to."""
        with many_objects():
            return plan_turn_revision(turn_id, state, self._events(owner, state), self._redecide)

    def apply(self, owner: Owner, plan: Plan, *, actor: str, reason: str) -> BatchReport:
        """Write the plan, worked out anew on the present state.

        Raises:
            ConflictError: what it would do to the memories has changed since it was shown.
            BatchStateError: it undoes a batch that is undone already.
        """
        undoes = plan.selector.batch
        batch_id_of: list[str] = []

        def decide(draft: Draft) -> tuple[Plan, None]:
            if undoes is not None:
                _check_undoable(draft.state, undoes)
            now = self._plan(owner, draft.state, plan.selector)
            if now.token != plan.token:
                raise ConflictError("the memories that this plan touches have changed; plan it again")
            batch_id = draft.ids.new_id()
            batch_id_of[:] = [batch_id]
            if not now.empty:
                self._write(draft, now, batch_id, actor, reason)
            return now, None

        applied, events = self._writer.write(owner, decide)
        if not events:
            return BatchReport(None)
        touched = [effect.memory_id for effect in applied.effects]
        return BatchReport(batch_id_of[0], len(events) - 2, touched)

    def _write(self, draft: Draft, plan: Plan, batch_id: str, actor: str, reason: str) -> None:
        header = Header(actor, batch_id, self._judging.policy.fingerprint, self._clock.now())
        ledger = draft.state.ledger.ledger_id
        undoes = plan.selector.batch
        draft.add(
            ledger,
            BatchOpened(
                **header.fields(),
                batch_id=batch_id,
                kind="undo" if undoes else "rollback",
                reason=reason,
                selector=plan.selector.criteria(),
                undoes=undoes,
            ),
        )
        before = len(draft.events)
        plan.draft(draft, header, batch_id, reason)
        draft.add(
            ledger,
            BatchClosed(**header.fields(), batch_id=batch_id, written=len(draft.events) - before),
        )

    def _plan(self, owner: Owner, state: OwnerState, selector: Selector) -> Plan:
        with many_objects():
            return plan_rollback(selector, state, self._events(owner, state), self._redecide)

    def _events(self, owner: Owner, state: OwnerState) -> Sequence[RecordedEvent]:
        return [e for e in self._store.read_owner(owner) if e.position <= state.position]

    def _redecide(self, proposal: Proposed, state: OwnerState) -> Decision:
        return self._judging.redecide(proposal, state, self._policy_of(proposal.policy))


def _check_undoable(state: OwnerState, batch_id: str) -> None:
    batch = state.ledger.batches.get(batch_id)
    if batch is None:
        raise BatchStateError(batch_id, "there is no such batch")
    if batch.undone_by is not None:
        raise BatchStateError(batch_id, f"is undone already, by {batch.undone_by}")
