"""`{"messages": [...]}` in the manner of chat APIs: each message of the user becomes a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...domain.turn import Turn
from .fields import TURN_FIELDS, Defaults, UnreadableError, moment_or_unix, refuse_unknown, turn_from

_ABOUT_THE_TURNS = tuple(f for f in TURN_FIELDS if f not in ("user", "assistant", "message_id", "context"))
"""Fields of the conversation that hold for each of its turns."""

_NAMES = ("id", "conversation_id", "created", "created_at", "title")

_OF_THE_REQUEST = (
    *("model", "tools", "functions", "tool_choice", "function_call", "parallel_tool_calls", "metadata"),
    *("temperature", "top_p", "n", "stop", "seed", "stream", "max_tokens", "max_completion_tokens"),
    *("response_format", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "store"),
)
"""What recorded requests carry besides; it says nothing about the turns."""

_MESSAGE = (
    *("role", "content", "name", "id", "message_id", "at", "created_at", "timestamp", "tz"),
    *("tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations", "weight"),
)

_ROLE = {"system": "system", "developer": "system", "tool": "tool", "function": "tool"}
"""Roles whose text stood in the prompt without being the user's."""


def conversation_turns(document: Mapping[str, Any], defaults: Defaults) -> list[Turn]:
    """Read one conversation.

    The assistant's messages after a user's message are that turn's reply. Texts of systems and tools
    become context of the next turn, or of the present one while its reply is not there yet. The
    session is the conversation's `session`, `conversation_id` or `id`, else the one of the call, else
    the file's name.

    Raises:
        UnreadableError: no messages, none of the user's, or a field that is unknown or of the wrong kind.
    """
    refuse_unknown(document, ("messages", *_ABOUT_THE_TURNS, *_NAMES, *_OF_THE_REQUEST))
    messages = document["messages"]
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise UnreadableError("messages: is no list")
    shared = {name: document[name] for name in _ABOUT_THE_TURNS if name in document}
    session = next((document[n] for n in ("session", "conversation_id", "id") if document.get(n)), None)
    shared["session"] = session or defaults.session or defaults.name
    started = next((document[n] for n in ("at", "created_at", "created") if document.get(n)), None)
    shared["at"] = None if started is None else moment_or_unix(started).isoformat()
    turns = _grouped([_message(number, one) for number, one in enumerate(messages)])
    if not turns:
        raise UnreadableError("messages: holds no message of the role 'user'")
    return [turn_from({**shared, **turn}, defaults) for turn in turns]


def _message(number: int, message: object) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise UnreadableError(f"messages.{number}: is no object")
    try:
        refuse_unknown(message, _MESSAGE)
        return {**message, "content": _text(message.get("content"))}
    except UnreadableError as error:
        raise UnreadableError(f"messages.{number}.{error}") from error


def _text(content: object) -> str:
    """The words of a message: a text, or the text parts of a list; empty where it only calls tools."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise UnreadableError("content: is neither a text nor a list of parts")
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif not isinstance(part, dict) or "type" not in part:
            raise UnreadableError("content: holds a part that is none")
    return "\n".join(texts)


def _grouped(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    before: list[dict[str, str]] = []
    for number, message in enumerate(messages):
        role, text = message.get("role"), message["content"]
        if role == "user":
            turns.append({**_own(message), "user": text, "assistant": None, "context": before})
            before = []
        elif role == "assistant":
            if turns and text:
                said = turns[-1]["assistant"]
                turns[-1]["assistant"] = text if said is None else f"{said}\n{text}"
        elif role in _ROLE:
            answered = not turns or turns[-1]["assistant"] is not None
            into = before if answered else turns[-1]["context"]
            into.append({"role": _ROLE[role], "text": text})
        else:
            raise UnreadableError(f"messages.{number}.role: {role!r} is unknown; known are user, assistant, "
                                  "system, developer, tool, function")  # fmt: skip
    return turns


def _own(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a user's message says about itself."""
    own: dict[str, Any] = {}
    if (name := message.get("message_id") or message.get("id")) is not None:
        own["message_id"] = name
    said = next((message[n] for n in ("at", "created_at", "timestamp") if message.get(n)), None)
    if said is not None:
        own["at"] = moment_or_unix(said).isoformat()
    if message.get("tz") is not None:
        own["tz"] = message["tz"]
    return own
