"""What the second opinion goes by: runs of one to four characters and words, and a few marks of the whole.

The same function serves training and the gate, so that a model is asked in the words it learned.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from operator import add

_TOKEN = re.compile(r"[㐀-鿿]|[a-z]+(?:['’][a-z]+)?|[0-9]+(?:[.,:][0-9]+)*|[?!…]")
_SHORT_WORD = 3
"""Characters of a word that is not cut into pieces."""

_LONGEST_WORD = 24
"""Characters of a word that are looked at: a word is no longer, a flood is."""

MAX_TOKENS = 120
"""Characters and words of a clause that are looked at: nobody says one thing at greater length."""

_MAX_LENGTH = 4_000
"""Code points in which these are looked for."""


def features_of(text: str, marks: frozenset[str] = frozenset()) -> list[str]:
    """The features of a normalised clause, each once, always in the same order.

    `marks` are kinds of signals that stand in it. Numbers count as numbers, whatever they are.
    """
    words = _TOKEN.findall(text[:_MAX_LENGTH])[:MAX_TOKENS]
    tokens = ["^", *map(_token, words), "$"]
    # Four passes in C over the whole clause: a loop over its tokens takes twice the time.
    pairs = [*map(add, tokens, tokens[1:])]
    triples = [*map(add, pairs, tokens[2:])]
    found = dict.fromkeys(chain(tokens[1:-1], pairs, triples, map(add, triples, tokens[3:])))
    found.update(dict.fromkeys(chain.from_iterable(map(_pieces, words))))
    found.update(dict.fromkeys(f"#{mark}" for mark in sorted(marks)))
    found[f"#length {min(len(tokens) // 4, 8)}"] = None
    return list(found)


def token_count(text: str) -> int:
    """How many Hanzi, words and numbers a normalised clause has."""
    return sum(1 for match in _TOKEN.finditer(text) if match.group()[0].isalnum())


@lru_cache(maxsize=20_000)
def _token(word: str) -> str:
    """How a word stands in a run: Latin words are set off from what is ahead of them, Hanzi are not."""
    if word[0].isdigit():
        return "0"
    return f" {word[:_LONGEST_WORD].replace('’', chr(39))}" if word[0].isascii() else word


@lru_cache(maxsize=20_000)
def _pieces(word: str) -> tuple[str, ...]:
    """Beginnings, endings and inner pieces of a Latin word: they outlive its slips and its forms."""
    if len(word) <= _SHORT_WORD or word[0].isdigit():
        return ()
    enclosed = f"<{word[:_LONGEST_WORD].replace('’', chr(39))}>"
    return tuple(enclosed[at : at + size] for size in (3, 4, 5) for at in range(len(enclosed) - size + 1))
