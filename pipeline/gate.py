"""The fast reject: turns that need no judge and no extraction.

Empty messages, acknowledgements, messages too short to hold anything, exact repetitions of what is
remembered, and text that tries to plant an instruction. The words are data (`lexicon/gate.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from ..domain.judgement import Category, Judgement
from ..domain.ports import Prepared
from .planting import plants_something
from .segment import plays_on, segment
from .signals import find_signals
from .sought import Sought
from .text import LeavingOut, fold_for_comparison, language_of, normalise

_LASTING = frozenset(
    {"lasting", "everything", "remember", "retraction", "correction", "change", "repetition", "limiting"}
)
_SHORTEST_WISH = 3
"""Code points from which a remark about a task in hand may be a wish ("no tables")."""


@dataclass(frozen=True, slots=True)
class GateWords:
    """The word lists of `lexicon/gate.toml`, compiled."""

    too_short: int
    acknowledgements: frozenset[str]
    drawn_out: re.Pattern[str]
    signal: re.Pattern[str]
    emotion: Sought
    thanks: Sought
    fallback: Mapping[str, tuple[re.Pattern[str], int, Category]]


def _either(part: Mapping[str, Any]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in part["patterns"])


def _joined(part: Mapping[str, Any]) -> re.Pattern[str]:
    return re.compile(_either(part))


@cache
def gate_words() -> GateWords:
    """Read once."""
    raw = tomllib.loads(resources.files(__package__).joinpath("lexicon/gate.toml").read_text("utf-8"))
    return GateWords(
        too_short=raw["limits"]["too_short"],
        acknowledgements=frozenset(fold_for_comparison(w) for w in raw["acknowledgement"]["words"]),
        drawn_out=_joined(raw["acknowledgement"]),
        signal=_joined(raw["signal"]),
        emotion=Sought(_either(raw["emotion"])),
        thanks=Sought(_either(raw["thanks"])),
        fallback={
            name: (_joined(part), part["importance"], part["category"])
            for name, part in raw["fallback"].items()
        },
    )


REASONS: Mapping[str, tuple[str, str]] = {
    "gate.empty": ("消息里没有文字。", "The message holds no words."),
    "gate.acknowledgement": ("只是寒暄、确认或道谢。", "Only a greeting, an acknowledgement or thanks."),
    "gate.too_short": (
        "消息很短，也没有值得记住的信号。",
        "Very short, with nothing that asks to be remembered.",
    ),
    "gate.duplicate": ("和已有记忆完全相同。", "Says exactly what is remembered already."),
    "gate.unsafe": ("文字试图下达指令或植入记忆。", "The text tries to give orders or to plant a memory."),
}
"""Reason of each rule, Chinese and English."""


def reason_in_language(text: str, zh: str, en: str) -> str:
    """The wording in the language of `text`; Chinese also for mixed text."""
    return en if language_of(text) == "en" else zh


def fast_reject(prepared: Prepared) -> Judgement | None:
    """The judgement of a turn that can be turned down at sight; None when it has to be looked at."""
    text = prepared.text
    if not any(ch.isalnum() for ch in text):
        return _rejected("gate.empty", "unclear", text)
    parts = segment(text, in_fiction=plays_on([said for _, said in prepared.history]))
    if plants_something(parts):
        return _rejected("gate.unsafe", "unsafe", text)
    if prepared.known and fold_for_comparison(text) in _known(prepared.known):
        return _rejected("gate.duplicate", "duplicate", text)
    if _only_acknowledges(parts.norm.text):
        return _rejected("gate.acknowledgement", "small_talk", text)
    words = gate_words()
    short = len(text) < 2 * words.too_short and len(_without_emoji(text.strip())) < words.too_short
    if prepared.context.task_id and len(_without_emoji(text.strip())) >= _SHORTEST_WISH:
        short = False
    if short and not words.signal.search(parts.norm.text) and not _signals(parts.norm.text):
        return _rejected("gate.too_short", "small_talk", text)
    return None


@lru_cache(maxsize=256)
def _known(known: tuple[str, ...]) -> frozenset[str]:
    return frozenset(fold_for_comparison(content) for content in known)


def _signals(text: str) -> bool:
    return any(one.entry.kind in _LASTING for one in find_signals(text))


_LONGEST_ACKNOWLEDGEMENT = 80
_PIECES = re.compile(r"[\s,.!?;:~、。…·\-—()\"'“”‘’]+")


def _only_acknowledges(text: str) -> bool:
    words = gate_words()
    if len(text) > _LONGEST_ACKNOWLEDGEMENT:
        return False
    bare = _without_emoji(text)
    pieces = [piece for piece in _PIECES.split(bare) if piece]
    if "".join(pieces) in words.acknowledgements:
        return True
    return all(piece in words.acknowledgements or words.drawn_out.fullmatch(piece) for piece in pieces)


_NO_EMOJI = LeavingOut(frozenset({"So", "Sk", "Cf", "Mn", "Cs"}).__contains__)


def _without_emoji(text: str) -> str:
    return text.translate(_NO_EMOJI)


def _rejected(rule: str, category: Category, text: str) -> Judgement:
    zh, en = REASONS[rule]
    return Judgement(
        should_extract=False,
        confidence=0.98,
        category=category,
        stability="temporary" if category == "small_talk" else "unclear",
        importance=0,
        reason=reason_in_language(normalise(text).text, zh, en),
        route="fast_reject",
        rule=rule,
    )


__all__ = ["GateWords", "fast_reject", "gate_words", "reason_in_language"]
