"""Text in a terminal: how wide it is, what must not reach it, how it is shortened and padded."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from datetime import datetime, tzinfo
from functools import lru_cache

_ZERO_WIDTH = frozenset({"Mn", "Me", "Cf"})
_JOINER = "\u200d"
_VISIBLE = {"\n": " ", "\r": " ", "\t": " "}


@lru_cache(maxsize=4096)
def _columns(character: str) -> int:
    if unicodedata.category(character) in _ZERO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def width(text: str) -> int:
    """Columns that a text takes in a terminal: two for Hanzi, none for combining marks."""
    columns, joined = 0, False
    for character in text:
        columns += 0 if joined else _columns(character)
        joined = character == _JOINER
    return columns


def clean(text: str) -> str:
    """The text in one line, with what could steer a terminal made visible.

    Line breaks become spaces. Control characters and the marks that turn the direction of writing
    round are shown as their code points: text of users must not be able to fake output.
    """
    return "".join(_VISIBLE.get(c) or (_escaped(c) if _steers(c) else c) for c in text)


def _steers(character: str) -> bool:
    code = ord(character)
    return (
        code < 0x20
        or 0x7F <= code < 0xA0
        or 0x202A <= code <= 0x202E
        or 0x2066 <= code <= 0x2069
        or 0x2028 <= code <= 0x2029
    )


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04x}"


def fit(text: str, columns: int) -> str:
    """The text, cut to so many columns with an ellipsis where it is wider."""
    if len(text) * 2 <= columns or width(text) <= columns:
        return text
    kept, used = [], 0
    for character in text:
        used += _columns(character)
        if used >= columns:
            break
        kept.append(character)
    return "".join(kept) + "…"


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """The text, filled up with spaces to so many columns."""
    space = " " * (columns - width(text))
    return space + text if right else text + space


def stamp(moment: datetime | None, zone: tzinfo | None = None) -> str:
    """A moment to the minute with its offset, `2026-10-08 09:30+08`; empty for None.

    It is shown in the zone; without one in the moment's own, or for UTC in the machine's.
    """
    if moment is None:
        return ""
    shown = moment.astimezone(zone) if zone or not moment.utcoffset() else moment
    offset = f"{shown:%z}"
    return f"{shown:%Y-%m-%d %H:%M}{offset[:3]}{'' if offset[3:] in ('', '00') else ':' + offset[3:5]}"


def number(count: int, noun: str) -> str:
    """`1 memory`, `2 memories`."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else several}"


def terminal_width() -> int | None:
    """Columns of the terminal that standard output goes to; None where it goes to a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def colours() -> bool:
    """Whether standard output takes colours: it is a terminal, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

_TONES = {
    **dict.fromkeys(("WRITE", "UPDATE", "MERGE", "active", "accepted", "ok", "revived"), "green"),
    **dict.fromkeys(("HOLD", "held", "confirmed", "survives", "reinstated"), "yellow"),
    **dict.fromkeys(("DELETE", "failed", "problem", "withdrawn"), "red"),
    **dict.fromkeys(("SKIP", "refused", "known", "undone"), "dim"),
}


def styled(text: str, style: str) -> str:
    """The text in a style, where standard output takes colours."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if colours() else text


def toned(word: str, shown: str | None = None) -> str:
    """A status, action or outcome in the colour that it has everywhere; `shown` may be padded."""
    tone = _TONES.get(word)
    return styled(shown or word, tone) if tone else shown or word
