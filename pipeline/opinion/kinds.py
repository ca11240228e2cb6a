"""What a clause that the model proposes becomes; the table is `kinds.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from ...domain.candidate import CandidateKind, Intent
from ...domain.judgement import Category


@dataclass(frozen=True, slots=True)
class Kind:
    """Fields of the candidate."""

    kind: CandidateKind
    attribute: str
    category: Category
    importance: int
    intent: Intent = "assert"
    family: str | None = None


@dataclass(frozen=True, slots=True)
class Matter:
    """What is known by what a clause is about; None leaves what the saying gives."""

    kind: CandidateKind | None = None
    attribute: str | None = None
    category: Category | None = None
    family: str | None = None

    def on(self, kind: Kind) -> Kind:
        """The kind as far as the matter does not say otherwise."""
        return replace(
            kind,
            kind=self.kind or kind.kind,
            attribute=self.attribute or kind.attribute,
            category=self.category or kind.category,
            family=self.family,
        )


@dataclass(frozen=True, slots=True)
class Kinds:
    """The table: by what a clause says, and by what it is about."""

    says: Mapping[str, Kind]
    about: Mapping[str, Matter]


@cache
def kinds() -> Kinds:
    """Read once."""
    raw = tomllib.loads(resources.files(__package__).joinpath("kinds.toml").read_text("utf-8"))
    return Kinds(
        {name: Kind(**entry) for name, entry in raw["says"].items()},
        {name: Matter(**entry) for name, entry in raw["about"].items()},
    )
