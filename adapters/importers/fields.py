"""The fields of a turn as they stand in a file, checked one by one."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ...domain.errors import InvalidInputError
from ...domain.turn import Turn

TURN_FIELDS = tuple(Turn.model_fields)

_EXAMPLE = "2026-10-08T09:30:00+08:00"


class UnreadableError(ValueError):
    """A piece of a file that holds no turn. The text says which field and what to do about it."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for turns that do not say it themselves.

    `session` is None where a line has to name its own; `name` is what a file's conversations without
    an id are called after.
    """

    session: str | None = None
    name: str = "conversation"


def turn_from(fields: Mapping[str, object], defaults: Defaults) -> Turn:
    """Read one turn.

    Raises:
        UnreadableError: a field is unknown, missing or of the wrong kind; the first one is named.
    """
    refuse_unknown(fields, TURN_FIELDS)
    given = dict(fields)
    if given.get("session") is None and defaults.session is not None:
        given["session"] = defaults.session
    if "session" not in given:
        raise UnreadableError("session: is missing; name it in the line or with --session")
    if given.get("at") is not None:
        given["at"] = moment_from(given["at"])
    allowed = given.get("allow_extraction", True)
    if not isinstance(allowed, bool):
        raise UnreadableError("allow_extraction: is neither true nor false")
    try:
        return Turn.model_validate(given)
    except InvalidInputError as error:
        raise UnreadableError(f"{error.field}: {error.problem}") from error


def refuse_unknown(fields: Mapping[str, object], known: Collection[str]) -> None:
    """Name the first field that is not known, with the one that may have been meant.

    Raises:
        UnreadableError: there is one.
    """
    for name in fields:
        if name not in known:
            near = difflib.get_close_matches(name, list(known), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise UnreadableError(f"{name}: is an unknown field; {hint}")


def moment_from(value: object) -> datetime:
    """Read a time: ISO 8601 with an offset.

    Raises:
        UnreadableError: it is no time, or has no offset.
    """
    if not isinstance(value, str):
        raise UnreadableError(f"at: is no text; write a time like {_EXAMPLE}")
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        raise UnreadableError(f"at: {value[:40]!r} is no time; write one like {_EXAMPLE}") from None
    if moment.tzinfo is None:
        raise UnreadableError(f"at: {value[:40]!r} has no offset from UTC; write it like {_EXAMPLE}")
    return moment


def moment_or_unix(value: object) -> datetime:
    """Read a time that may also be seconds since 1970, as exports of chat programs have it.

    Raises:
        UnreadableError: it is neither.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError):
            raise UnreadableError(f"at: {value!r} is no time in seconds since 1970") from None
    return moment_from(value)
