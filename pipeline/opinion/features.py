"""What the second opinion goes by: short runs of characters and words, and a few marks of the whole.

The same function serves training and the gate, so that a model is asked in the words it learned.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[㐀-鿿]|[a-z]+(?:['’][a-z]+)?|[0-9]+(?:[.,:][0-9]+)*|[?!…]")
_LONGEST_RUN = 4
"""Characters and words in a row: longer runs of Hanzi are hardly ever met twice."""

_LONGEST_WORD = 24
"""Characters of a word that are looked at: a word is no longer, a flood is."""

MAX_TOKENS = 120
"""Characters and words of a clause that are looked at: nobody says one thing at greater length."""


def features_of(text: str, marks: frozenset[str] = frozenset()) -> list[str]:
    """The features of a normalised clause, each once, in the order in which they begin.

    `marks` are kinds of signals that stand in it. Numbers count as numbers, whatever they are.
    """
    tokens = ["^"]
    for match in _TOKEN.finditer(text):
        token = match.group()
        tokens.append("0" if token[0].isdigit() else token[:_LONGEST_WORD].replace("’", "'"))
        if len(tokens) > MAX_TOKENS:
            break
    tokens.append("$")
    found: dict[str, None] = {}
    count = len(tokens)
    for start in range(count):
        run = tokens[start]
        if run not in "^$":
            found[run] = None
        for end in range(start + 1, min(start + _LONGEST_RUN, count)):
            run = f"{run} {tokens[end]}"
            found[run] = None
        word = tokens[start]
        if len(word) > 3:
            _add_pieces(found, word)
    for mark in sorted(marks):
        found[f"#{mark}"] = None
    found[f"#length {min(count // 4, 8)}"] = None
    return list(found)


def _add_pieces(found: dict[str, None], word: str) -> None:
    """Beginnings, endings and inner pieces of a Latin word: they outlive its slips and its forms."""
    enclosed = f"<{word}>"
    for size in (3, 4, 5):
        for at in range(len(enclosed) - size + 1):
            found[enclosed[at : at + size]] = None
