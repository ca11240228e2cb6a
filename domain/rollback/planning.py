"""From the events that are to be undone to the plan."""

from __future__ import annotations

from collections.abc import Sequence

from ..effects import effects_of
from ..events import BatchClosed, BatchOpened, Judged, RolledBack
from ..owner_state import OwnerState
from ..plan import Plan
from ..selector import Selector, select
from ..stream import RecordedEvent
from ..timeline import key_of
from .ending import Ending
from .outlook import Outlook
from .recorded import Recorded
from .redeciding import Redecide, Redeciding
from .sharing import Sharing
from .struck import Struck


def plan_rollback(
    selector: Selector,
    state: OwnerState,
    events: Sequence[RecordedEvent],
    redecide: Redecide,
) -> Plan:
    """Work out what undoing the selected events comes to.

    Args:
        selector: What to undo; `Selector(batch=…)` undoes a batch, be it a rollback itself.
        state: The owner's present state.
        events: All the owner's events up to the state's position, ascending.
        redecide: Decides a recorded candidate again.

    Returns:
        The plan; `plan.empty` when the selector names nothing.
    """
    contexts = {e.stream_id: e.event.context for e in events if isinstance(e.event, Judged)}
    return _plan(selector, select(selector, events, contexts), state, events, redecide)


def plan_turn_revision(
    turn_id: str, state: OwnerState, events: Sequence[RecordedEvent], redecide: Redecide
) -> Plan:
    """Undo all that one turn produced, its judgement too, because its text was edited."""
    produced = [
        e
        for e in events
        if e.event.correlation_id == turn_id
        and not isinstance(e.event, RolledBack | BatchOpened | BatchClosed)
    ]
    return _plan(Selector(turn=turn_id), produced, state, events, redecide)


def _plan(
    selector: Selector,
    selected: Sequence[RecordedEvent],
    state: OwnerState,
    events: Sequence[RecordedEvent],
    redecide: Redecide,
) -> Plan:
    recorded = Recorded(state, events)
    struck = Struck(recorded, {key_of(entry) for entry in selected})
    outlook = Outlook(recorded, struck)
    if struck.changed:
        ending = Ending(recorded, struck, outlook)
        redeciding = Redeciding(recorded, struck, outlook, ending, redecide)
        redeciding.decide_all()
        Sharing(recorded, struck, outlook, ending, redeciding.topics).sort_out()
    names, fallen = struck.undoings()
    after = outlook.after
    return Plan(
        selector=selector,
        selected=tuple(entry.ref for entry in selected),
        struck=recorded.refs(struck.now - struck.before),
        effects=effects_of(
            state,
            after,
            [stream for stream, _ in recorded.line.in_order(struck.changed)],
            outlook.added,
            outlook.steps,
        ),
        tasks_reopened=tuple(
            task
            for task in state.ledger.tasks
            if state.ledger.task_finished(task) and not after.ledger.task_finished(task)
        ),
        steps=tuple(outlook.steps),
        names=names,
        fallen=recorded.refs(fallen),
        turn_versions=recorded.turn_versions,
    )
