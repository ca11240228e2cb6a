"""Finding many fixed words in one pass over a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Hit(NamedTuple, Generic[T]):
    """A word found: half-open offsets into the text that was scanned, and what the word stands for."""

    start: int
    end: int
    of: T


def is_latin(ch: str) -> bool:
    """Whether `ch` belongs to a word that is bounded by what is not a letter or digit."""
    return ch.isascii() and (ch.isalnum() or ch == "_")


class WordIndex(Generic[T]):
    """Words with what they stand for, looked up by their first two characters.

    A word that begins (ends) with an ASCII letter or digit is found only where no other ASCII letter or
    digit stands before (after) it: `ios` is not found in `curiosity`, but 用 is found everywhere. A
    final `*` lets a word go on: `allerg*` finds `allergic`.
    """

    def __init__(self, words: Iterable[tuple[str, T]]) -> None:
        # first character → (words of that one character, second character → longer words)
        self._tree: dict[str, tuple[list[tuple[str, bool, T]], dict[str, list[tuple[str, bool, T]]]]] = {}
        for word, of in words:
            stem = word.removesuffix("*")
            if not stem:
                raise ValueError("an index cannot hold the empty word")
            bounded = is_latin(stem[-1]) and not word.endswith("*")
            alone, longer = self._tree.setdefault(stem[0], ([], {}))
            bucket = alone if len(stem) == 1 else longer.setdefault(stem[1], [])
            bucket.append((stem, bounded, of))

    def scan(self, text: str) -> Iterator[Hit[T]]:
        """Every occurrence of every word, overlapping ones too, by where they begin."""
        tree = self._tree
        size = len(text)
        within = False  # a Latin word
        for start, ch in enumerate(text):
            latin = ch < "\x80" and (ch.isalnum() or ch == "_")
            if latin and within:
                continue
            within = latin
            node = tree.get(ch)
            if node is None:
                continue
            alone, longer = node
            bucket = longer.get(text[start + 1]) if start + 1 < size else None
            if alone:
                bucket = alone + bucket if bucket else alone
            if bucket is None:
                continue
            for word, bounded, of in bucket:
                if text.startswith(word, start):
                    end = start + len(word)
                    if not (bounded and end < size and is_latin(text[end])):
                        yield Hit(start, end, of)
