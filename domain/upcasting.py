"""Old payloads are lifted to today's shape, one schema version at a time, before validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .errors import UnknownEventError
from .events import EVENT_TYPES, Event, Payload

Upcaster = Callable[[Payload], Payload]
"""`dict → dict`, no input or output; lifts a payload by exactly one schema version."""

UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""By topic and the version that is lifted from."""


def check_upcasters(
    event_types: Mapping[str, type[Event]] = EVENT_TYPES,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> None:
    """Every earlier version of every event has its step, and no step is left over.

    Raises:
        ValueError: names each missing or superfluous step. Called when a store is opened, so that
            a gap shows there and not on a stream that is years old.
    """
    needed = {(topic, v) for topic, cls in event_types.items() for v in range(1, cls.SCHEMA_VERSION)}
    missing, superfluous = needed - upcasters.keys(), upcasters.keys() - needed
    if missing or superfluous:
        raise ValueError(f"upcasters missing: {sorted(missing)}, superfluous: {sorted(superfluous)}")


def upcast(
    topic: str,
    schema_version: int,
    payload: Payload,
    event_types: Mapping[str, type[Event]] = EVENT_TYPES,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> Payload:
    """Lift a payload from the version it was written in to today's.

    Raises:
        UnknownEventError: the topic or a later version is not known to this program.
    """
    cls = event_types.get(topic)
    if cls is None or not 1 <= schema_version <= cls.SCHEMA_VERSION:
        raise UnknownEventError(topic, schema_version)
    for version in range(schema_version, cls.SCHEMA_VERSION):
        payload = upcasters[topic, version](payload)
    return payload
