"""One user message with the agent's reply, and the state of the session around it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .given import Given
from .scope import Reach
from .values import Moment, Value


class ContextItem(Value):
    """Text that stood in the prompt but that the user did not say: never evidence."""

    role: Literal["tool", "system", "document"]
    text: str


class Turn(Given):
    """One user message, the agent's reply (None while there is none) and where it was said.

    `at` is when it was said; None means now, by the store's clock. `tz` is an IANA zone in which
    days begin for this user; None means the offset of `at`.

    Raises:
        InvalidInputError: a field is missing, unknown or of the wrong kind; the first one is named.
    """

    user: str
    assistant: str | None = None
    session: str = Field(min_length=1, max_length=400)
    message_id: str | None = Field(default=None, min_length=1, max_length=400)
    at: Moment | None = None
    tz: str | None = None
    task_id: str | None = Field(default=None, min_length=1, max_length=400)
    task: str | None = None
    project: str | None = Field(default=None, min_length=1, max_length=400)
    recent_tasks: tuple[str, ...] = ()
    agent: str | None = None
    summary: str | None = None
    context: tuple[ContextItem, ...] = ()
    allow_extraction: bool = True


class TurnContext(Value):
    """What the policy may know of a turn when it decides, now or when it replays."""

    turn_id: str
    session: str
    message_id: str | None = None
    said_at: Moment
    zone: str
    """IANA name, or a fixed offset such as `UTC+08:00`."""
    task_id: str | None = None
    task: str | None = None
    task_family: str | None = None
    """The family that the task's name belongs to (`writing`), as the lexicon tells; else None."""
    project: str | None = None
    agent: str | None = None

    @property
    def occasion(self) -> str:
        """What counts as one occasion for a repeated hint: the task, else the session."""
        return self.task_id or f"session:{self.session}"

    @property
    def reach(self) -> Reach:
        """Which scopes cover this turn."""
        families = (self.task_family,) if self.task_family else ()
        return Reach(task_anchor=self.occasion, project=self.project, families=families)
