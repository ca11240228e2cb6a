"""What single events rest on, and what they are to an undo."""

from __future__ import annotations

from collections.abc import Set

from ..events import Created, Event, Expired, Proposed, RolledBack, Superseded, Updated
from ..plan import ANEW
from ..stream import RecordedEvent
from ..timeline import Key
from ..values import EventRef


def causes_of(event: Event) -> tuple[EventRef, ...]:
    """The events that it names as its causes."""
    causes: tuple[EventRef, ...] = getattr(event, "caused_by", ())
    return causes


def rests_on_others(event: Event) -> bool:
    """Whether it has causes, or took over the content of other events."""
    return bool(causes_of(event) or getattr(event, "based_on", ()))


def falls(event: Event, struck: Set[Key]) -> bool:
    """Whether an event cannot stand while those are struck."""
    causes = [(ref.stream, ref.version) in struck for ref in causes_of(event)]
    if isinstance(event, Created | Updated):
        if any((ref.stream, ref.version) in struck for ref in event.based_on):
            return True
        return bool(causes) and all(causes)
    return any(causes)


def is_strike(event: Event) -> bool:
    """Whether an undo struck something on its own account."""
    return isinstance(event, RolledBack) and (event.actor, event.reason) == (ANEW.actor, ANEW.reason)


def is_promotion(entry: RecordedEvent) -> bool:
    """Whether hints became a memory by it."""
    return isinstance(entry.event, Created) and bool(entry.event.caused_by)


def is_personal(event: Proposed) -> bool:
    """Whether a person decided: such decisions are not taken again.

    An import is none. Somebody vouches for what it says, and that counts again where it is all that is left.
    """
    channel = event.candidate.channel
    return channel == "person" or (channel != "import" and event.is_by_person)


def has_a_say(event: Event) -> bool:
    """Whether the event decides what its memory says from then on; a past period does not."""
    if isinstance(event, Created | Updated):
        late = isinstance(event, Updated) and event.kind == "late"
        return not late and not event.statement.end.is_over(event.said_at)
    return isinstance(event, Superseded | Expired)


def topics_of(proposal: Proposed) -> set[tuple[str, str]]:
    """Subject and attribute that a proposal is about, as observed and as decided."""
    topics = {(proposal.candidate.subject, proposal.candidate.attribute)}
    if proposal.statement is not None:
        topics.add((proposal.statement.subject, proposal.statement.attribute))
    return topics
