"""What a plan comes to for each memory that it touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .events import Created, Updated
from .memory import Memory
from .owner_state import OwnerState
from .plan import Effect, Fate, ReEnd, Step
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
        fate = _fate(before, then, ended=memory_id in successors, opened=memory_id in opened)
        successor = then.closing.successor if fate == "re-ended" and then.closing else None
        effects.append(
            Effect(
                memory_id,
                fate,
                before.current.statement if before.current else None,
                then.current.statement if then.current else None,
                successor,
            )
        )
    return tuple(effects)


def _fate(before: Memory, after: Memory, *, ended: bool, opened: bool) -> Fate:
    was = before.current.statement if before.current else None
    now = after.current.statement if after.current else None
    if ended:
        return "re-ended"
    if opened and now is not None:
        return "reinstated"
    if after.status == "held" and before.status != "held":
        return "held"
    if now is None and was is not None:
        return "withdrawn"
    if now is not None and was is None:
        return "revived"
    if now != was:
        return "changed"
    return "withdrawn" if after.status == "withdrawn" and before.status != "withdrawn" else "survives"
