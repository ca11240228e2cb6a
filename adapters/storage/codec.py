"""The one place where an event becomes bytes, and bytes an event again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from ...domain.errors import UnknownEventError, VerificationFailedError
from ...domain.events import EVENT_TYPES, Event, Payload
from ...domain.upcasting import UPCASTERS, Upcaster, check_upcasters, upcast

PLAIN_JSON = 0
NO_KEY = b""


class Encoded(NamedTuple):
    """A payload as stored, with what is needed to read it."""

    topic: str
    schema_version: int
    codec: int
    key_id: bytes
    state: bytes


_encoded: Callable[[tuple[Any, ...]], Encoded] = partial(tuple.__new__, Encoded)
"""What `Encoded` does, without the call of a Python function for each event."""


class Codec:
    """JSON without nulls. Written events were validated when they were built; read ones are again.

    Raises:
        ValueError: on construction, when an upcaster is missing or superfluous.
    """

    def __init__(
        self,
        event_types: Mapping[str, type[Event]] = EVENT_TYPES,
        upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
    ) -> None:
        check_upcasters(event_types, upcasters)
        self._types, self._upcasters = event_types, upcasters
        self._writers: dict[type[Event], tuple[str, int, Callable[..., bytes]]] = {}

    @property
    def types(self) -> Mapping[str, type[Event]]:
        """The event types by topic."""
        return self._types

    def encode(self, event: Event) -> Encoded:
        """The event's bytes in today's shape.

        Raises:
            UnknownEventError: no such event type; it could be written but never be read.
        """
        cls = type(event)
        try:
            topic, schema_version, to_json = self._writers[cls]
        except KeyError:
            if self._types.get(cls.TOPIC) is not cls:
                raise UnknownEventError(cls.TOPIC, cls.SCHEMA_VERSION) from None
            to_json = cls.__pydantic_serializer__.to_json
            topic, schema_version, _ = self._writers[cls] = cls.TOPIC, cls.SCHEMA_VERSION, to_json
        return _encoded((topic, schema_version, PLAIN_JSON, NO_KEY, to_json(event, exclude_none=True)))

    def decode(self, stored: Encoded) -> Event:
        """The event, lifted to today's shape and validated whole.

        Raises:
            UnknownEventError: the topic or a later schema version is not known to this program.
            VerificationFailedError: the bytes are no event of that type.
        """
        cls = self._types.get(stored.topic)
        try:
            if cls is not None and stored.schema_version == cls.SCHEMA_VERSION:
                return cls.model_validate_json(self._open(stored))
            payload = self.decode_trusted(stored)
            # Through JSON once more: lifted payloads meet the same validation as all others.
            return self._types[stored.topic].model_validate_json(orjson.dumps(payload))
        except ValidationError as error:
            problem = f"{error.error_count()} fields of a {stored.topic!r} event cannot be read"
            raise VerificationFailedError(problem) from error

    def decode_trusted(self, stored: Encoded) -> Payload:
        """The payload as a dict in today's shape, not validated: for projections and rebuilds.

        Raises as `decode`.
        """
        state = self._open(stored)
        try:
            payload: Payload = orjson.loads(state)
        except orjson.JSONDecodeError as error:
            raise VerificationFailedError(f"a {stored.topic!r} event is no JSON") from error
        return upcast(stored.topic, stored.schema_version, payload, self._types, self._upcasters)

    def _open(self, stored: Encoded) -> bytes:
        if stored.codec != PLAIN_JSON:
            raise VerificationFailedError(f"a {stored.topic!r} event has the unknown codec {stored.codec}")
        return stored.state
