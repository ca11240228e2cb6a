"""A turn as it arrives becomes a turn that can be judged: checked, masked, placed in time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..domain.errors import InvalidInputError
from ..domain.ports import Prepared
from ..domain.turn import Turn, TurnContext
from ..domain.zone import fixed_zone_name, zone_of
from .secrets import find_secrets, mask, values_told
from .signals import family_of
from .text import check_text

AHEAD = timedelta(minutes=5)
"""How far a turn's time may be ahead of the clock: clocks differ, plans do not count as said."""

_PROBLEMS = {
    "lone_surrogate": ("holds a lone surrogate code point", "send valid Unicode (UTF-8)"),
    "nul": ("holds a NUL character", "remove U+0000 from the text"),
}


@dataclass(frozen=True, slots=True)
class Masked:
    """What may be kept of a turn's texts: as long as they came, secrets masked.

    `kinds` are those of the secrets in the user's words, in order of their place.
    """

    user: str
    kinds: tuple[str, ...]
    task: str | None
    project: str | None


@dataclass(frozen=True, slots=True)
class Arrived:
    """A turn that passed the checks, with its secrets masked.

    `key` names it for ever: the same session and message, or for a turn without a message id the
    same session, time and words and its ordinal among identical ones of one history.
    """

    turn: Turn
    masked: Masked
    said_at: datetime
    zone: str
    key: str

    def prepare(
        self, turn_id: str, history: Sequence[tuple[str, str]], known: Sequence[str] = ()
    ) -> Prepared:
        """What the pipeline works on."""
        turn = self.turn
        context = TurnContext(
            turn_id=turn_id,
            session=turn.session,
            message_id=turn.message_id,
            said_at=self.said_at,
            zone=self.zone,
            task_id=turn.task_id,
            task=self.masked.task,
            task_family=family_of(turn.task) if turn.task else None,
            project=self.masked.project,
            agent=turn.agent,
        )
        return Prepared(turn, self.text, context, tuple(history), tuple(known), self.masked.kinds)

    @property
    def text(self) -> str:
        """The user's words, secrets masked."""
        return self.masked.user


def check_turn(turn: Turn, now: datetime, *, simulated: bool = False) -> None:
    """Refuse what cannot be judged; nothing is written for such a turn.

    Raises:
        InvalidInputError: a lone surrogate, a NUL, a time too far ahead of the clock.
        UnknownZoneError: the zone does not exist.
    """
    for name, text in _texts(turn):
        problem = check_text(text) if text else None
        if problem:
            raise InvalidInputError(name, *_PROBLEMS[problem])
    if turn.tz is not None:
        zone_of(turn.tz)
    if turn.at is not None and turn.at > now + (timedelta(0) if simulated else AHEAD):
        raise InvalidInputError(
            "at",
            f"{turn.at.isoformat()} is later than now ({now.isoformat(timespec='seconds')})",
            "check the clock that wrote it, or its offset from UTC",
        )


def arrive(turns: Iterable[Turn], now: datetime) -> list[Arrived]:
    """Mask the secrets of the turns and name them, in their order.

    Call it with the turns of one history at once: identical turns are told apart by their place.
    """
    seen: dict[str, int] = {}
    arrived = []
    for turn in turns:
        hidden = masked(turn)
        said_at = turn.at if turn.at is not None else now
        zone = turn.tz or fixed_zone_name(said_at)
        key = _key(turn, hidden.user)
        if turn.message_id is None:
            seen[key] = ordinal = seen.get(key, 0) + 1
            key = f"{key}\x1f{ordinal}"
        arrived.append(Arrived(turn, hidden, said_at, zone, key))
    return arrived


def masked(turn: Turn) -> Masked:
    """Mask the secrets of a turn. One that stands in several of its texts is masked in all of them."""
    texts = (turn.user, turn.task or "", turn.project or "")
    found = [find_secrets(text) if text else () for text in texts]
    if any(found) and any(texts[1:]):  # within one text nothing is left to be found
        told = {v: kind for text, has in zip(texts, found, strict=True) for v, kind in values_told(text, has)}
        found = [find_secrets(text, told) if text else () for text in texts]
    user, task, project = (mask(text, spans) for text, spans in zip(texts, found, strict=True))
    kinds = tuple(secret.kind for secret in found[0])
    return Masked(user, kinds, task or turn.task, project or turn.project)


def _key(turn: Turn, text: str) -> str:
    if turn.message_id is not None:
        return json.dumps(["message", turn.session, turn.message_id], ensure_ascii=False)
    at = turn.at.timestamp() if turn.at is not None else None
    return json.dumps(["words", turn.session, at, text], ensure_ascii=False)


def _texts(turn: Turn) -> Iterable[tuple[str, str | None]]:
    for name in (
        "user",
        "assistant",
        "session",
        "message_id",
        "task_id",
        "task",
        "project",
        "agent",
        "summary",
    ):
        yield name, getattr(turn, name)
    for number, item in enumerate(turn.context):
        yield f"context[{number}].text", item.text
    for number, task in enumerate(turn.recent_tasks):
        yield f"recent_tasks[{number}]", task
