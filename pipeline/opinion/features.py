"""What the second opinion goes by: short runs of characters and words, and a few marks of the whole.

The same function serves training and the gate, so that a model is asked in the words it learned.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate, islice

_TOKEN = re.compile(r"[㐀-鿿]|[a-z]+(?:['’][a-z]+)?|[0-9]+(?:[.,:][0-9]+)*|[?!…]")
_LONGEST_RUN = 4
"""Characters and words in a row: longer runs of Hanzi are hardly ever met twice."""

_SHORT_WORD = 3
"""Characters of a word that is not cut into pieces."""

_LONGEST_WORD = 24
"""Characters of a word that are looked at: a word is no longer, a flood is."""

MAX_TOKENS = 120
"""Characters and words of a clause that are looked at: nobody says one thing at greater length."""


def features_of(text: str, marks: frozenset[str] = frozenset()) -> list[str]:
    """The features of a normalised clause, each once, in the order in which they begin.

    `marks` are kinds of signals that stand in it. Numbers count as numbers, whatever they are.
    """
    tokens = ["^", *(_token(match.group()) for match in islice(_TOKEN.finditer(text), MAX_TOKENS)), "$"]
    line, count = " ".join(tokens), len(tokens)
    ends = list(accumulate(len(token) + 1 for token in tokens))
    found = dict.fromkeys(tokens[1:-1])
    start = 0
    for at, token in enumerate(tokens):
        # Cut out of the line: joining tokens anew takes three times as long.
        for end in ends[at + 1 : at + _LONGEST_RUN]:
            found[line[start : end - 1]] = None
        if len(token) > _SHORT_WORD:
            found.update(_pieces(token))
        start = ends[at]
    found.update(dict.fromkeys(f"#{mark}" for mark in sorted(marks)))
    found[f"#length {min(count // 4, 8)}"] = None
    return list(found)


def token_count(text: str) -> int:
    """How many Hanzi, words and numbers a normalised clause has."""
    return sum(1 for match in _TOKEN.finditer(text) if match.group()[0].isalnum())


def _token(word: str) -> str:
    return "0" if word[0].isdigit() else word[:_LONGEST_WORD].replace("’", "'")


@lru_cache(maxsize=20_000)
def _pieces(word: str) -> dict[str, None]:
    """Beginnings, endings and inner pieces of a Latin word: they outlive its slips and its forms."""
    enclosed = f"<{word}>"
    return dict.fromkeys(
        enclosed[at : at + size] for size in (3, 4, 5) for at in range(len(enclosed) - size + 1)
    )
