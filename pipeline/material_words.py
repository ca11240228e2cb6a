"""The words and shapes by which material is known: `lexicon/material.toml`, compiled."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from .layout import Shapes
from .sought import AnyOf, Needs, Sought

_EACH = ("introduces", "requests", "requests_above", "headings", "notices", "others", "signs")
_UNUSUAL = ("points_back", "cut_off", "tells", "worked_on", "rendered", "fiction_starts", "foreign")


@dataclass(frozen=True, slots=True)
class MaterialWords:
    """The lists by their names in the file."""

    one: Mapping[str, Sought]
    """Lists whose patterns are looked for together."""
    each: Mapping[str, AnyOf]
    """Lists whose patterns are looked for one by one; together they would take twice the time."""
    unusual: Needs
    """Of the lists that even a message of one line without a colon is looked through for."""
    shapes: Shapes


@cache
def material_words() -> MaterialWords:
    """Read once."""
    raw: dict[str, Any] = tomllib.loads(
        resources.files(__package__).joinpath("lexicon/material.toml").read_text("utf-8")
    )
    lists = raw.pop("lists")
    filled = {name: [_filled(one, lists) for one in part["patterns"]] for name, part in raw.items()}
    shapes = {name: re.compile("|".join(filled.pop(f"{name}_lines"))) for name in ("code", "begins", "ends")}
    speakers = re.compile("|".join(filled.pop("speakers")))
    each = {name: AnyOf(Sought(one) for one in filled.pop(name)) for name in _EACH}
    one = {name: Sought("|".join(patterns)) for name, patterns in filled.items()}
    unusual = Needs.of_any(one[name] for name in _UNUSUAL)
    return MaterialWords(one, each, unusual, Shapes(**shapes, speakers=speakers))


def _filled(pattern: str, lists: Mapping[str, str]) -> str:
    """A pattern with the words of the lists that it names as `<list>`."""
    for name, words in lists.items():
        pattern = pattern.replace(f"<{name}>", f"(?:{words})")
    return pattern
