"""Dialect, slips of typing and blanks for commas, read as plain written Chinese of the same length."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

_PIPELINE = __package__.rpartition(".")[0]

_BLANK = re.compile(r"(?<=\S[\u4e00-\u9fff■])[ \u3000](?=[ \u3000]*[\u4e00-\u9fff]\S)")
"""A blank between Chinese phrases, which is a comma to those who write none; not within a spelt number."""

_WORDY = 3
"""Mean length of the runs between blanks up to which they stand between words, not between phrases."""


@dataclass(frozen=True, slots=True)
class _Words:
    """Words and what they are read as; `beside` are words of which one has to stand in the text."""

    plain: Mapping[str, str]
    found: re.Pattern[str]
    beside: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Mapping[str, str], beside: tuple[str, ...] = ()) -> _Words:
        longest_first = sorted(words, key=len, reverse=True)
        return cls(words, re.compile("|".join(map(re.escape, longest_first))), beside)

    def put(self, text: str) -> str:
        return self.found.sub(lambda match: self.plain[match.group()], text)


@dataclass(frozen=True, slots=True)
class _Plain:
    words: _Words
    patterns: tuple[tuple[re.Pattern[str], str], ...]
    cantonese: _Words


@cache
def _plain() -> _Plain:
    raw = tomllib.loads(resources.files(_PIPELINE).joinpath("lexicon/plain_zh.toml").read_text("utf-8"))
    only_beside = raw["cantonese"]
    return _Plain(
        _Words.of(raw["words"]),
        tuple((re.compile(one["find"]), one["plain"]) for one in raw["pattern"]),
        _Words.of(only_beside["words"], tuple(only_beside["beside"])),
    )


def in_plain_words(text: str) -> str:
    """The text as the rules read it. Places in it are places in the text."""
    if text.isascii():
        return text
    data = _plain()
    if any(word in text for word in data.cantonese.beside):
        text = data.cantonese.put(data.words.put(text))
    else:
        text = data.words.put(text)
    for pattern, plain in data.patterns:
        text = pattern.sub(plain, text)
    if not _BLANK.search(text):
        return text
    runs = text.split()
    return _BLANK.sub("，", text) if sum(map(len, runs)) > _WORDY * len(runs) else text


__all__ = ["in_plain_words"]
