"""Finding many fixed words in one pass over a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

Hit = tuple[int, int, T]
"""A word found: half-open offsets into the text that was scanned, and what the word stands for."""

_LATIN_WORD = re.compile("[0-9A-Za-z_]+")


class _Word(NamedTuple, Generic[T]):
    rank: tuple[bool, int]
    """Words of one character first, else in the order given."""
    stem: str
    bounded: bool
    """Whether it ends only where a Latin word ends."""
    of: T


_Words = tuple[_Word[T], ...]


def is_latin(ch: str) -> bool:
    """Whether `ch` belongs to a word that is bounded by what is not a letter or digit."""
    return ch < "\x80" and (ch.isalnum() or ch == "_")


class WordIndex(Generic[T]):
    """Words with what they stand for, looked up by their beginnings.

    A word that begins (ends) with an ASCII letter or digit is found only where no other ASCII letter or
    digit stands before (after) it: `ios` is not found in `curiosity`, but 用 is found everywhere. A
    final `*` lets a word go on: `allerg*` finds `allergic`.

    What begins with a Latin word is looked up by that whole word, everything else by its first two
    characters, so that most of a text is passed over after one look into a dictionary.
    """

    def __init__(self, words: Iterable[tuple[str, T]]) -> None:
        whole: dict[str, list[_Word[T]]] = {}  # first Latin word → words
        open_: dict[str, list[_Word[T]]] = {}  # the same for words that are part of a longer Latin one
        others: dict[str, dict[str, list[_Word[T]]]] = {}  # first character → second, or "" → words
        for place, (written, of) in enumerate(words):
            stem = written.removesuffix("*")
            if not stem:
                raise ValueError("an index cannot hold the empty word")
            goes_on = stem != written
            word = _Word((len(stem) > 1, place), stem, is_latin(stem[-1]) and not goes_on, of)
            first = _LATIN_WORD.match(stem)
            if first is None:
                others.setdefault(stem[0], {"": []}).setdefault(stem[1:2], []).append(word)
            else:
                (open_ if goes_on and first[0] == stem else whole).setdefault(first[0], []).append(word)
        self._whole = {
            first: _in_order(
                own, *(open_[first[:end]] for end in range(1, len(first) + 1) if first[:end] in open_)
            )
            for first, own in whole.items()
        }
        self._open = {
            two: _in_order(*(found for first, found in open_.items() if two.startswith(first[:2])))
            for two in {first[:2] for first in open_}
        }
        self._others = {
            first: {
                second: _in_order(seconds[""], found if second else []) for second, found in seconds.items()
            }
            for first, seconds in others.items()
        }
        self._signs = any(first.isascii() for first in others)

    def scan(self, text: str) -> Sequence[Hit[T]]:
        """Every occurrence of every word, overlapping ones too, by where they begin.

        Of those that begin at one place, words of one character come first, else in the order given.
        """
        hits: list[Hit[T]] = []
        for match in _LATIN_WORD.finditer(text):
            first = match[0]
            words = self._whole.get(first) or self._open.get(first[:2]) or self._open.get(first[0])
            if words:
                _add_hits(hits, words, text, match.start())
        if text.isascii() and not self._signs:
            return hits
        latin = len(hits)
        others = self._others.get
        for start, ch in enumerate(text):
            seconds = others(ch)
            if seconds is not None:
                words = seconds.get(text[start + 1 : start + 2]) or seconds[""]
                if words:
                    _add_hits(hits, words, text, start)
        if latin and latin < len(hits):
            hits.sort(key=itemgetter(0))
        return hits


def _in_order(*found: Iterable[_Word[T]]) -> _Words[T]:
    return tuple(sorted((word for words in found for word in words), key=itemgetter(0)))


def _add_hits(hits: list[Hit[T]], words: _Words[T], text: str, start: int) -> None:
    for _, stem, bounded, of in words:
        if text.startswith(stem, start):
            end = start + len(stem)
            if not (bounded and end < len(text) and is_latin(text[end])):
                hits.append((start, end, of))
