"""Which events a rollback is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .events import (
    BatchClosed,
    BatchOpened,
    Created,
    Erased,
    Event,
    Judged,
    Proposed,
    RolledBack,
    Updated,
)
from .given import Given
from .stream import RecordedEvent
from .turn import TurnContext
from .values import Moment


class Selector(Given):
    """Picks events; several criteria must all hold.

    `memory` with `after_version` picks what followed that chain version of one memory. `since` and
    `until` bound `recorded_at`, half-open. `batch` picks all that one batch wrote, undos and the
    judgement of an edited turn included; every other criterion passes over `RolledBack` and
    tombstones. What people did is picked only by `actor`, `memory` or `batch`.

    Raises:
        InvalidInputError: a criterion is unknown or of the wrong kind.
    """

    memory: str | None = None
    after_version: int | None = None
    turn: str | None = None
    session: str | None = None
    extractor: str | None = None
    rule: str | None = None
    channel: str | None = None
    actor: str | None = None
    policy: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    batch: str | None = None

    def criteria(self) -> dict[str, str]:
        """The criteria that are set, as text, for the batch's record."""
        return {name: str(value) for name, value in self if value is not None}


def select(
    selector: Selector, events: Sequence[RecordedEvent], contexts: Mapping[str, TurnContext]
) -> list[RecordedEvent]:
    """The events that the selector names, in order, struck ones included.

    Args:
        selector: What to pick; one without any criterion picks nothing.
        events: All the owner's events, ascending.
        contexts: The turns' contexts by turn id, for events that say only which turn they are of.
    """
    if not selector.criteria():
        return []
    threshold = _threshold(selector, events)
    judged_anew = _judged_by_revision(selector, events)
    return [e for e in events if e.position in judged_anew or _matches(selector, e, contexts, threshold)]


def _judged_by_revision(selector: Selector, events: Sequence[RecordedEvent]) -> range:
    """Positions of what the revision of a turn wrote, when such a batch is meant.

    The edited text is judged under its turn's id and not under the batch's, in the same append.
    """
    opened = closed = 0
    for entry in events:
        event = entry.event
        if isinstance(event, BatchOpened) and event.batch_id == selector.batch and event.kind == "revise":
            opened = entry.position
        elif isinstance(event, BatchClosed) and event.batch_id == selector.batch and opened:
            closed = entry.position
    return range(opened + 1, closed) if closed else range(0)


def _threshold(selector: Selector, events: Sequence[RecordedEvent]) -> int:
    """Stream version of the memory's `after_version`-th version; 0 when all of it is meant."""
    wanted = selector.after_version or 0
    versions = [
        e.stream_version
        for e in events
        if e.stream_id == selector.memory and isinstance(e.event, Created | Updated)
    ]
    return versions[wanted - 1] if 0 < wanted <= len(versions) else 0


def _matches(
    selector: Selector, entry: RecordedEvent, contexts: Mapping[str, TurnContext], threshold: int
) -> bool:
    event = entry.event
    if isinstance(event, BatchOpened | BatchClosed | Erased):
        return False
    if selector.batch is not None:
        return event.correlation_id == selector.batch
    if isinstance(event, RolledBack | Judged) or (
        isinstance(event, Proposed) and event.outcome == "accepted"
    ):
        return False
    if event.is_by_person and selector.actor is None and selector.memory is None:
        return False
    context = contexts.get(event.correlation_id)
    checks = (
        (selector.memory, entry.stream_id == selector.memory and entry.stream_version > threshold),
        (selector.turn, event.correlation_id == selector.turn),
        (selector.session, context is not None and context.session == selector.session),
        (selector.extractor, _origin(event, "extractor") == selector.extractor),
        (selector.rule, _origin(event, "rule") == selector.rule),
        (selector.channel, _origin(event, "channel") == selector.channel),
        (selector.actor, event.actor == selector.actor),
        (selector.policy, event.policy == selector.policy),
        (selector.since, selector.since is not None and entry.recorded_at >= selector.since),
        (selector.until, selector.until is not None and entry.recorded_at < selector.until),
    )
    return all(holds for wanted, holds in checks if wanted is not None)


def _origin(event: Event, part: str) -> str | None:
    """The extractor, rule or channel that an event came from; None where it has none of its own.

    Ends follow their cause, so they are left to the closure over `caused_by`.
    """
    if isinstance(event, Created | Updated):
        return str(getattr(event.statement.provenance, part))
    if isinstance(event, Proposed):
        return str(getattr(event.candidate, part))
    return None
