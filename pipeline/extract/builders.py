"""Small functions where data does not reach: they refine what a rule found, or refuse it.

A builder takes what was found and returns the fields of the draft that it changes (`value`, `content`,
`kind`, `attribute`, `intent`, `former_value`, `time`, `importance` …), an empty mapping to take the draft
as it is, or None to refuse the match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import Found

Builder = Callable[["Found"], Mapping[str, Any] | None]

BUILDERS: dict[str, Builder] = {}
"""By the name that rules use."""


def builder(function: Builder) -> Builder:
    """Register a function under its own name."""
    BUILDERS[function.__name__] = function
    return function


_NO_PLACE = re.compile(
    r"^(?:院|校|宿舍|公司|学校|酒店|宾馆|民宿|家里?|楼|这|那|哪|一起|一楼|隔壁|附近|朋友|同事|别人|对面|下来|过来|进|不|得|着|"
    r"the |a |my |an |your |here|there|this|that|fear|peace|hope|denial)|(?:附近|楼上?|旁边|一起|对面|酒店|宿舍)$"
)


@builder
def place(found: Found) -> Mapping[str, Any] | None:
    """Refuse what cannot be a town or a country, such as a hospital bed or the flat above."""
    value = found.plain("value")
    if len(value) < 2 or _NO_PLACE.search(value.lower()):
        return None
    return {}
