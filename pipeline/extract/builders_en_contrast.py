"""The builder of English contrasts: what was so, and what stands in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .builders import Changes, builder
from .english import EDGE, phrases

if TYPE_CHECKING:
    from .engine import Found


@builder
def en_contrast(found: Found) -> Changes | None:
    """What was so and what is so; refused where either only points at something."""
    former, value = _bare(found.words("former")), _bare(found.words("value"))
    if not former or not value or former.casefold() == value.casefold():
        return None
    if phrases("contrast_clause").search(value.lower()):
        return None
    if phrases("no_contrast").match(value.lower()) or phrases("no_contrast").match(former.lower()):
        return None
    return {
        "value": value,
        "former_value": former,
        "content": found.rule.content.format(former=former, value=value),
    }


def _bare(said: str) -> str:
    short = phrases("contrast_lead").sub("", said.strip(EDGE))
    return phrases("contrast_tail").sub("", short).strip(EDGE)
