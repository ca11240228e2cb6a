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
from .secrets import find_secrets, mask
from .signals import family_of
from .text import check_text

AHEAD = timedelta(minutes=5)
"""How far a turn's time may be ahead of the clock: clocks differ, plans do not count as said."""

_PROBLEMS = {
    "lone_surrogate": ("holds a lone surrogate code point", "send valid Unicode (UTF-8)"),
    "nul": ("holds a NUL character", "remove U+0000 from the text"),
}


@dataclass(frozen=True, slots=True)
class Arrived:
    """A turn that passed the checks, with its secrets masked.

    `key` names it for ever: the same session and message, or for a turn without a message id the
    same session, time and words and its ordinal among identical ones of one history.
    """

    turn: Turn
    text: str
    masked: tuple[str, ...]
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
            task=_masked(turn.task),
            task_family=family_of(turn.task) if turn.task else None,
            project=_masked(turn.project),
            agent=turn.agent,
        )
        return Prepared(turn, self.text, context, tuple(history), tuple(known), self.masked)


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
        spans = find_secrets(turn.user)
        text = mask(turn.user, spans) if spans else turn.user
        said_at = turn.at if turn.at is not None else now
        zone = turn.tz or fixed_zone_name(said_at)
        key = _key(turn, text)
        if turn.message_id is None:
            seen[key] = ordinal = seen.get(key, 0) + 1
            key = f"{key}\x1f{ordinal}"
        arrived.append(Arrived(turn, text, tuple(s.kind for s in spans), said_at, zone, key))
    return arrived


def _key(turn: Turn, text: str) -> str:
    if turn.message_id is not None:
        return json.dumps(["message", turn.session, turn.message_id], ensure_ascii=False)
    at = turn.at.timestamp() if turn.at is not None else None
    return json.dumps(["words", turn.session, at, text], ensure_ascii=False)


def _masked(text: str | None) -> str | None:
    return None if text is None else mask(text, find_secrets(text))


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
