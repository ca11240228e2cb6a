"""Ids as people see them: as short as is unambiguous, like those of git."""

from __future__ import annotations

from collections.abc import Callable

from ...domain.errors import AmbiguousIdError, NotFoundError

SHORT = 8
"""Hex digits that are shown, as long as they name one thing only."""


class ShortIds:
    """Shortens ids of one owner; `resolve` is asked whether a shortened one is unambiguous."""

    def __init__(self, resolve: Callable[[str], str]) -> None:
        self._resolve = resolve
        self._known: dict[str, str] = {}

    def __call__(self, full: str | None) -> str:
        """The shortest form from 8 digits on that names this one only; empty for None."""
        if full is None:
            return ""
        if full not in self._known:
            self._known[full] = self._shortened(full)
        return self._known[full]

    def _shortened(self, full: str) -> str:
        for digits in range(SHORT, len(full), 4):
            try:
                self._resolve(full[:digits])
            except AmbiguousIdError:
                continue
            except NotFoundError:
                break  # it names nothing yet, as in a plan
            return full[:digits]
        return full[:SHORT]
