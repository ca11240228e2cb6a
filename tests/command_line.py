"""What the tests of the command line share: the story, and what a command that has ended leaves."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OWNER = "acme/lin"

STORY = [
    {
        "user": "我现在住在杭州，期望薪资 15-20k。",
        "assistant": "好的。",
        "session": "s1",
        "message_id": "m1",
        "at": "2026-10-08T09:30:00+08:00",
        "tz": "Asia/Shanghai",
    },
    {
        "user": "今天天气真好",
        "assistant": "是啊。",
        "session": "s2",
        "message_id": "m1",
        "at": "2026-10-15T22:10:00+08:00",
        "tz": "Asia/Shanghai",
    },
    {
        "user": "期望薪资改成 25k 以上了。",
        "assistant": "记住了。",
        "session": "s3",
        "message_id": "m1",
        "at": "2026-10-29T20:00:00+08:00",
        "tz": "Asia/Shanghai",
    },
    {
        "user": "这次周报写短一点，只保留结论",
        "assistant": "好。",
        "session": "s4",
        "message_id": "m1",
        "at": "2026-11-03T20:00:00+08:00",
        "tz": "Asia/Shanghai",
        "task_id": "w1",
        "task": "周报",
    },
]
"""A salary in two versions, a city, a constraint with a held hint, and small talk."""


def jsonl(*turns: object) -> str:
    """Lines of a file; texts stand as they are."""
    return "".join((t if isinstance(t, str) else json.dumps(t, ensure_ascii=False)) + "\n" for t in turns)


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    status: int
    out: str
    err: str

    @property
    def forms(self) -> list[dict[str, Any]]:
        """Standard output as JSON, one object a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def form(self) -> dict[str, Any]:
        """The one object on standard output."""
        (form,) = self.forms
        return form

    @property
    def error(self) -> dict[str, Any]:
        """The last object on standard error."""
        last: dict[str, Any] = json.loads(self.err.splitlines()[-1])
        return last


Run = Callable[..., Done]
