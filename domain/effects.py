"""What a plan comes to for each memory that it touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .events import Created, Updated
from .memory import Memory, Status
from .owner_state import OwnerState
from .plan import Effect, Fate, ReEnd, Step
from .statement import Statement
from .stream import RecordedEvent


def effects_of(
    state: OwnerState,
    after: OwnerState,
    struck: Iterable[str],
    added: Sequence[RecordedEvent],
    steps: Sequence[Step],
) -> tuple[Effect, ...]:
    """Each touched memory before and after.

    Args:
        state: The present state.
        after: The state once the plan is written.
        struck: Streams in which something is undone or comes back, in the order to tell of them.
        added: What the steps write.
        steps: The steps.
    """
    touched = dict.fromkeys(struck)
    touched.update(dict.fromkeys(entry.stream_id for entry in added))
    successors = {step.memory_id for step in steps if isinstance(step, ReEnd)}
    opened = {e.stream_id for e in added if isinstance(e.event, Created | Updated)}
    effects = []
    for memory_id in touched:
        before = state.memories.get(memory_id) or Memory(memory_id)
        then = after.memories.get(memory_id) or Memory(memory_id)
        if before.status == "none" and then.status == "none":
            continue
        was, now = _said(before), _said(then)
        if memory_id in successors:
            successor = then.closing.successor if then.closing else None
            effects.append(Effect(memory_id, "re-ended", was, now, successor))
        elif memory_id in opened and now is not None:
            effects.append(Effect(memory_id, "reinstated", was, now))
        else:
            effects.append(Effect(memory_id, _fate(was, now, before.status, then.status), was, now))
    return tuple(effects)


def _said(memory: Memory) -> Statement | None:
    return memory.current.statement if memory.current is not None else None


def _fate(was: Statement | None, now: Statement | None, before: Status, after: Status) -> Fate:
    """What became of a memory that nothing new was written to."""
    if after == "held" and before != "held":
        return "held"
    if now is None and was is not None:
        return "withdrawn"
    if now is not None and was is None:
        return "revived"
    if now != was:
        return "changed"
    return "withdrawn" if after == "withdrawn" and before != "withdrawn" else "survives"
