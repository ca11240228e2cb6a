"""Values that callers build: what is wrong with one is said in the words of the caller."""

from __future__ import annotations

from typing import Any, Self

from pydantic import ModelWrapValidatorHandler, ValidationError, model_validator

from .errors import InvalidInputError
from .values import Value

_PROBLEMS = {
    "missing": "is missing",
    "string_type": "is no text",
    "string_too_short": "is empty",
    "string_too_long": "is too long",
    "string_unicode": "holds a lone surrogate code point",
    "bool_type": "is neither true nor false",
    "bool_parsing": "is neither true nor false",
    "tuple_type": "is no list",
    "model_type": "is no object",
    "literal_error": "is none of the known words",
    "extra_forbidden": "is an unknown field",
    "timezone_aware": "has no offset from UTC",
    "datetime_type": "is no time",
    "datetime_parsing": "is no time",
    "datetime_from_date_parsing": "is no time",
}
"""What the kinds of pydantic's errors mean to somebody who gave the value."""

_STEPS = {
    "string_unicode": "send valid Unicode (UTF-8)",
    "timezone_aware": "give a time like 2026-10-08T09:30:00+08:00, an aware datetime in Python",
    "string_too_short": "give it a text, or leave it out where it may be left out",
}


class Given(Value):
    """A value that comes from outside: a wrong field raises `InvalidInputError` and names the field."""

    @model_validator(mode="wrap")
    @classmethod
    def _say_what_is_wrong(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(given)
        except ValidationError as error:
            raise _translated(cls, error) from error


def _translated(cls: type[Given], error: ValidationError) -> InvalidInputError:
    """The first problem, in plain words and with what to do about it."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or cls.__name__
    step = _STEPS.get(first["type"])
    if step is None:
        known = ", ".join(cls.model_fields)
        step = f"the fields of {cls.__name__} are {known}"
    return InvalidInputError(field, _PROBLEMS.get(first["type"], first["msg"]), step)
