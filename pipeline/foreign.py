"""Sentences that nobody says of themself: about the user, about assistants, or about what is shown."""

from __future__ import annotations

from .material_words import material_words
from .sought import Pieces


def may_be_foreign(text: str, pieces: Pieces) -> bool:
    """Whether a sentence of the text may be somebody else's, by its words."""
    return material_words().one["foreign"].needs.met_in(text, pieces)


def is_foreign(sentence: str, pieces: Pieces) -> bool:
    """Whether a sentence speaks of the user, of assistants or of their memory as only somebody else would."""
    words = material_words().one
    return words["foreign"].search(sentence, pieces) is not None and not words["own"].search(sentence, pieces)


def is_about_the_shown(sentence: str, pieces: Pieces) -> bool:
    """Whether a sentence beside a shown text, or a foreign sentence, says nothing of the user's own."""
    words = material_words()
    if words.one["introducing"].search(sentence, pieces):
        return words.one["wishes"].search(sentence, pieces) is None
    return words.one["own_beside"].search(sentence, pieces) is None
