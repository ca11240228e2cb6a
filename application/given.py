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
