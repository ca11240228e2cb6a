"""Where the user begins to play somebody else, and where the play is over."""

from __future__ import annotations

from .introduction import SENTENCE_ENDS, sentence_start
from .material_words import material_words
from .sought import Pieces


def starts_fiction(text: str, pieces: Pieces) -> int | None:
    """Where the user begins to play somebody else; None when they do not."""
    words = material_words()
    for match in words.one["fiction_starts"].finditer(text, pieces):
        ends = SENTENCE_ENDS.search(text, match.end())
        until = ends.start() if ends else len(text)
        begins = sentence_start(text, match.start())
        over = words.one["fiction_ends"].pattern.search(text, begins, until)
        if not over and not words.one["lasting_role"].pattern.search(text, begins, until):
            return match.start()
    return None


def ends_fiction(text: str, pieces: Pieces) -> bool:
    """Whether the text says that a play is over."""
    return material_words().one["fiction_ends"].search(text, pieces) is not None
