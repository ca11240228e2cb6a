"""Golden cases: what is said, what is remembered before, and what is expected of the gate.

One JSON object a line; docs/quality.md says what each field means.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, ValidationError, field_validator, model_validator

from ...domain.errors import InvalidInputError
from ...domain.scope import ScopeKind
from ...domain.values import Action, MemoryType, Moment, Value

DEFAULT_NOW = "2026-03-02T10:00:00+08:00"

_FAMILY = "_tasks"


def _listed(value: object) -> object:
    """A single string stands for a list of one."""
    return (value,) if isinstance(value, str) else value


Strings = Annotated[tuple[str, ...], BeforeValidator(_listed), Field(min_length=1)]
Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class ScopeName:
    """A scope as cases write it: `current_task`, `project`, `global` or `<family>_tasks`."""

    kind: ScopeKind
    family: str = ""

    @property
    def rank(self) -> int:
        """0 is the narrowest."""
        return ("current_task", "project", "family", "global").index(self.kind)


def scope_named(name: str) -> ScopeName:
    """Read the name of a scope.

    Raises:
        ValueError: there is no such scope.
    """
    match name:
        case "current_task" | "project" | "global":
            return ScopeName(name)
        case _ if name.endswith(_FAMILY) and name != _FAMILY:
            return ScopeName("family", name.removesuffix(_FAMILY))
    raise ValueError(f"{name!r} is no scope: current_task, project, <family>_tasks or global")


class GivenMemory(Value):
    """A memory that is active before the first turn; `id` names it within the case."""

    id: Text
    content: Text
    type: MemoryType | None = None
    scope: str = "global"
    attribute: Text | None = None
    value: Text | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)

    @field_validator("scope")
    @classmethod
    def _is_a_scope(cls, name: str) -> str:
        scope_named(name)
        return name


class SessionState(Value):
    """What a turn may change about the session; a field that is not given stays as it was."""

    task: str | None = None
    task_id: Text | None = None
    project: Text | None = None
    recent_tasks: tuple[str, ...] = ()

    def changed_by(self, later: SessionState | None) -> SessionState:
        """The state after a change."""
        if later is None:
            return self
        return self.model_copy(update={name: getattr(later, name) for name in later.model_fields_set})


class CaseTurn(Value):
    """One turn; `session` is a change of state before it."""

    user: str
    assistant: str | None = None
    session: SessionState | None = None
    allow_extraction: StrictBool = True


class Given(Value):
    """What stands before the first turn."""

    memories: tuple[GivenMemory, ...] = ()
    session: SessionState = SessionState()


class Expectation(Value):
    """What the last turn must have done; a field that is not given is not judged."""

    write: StrictBool | None = None
    action: Annotated[tuple[Action, ...], BeforeValidator(_listed), Field(min_length=1)] | None = None
    reason: Strings | None = None
    type: Annotated[tuple[MemoryType, ...], BeforeValidator(_listed), Field(min_length=1)] | None = None
    scope: Strings | None = None
    expires: str | None = None
    contains: tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...] = ()
    absent: tuple[Text, ...] = ()
    absent_in: Literal["active"] | None = None
    target: str | None = None
    unchanged: tuple[str, ...] = ()

    @field_validator("scope")
    @classmethod
    def _are_scopes(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in names or ():
            scope_named(name)
        return names

    @field_validator("expires")
    @classmethod
    def _is_an_end(cls, end: str | None) -> str | None:
        if end not in (None, "never", "task_finished"):
            date.fromisoformat(end)
        return end


class Case(Value):
    """One golden case."""

    id: Text
    kind: Text
    lang: Literal["zh", "en", "mixed"]
    now: Moment = Field(default=DEFAULT_NOW, validate_default=True)
    given: Given = Given()
    turns: tuple[CaseTurn, ...] = Field(min_length=1)
    expect: Expectation

    @model_validator(mode="after")
    def _names_given_memories(self) -> Case:
        known = [memory.id for memory in self.given.memories]
        if len(set(known)) < len(known):
            raise ValueError("given.memories: an id stands twice")
        named = [*self.expect.unchanged, *([self.expect.target] if self.expect.target else [])]
        for name in named:
            if name not in known:
                raise ValueError(f"expect: {name!r} is no memory of given.memories")
        return self


@dataclass(frozen=True, slots=True)
class Located:
    """A case and where it stands: `FILE:LINE`, lines counted from 1."""

    case: Case
    where: str


def read_cases(paths: Iterable[str | Path]) -> list[Located]:
    """The cases of the files, in order; empty lines are passed over.

    Raises:
        InvalidInputError: a file cannot be read, a line is no case, or an id stands twice; names
            file, line and field.
    """
    found: list[Located] = []
    seen: dict[str, str] = {}
    for path in paths:
        for number, line in enumerate(_lines(path), start=1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            case = parse_case(line, where)
            if case.id in seen:
                raise InvalidInputError(f"{where}: id", f"{case.id!r} stands at {seen[case.id]} too", _FIX)
            seen[case.id] = where
            found.append(Located(case, where))
    return found


def parse_case(line: str, where: str) -> Case:
    """Read one line.

    Raises:
        InvalidInputError: no JSON object, a field that is missing, unknown or of the wrong kind.
    """
    try:
        document: Any = json.loads(line)
    except ValueError as error:
        raise InvalidInputError(where, f"is no JSON: {error}", "one JSON object a line") from error
    if not isinstance(document, dict):
        raise InvalidInputError(where, "is no JSON object", "one JSON object a line")
    try:
        return Case.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(_path(first["loc"])) or "the case"
        raise InvalidInputError(f"{where}: {field}", first["msg"], _FIX) from error


_FIX = "correct the case"


def _path(location: Sequence[int | str]) -> Iterable[str]:
    return (str(part) for part in location)


def _lines(path: str | Path) -> Sequence[str]:
    try:
        # Only line feeds part the lines: JSON may hold U+2028 and its like as they are.
        return Path(path).read_text("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidInputError(str(path), f"is no UTF-8: {error.reason}", "save it as UTF-8") from error
    except OSError as error:
        problem = error.strerror or "cannot be read"
        raise InvalidInputError(str(path), problem, "name a file of cases") from error
