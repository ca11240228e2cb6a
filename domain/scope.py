"""How far a memory reaches: one task, one project, one family of tasks, or everything."""

from __future__ import annotations

from typing import Literal

from .values import Value

ScopeKind = Literal["current_task", "project", "family", "global"]

_RANK: dict[ScopeKind, int] = {"current_task": 0, "project": 1, "family": 2, "global": 3}


class Scope(Value):
    """A reach and what it is anchored to.

    `anchor` is the task id (or `session:ID` where no task is named), the project id, the family's
    name (`writing`), or empty for `global`.
    """

    kind: ScopeKind
    anchor: str = ""

    @property
    def name(self) -> str:
        """`current_task`, `project`, `<family>_tasks` or `global`."""
        return f"{self.anchor}_tasks" if self.kind == "family" else self.kind

    @property
    def rank(self) -> int:
        """0 is the narrowest; a higher rank reaches further."""
        return _RANK[self.kind]

    def covers(self, where: Reach) -> bool:
        """Whether a memory of this scope bears on something happening there."""
        match self.kind:
            case "global":
                return True
            case "family":
                return self.anchor in where.families
            case "project":
                return self.anchor == where.project
            case "current_task":
                return self.anchor == where.task_anchor


class Reach(Value):
    """Where something happens: the task, project and families that a turn or a question is in."""

    task_anchor: str
    """The task id, or `session:ID` when no task is named."""
    project: str | None = None
    families: tuple[str, ...] = ()

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Every scope that covers this place, the narrowest first."""
        return (
            Scope(kind="current_task", anchor=self.task_anchor),
            *((Scope(kind="project", anchor=self.project),) if self.project else ()),
            *(Scope(kind="family", anchor=family) for family in self.families),
            GLOBAL,
        )


GLOBAL = Scope(kind="global")
