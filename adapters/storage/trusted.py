"""Excerpts of events, for readers that need little of many.

Most of what decoding an event costs are the objects it is made of; checking them costs next to nothing
(building them in Python from parsed JSON, unchecked, takes longer than pydantic takes with its checks:
11.3 against 8.4 µs for an average event, measured 2026-12-01). So whoever folds a whole log says which
fields it never reads. They are passed over while the JSON is parsed, and no objects are made of them: 5.6 µs.
Reading one of them is an `AttributeError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import SchemaValidator

from ...domain.events import Event
from .codec import PLAIN_JSON, Codec, Encoded

Unread = Mapping[type[BaseModel], frozenset[str]]
"""By class the names of the fields that are left out."""


class ExcerptDecoder:
    """Decodes events without the fields that are never read.

    Args:
        codec: Decodes whole events where an excerpt will not do: of earlier shapes, too.
        unread: What is left out.
        whole: Whether an event, of which an excerpt was made, is to be decoded whole.
    """

    def __init__(self, codec: Codec, unread: Unread, whole: Callable[[Event], bool]) -> None:
        self._codec, self._whole = codec, whole
        self._validators = {
            (topic, cls.SCHEMA_VERSION): _excerpts(cls, unread) for topic, cls in codec.types.items()
        }

    def decode(self, topic: str, schema_version: int, codec: int, key_id: bytes, state: bytes) -> Event:
        """The event that is stored so, in today's shape.

        Raises as `Codec.decode`.
        """
        validate = self._validators.get((topic, schema_version))
        if validate is not None and codec == PLAIN_JSON:
            try:
                event: Event = validate(state)
                if not self._whole(event):
                    return event
            except ValidationError:
                pass  # decoding it whole says what is wrong
        return self._codec.decode(Encoded(topic, schema_version, codec, key_id, state))


def _excerpts(cls: type[Event], unread: Unread) -> Callable[[bytes], Any]:
    """What makes excerpts of a class from JSON."""
    cls.model_rebuild()
    schema = _without(cls.__pydantic_core_schema__, unread)
    try:
        # The last one: not to put in the place of a nested class the validator that it has already.
        return SchemaValidator(schema, None, False).validate_json
    except TypeError:  # a pydantic that has no such choice: then events are built whole
        return cls.model_validate_json


def _without(schema: Any, unread: Unread) -> Any:
    """A core schema whose models pass over the fields that are not read."""
    if isinstance(schema, list):
        return [_without(item, unread) for item in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = (
        unread.get(schema.get("cls", BaseModel), frozenset())
        if schema.get("type") == "model"
        else frozenset()
    )
    if left_out:
        fields = schema["schema"]
        kept = {name: field for name, field in fields["fields"].items() if name not in left_out}
        schema = {
            **schema,
            "schema": {**fields, "fields": kept, "extra_behavior": "ignore"},
            "config": {**schema.get("config", {}), "extra_fields_behavior": "ignore"},
        }
    return {key: value if key in _NO_SCHEMAS else _without(value, unread) for key, value in schema.items()}


_NO_SCHEMAS = ("cls", "config", "default", "expected", "metadata", "serialization")
