"""Arguments of a call, checked before anything is read or written for it."""

from __future__ import annotations

from datetime import datetime

from ..domain.errors import InvalidInputError
from ..pipeline.text import check_text


def check_moments(**moments: object) -> None:
    """Refuse a time without an offset from UTC; what is no datetime (None, a position) passes.

    Raises:
        InvalidInputError: names the argument.
    """
    for name, moment in moments.items():
        if isinstance(moment, datetime) and moment.utcoffset() is None:
            raise InvalidInputError(
                name, "has no offset from UTC", "give an aware datetime, such as datetime.now(UTC)"
            )


def check_texts(**texts: str) -> None:
    """Refuse text that no store could keep.

    Raises:
        InvalidInputError: a lone surrogate or a NUL; names the argument.
    """
    for name, text in texts.items():
        problem = check_text(text)
        if problem is not None:
            raise InvalidInputError(name, f"holds a {problem.replace('_', ' ')}", "send valid Unicode")


def check_not_ahead(name: str, moment: datetime | None, now: datetime) -> None:
    """Refuse a time that is later than now, by more than clocks differ.

    Raises:
        InvalidInputError: it is, or it has no offset from UTC.
    """
    from ..pipeline.prepare import AHEAD  # with all that a turn needs, which who only reads does not

    check_moments(**{name: moment})
    if moment is not None and moment > now + AHEAD:
        raise InvalidInputError(
            name,
            f"{moment.isoformat()} is later than now ({now.isoformat(timespec='seconds')})",
            "give the time at which it happened, or leave it out for now",
        )


def clean(name: str, text: str) -> str:
    """What a person wrote, with its secrets masked.

    Raises:
        InvalidInputError: see `check_texts`.
    """
    from ..pipeline.secrets import find_secrets, mask  # likewise

    check_texts(**{name: text})
    return mask(text, find_secrets(text))
