"""Excerpts of events, for readers that need little of many: built from trusted bytes, not validated again.

Building an event whole takes as long with pydantic's validation as without it (8.4 against 11.3 µs of an
average event, measured 2026-12-01): what costs is the number of objects. So whoever folds a whole log says
which fields it never reads, and they are not built. Reading one of them is an `AttributeError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args, get_origin

import orjson
from pydantic import AwareDatetime, BaseModel

from ...domain.events import Event, Payload
from .codec import PLAIN_JSON, Codec, Encoded

Unread = Mapping[type[BaseModel], frozenset[str]]
"""By class the names of the fields that are left out."""

Build = Callable[[Any], Any]

# The time of a turn stands in its event, its context and its statement alike.
_moment = lru_cache(maxsize=8_192)(datetime.fromisoformat)
_NO_FIELDS: set[str] = set()
_BROKEN = (TypeError, ValueError, KeyError, AttributeError)
"""What a payload of another shape leads to while it is built."""


class ExcerptDecoder:
    """Decodes events without the fields that are never read.

    Args:
        codec: Decodes whole events where an excerpt will not do: of earlier shapes, too.
        unread: What is left out.
        whole: Whether an event of this payload is to be decoded whole.
    """

    def __init__(self, codec: Codec, unread: Unread, whole: Callable[[Payload], bool]) -> None:
        self._codec, self._whole = codec, whole
        made: dict[type[BaseModel], Build] = {}
        self._builders = {
            (topic, cls.SCHEMA_VERSION): _builder(cls, unread, made) for topic, cls in codec.types.items()
        }

    def decode(self, topic: str, schema_version: int, codec: int, key_id: bytes, state: bytes) -> Event:
        """The event that is stored so, in today's shape.

        Raises as `Codec.decode`.
        """
        build = self._builders.get((topic, schema_version))
        if build is not None and codec == PLAIN_JSON:
            try:
                payload = orjson.loads(state)
                if not self._whole(payload):
                    event: Event = build(payload)
                    return event
            except _BROKEN:
                pass  # decoding it whole says what is wrong
        return self._codec.decode(Encoded(topic, schema_version, codec, key_id, state))


def _builder(cls: type[BaseModel], unread: Unread, made: dict[type[BaseModel], Build]) -> Build:
    """What makes an object of the class from its payload, which it takes over."""
    if cls in made:
        return made[cls]
    template: dict[str, Any] = {}
    steps: list[tuple[str, Build]] = []
    left_out = tuple(unread.get(cls, ()))
    for name, field in cls.model_fields.items():
        if not field.is_required():
            template[name] = field.get_default(call_default_factory=True)
        convert = None if name in left_out else _converter(field.annotation, unread, made)
        if convert is not None:
            steps.append((name, convert))
    size, new, put = len(cls.model_fields), object.__new__, object.__setattr__

    def build(payload: Payload) -> Any:
        values = template | payload
        if len(values) != size:
            raise KeyError(cls.__name__)
        for name, convert in steps:
            if name in payload:
                values[name] = convert(payload[name])
        for name in left_out:
            del values[name]
        built = new(cls)
        put(built, "__dict__", values)
        put(built, "__pydantic_fields_set__", _NO_FIELDS)
        put(built, "__pydantic_extra__", None)
        put(built, "__pydantic_private__", None)
        return built

    made[cls] = build
    return build


def _converter(annotation: Any, unread: Unread, made: dict[type[BaseModel], Build]) -> Build | None:
    """What makes a value from its JSON; None where that is the value."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _converter(arguments[0], unread, made)
    if annotation in (str, int, bool) or origin in (Literal, dict):
        return None
    if annotation is float:
        return float
    if annotation is AwareDatetime:
        return _moment
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _builder(annotation, unread, made)
    if origin is tuple:
        return _sequence(_converter(arguments[0], unread, made))
    (kind,) = (kind for kind in arguments if kind is not type(None))  # an optional one
    return _converter(kind, unread, made)


def _sequence(convert: Build | None) -> Build:
    if convert is None:
        return tuple
    return lambda items: tuple([convert(item) for item in items])
