"""Times on the command line."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Time = click.ParamType[datetime]
    _TimeOrPosition = click.ParamType[int | datetime]
else:  # earlier releases of click have no parameters here
    _Time = _TimeOrPosition = click.ParamType

_FORMS = "2026-10-15, 2026-10-15T09:30 or 2026-10-15T09:30:00+08:00"


class Moment(_Time):
    """A date or a time. A date means its end, or its start where `start` is set.

    Without an offset it is read in the machine's zone.
    """

    name = "time"

    def __init__(self, *, start: bool = False) -> None:
        self._start = start

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read it, or complain as click does."""
        if isinstance(value, datetime):
            return value
        try:
            if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
                day = datetime.combine(date.fromisoformat(value), time()).astimezone()
                return day if self._start else _next_day(day) - timedelta(microseconds=1)
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo is not None else moment.astimezone()
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time; write {_FORMS}", param, ctx)


class AsOf(_TimeOrPosition):
    """A time, or a position in the log."""

    name = "time|position"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | datetime:
        """Read it, or complain as click does."""
        if isinstance(value, int | datetime):
            return value
        if re.fullmatch(r"\d{1,18}", value):
            return int(value)
        return Moment().convert(value, param, ctx)


def _next_day(day: datetime) -> datetime:
    """Midnight after a local midnight; the offset may change in between."""
    return (day.replace(tzinfo=None) + timedelta(days=1)).astimezone()
