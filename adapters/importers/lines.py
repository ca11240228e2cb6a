"""Files of conversations: one JSON object a line, or one document; what cannot be read is reported."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...domain.turn import Turn
from .fields import Defaults, UnreadableError, turn_from
from .messages import conversation_turns


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn and the line that it came from, from 1; in a document of one list, the item."""

    line: int
    turn: Turn


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that holds no turn, and why. Lines count from 1."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class ReadTurns:
    """What a file holds: turns in their order, and the lines that could not be read."""

    turns: list[Placed] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_turns(content: bytes, defaults: Defaults) -> ReadTurns:
    """Read a file of turns or conversations.

    Each line is an object: a turn, or a conversation with `messages`; empty lines are passed over.
    A file that is one JSON document over several lines is read as a whole: an object, or a list of
    objects. Reading never fails; whatever is wrong with a line stands in `problems`.
    """
    read = ReadTurns()
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    document = _document(content, lines)
    for number, item in _items(document, lines):
        try:
            parsed = _parsed(item) if isinstance(item, bytes) else item
            several = document is None or isinstance(document, list)
            named = replace(defaults, name=f"{defaults.name}#{number}") if several else defaults
            read.turns.extend(Placed(number, turn) for turn in _turns(parsed, named))
        except UnreadableError as error:
            read.problems.append(Problem(number, str(error)))
    return read


def _items(document: Any, lines: Sequence[bytes]) -> Iterator[tuple[int, Any]]:
    if document is None:
        yield from ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    elif isinstance(document, list):
        yield from enumerate(document, start=1)
    else:
        yield 1, document


def _document(content: bytes, lines: Sequence[bytes]) -> Any:
    """The file as one JSON document, where its first line alone is none; else None."""
    first = next((line for line in lines if line.strip()), b"")
    try:
        parsed = _parsed(first)
    except UnreadableError:
        if not first.lstrip().startswith((b"{", b"[")):
            return None
    else:
        only = sum(1 for line in lines if line.strip()) == 1
        return parsed if only and isinstance(parsed, list) and not _are_messages(parsed) else None
    try:
        return _parsed(content.removeprefix(b"\xef\xbb\xbf"))
    except UnreadableError:
        return None


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not UTF-8 at byte {error.start + 1}; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise UnreadableError(f"is no JSON: {error.msg} at character {error.pos + 1}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableError("is no JSON that can be read: too deep, or a number too long") from error


def _turns(parsed: object, defaults: Defaults) -> list[Turn]:
    if isinstance(parsed, list) and _are_messages(parsed):
        parsed = {"messages": parsed}
    if not isinstance(parsed, dict):
        raise UnreadableError('is no object; write {"user": …, "session": …, "at": …}')
    if "messages" in parsed:
        return conversation_turns(parsed, defaults)
    return [turn_from(parsed, defaults)]


def _are_messages(parsed: Sequence[object]) -> bool:
    return bool(parsed) and all(isinstance(one, dict) and "role" in one for one in parsed)
