"""When a memory stops holding."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from .values import Moment, Value
from .zone import zone_of


class End(Value):
    """How a statement ends: never by itself, with its task, at a date, or with a process.

    `at` is exclusive: the first instant at which the statement no longer holds. It is given for
    `date`, and only there.
    """

    kind: Literal["never", "task_finished", "date", "process"] = "never"
    at: Moment | None = None
    task_id: str | None = None
    """The task (or `session:ID`) whose end ends it; given for `task_finished`."""
    process: str | None = None
    """The long process whose transitions end it, such as `job_search`; given for `process`."""

    def is_over(self, moment: datetime) -> bool:
        """Whether a date has passed at the moment; whatever else may have ended it."""
        return self.at is not None and self.at <= moment

    def last_day(self, zone: str) -> str | None:
        """The last day on which it still holds, as an ISO date in that zone; None unless dated."""
        if self.at is None:
            return None
        return (self.at.astimezone(zone_of(zone)) - timedelta(microseconds=1)).date().isoformat()


NEVER = End()
