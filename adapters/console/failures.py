"""Errors as people and programs get to see them, and the exit status of each."""

from __future__ import annotations

from ...domain.errors import (
    ConflictError,
    MemstrataError,
    NotFoundError,
    OwnerRequiredError,
    VerificationFailedError,
)

OK, ERROR, USAGE, NOT_FOUND, CONFLICT, VERIFICATION_FAILED = range(6)

STATUS: dict[type[MemstrataError], int] = {
    MemstrataError: ERROR,
    OwnerRequiredError: USAGE,
    NotFoundError: NOT_FOUND,
    ConflictError: CONFLICT,
    VerificationFailedError: VERIFICATION_FAILED,
}
"""Exit status by type of error; the nearest base class decides."""


def status_of(error: MemstrataError) -> int:
    """The exit status that an error leads to."""
    return next(STATUS[base] for base in type(error).__mro__ if base in STATUS)


def error_form(error: MemstrataError) -> dict[str, object]:
    """An error as JSON: `error` (its type), `message`, `status`, and the facts that it carries."""
    facts = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(error).items()
        if isinstance(value, str | int | tuple)
    }
    return {**facts, "error": type(error).__name__, "message": str(error), "status": status_of(error)}
