"""What makes two statements the same memory."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Literal

from pydantic import Field

from .scope import Scope
from .statement import Statement
from .values import Value

Cardinality = Literal["single", "many"]


class Attribute(Value):
    """One entry of the attribute registry.

    `single`: one value at a time, a new one is a new version. `many`: a slot per value.
    `free`: statements in free text; each content opens a memory of its own.
    """

    name: str
    cardinality: Cardinality
    free: bool = False
    aliases: tuple[str, ...] = ()
    type: str = "text"
    process: str | None = None
    sensitive: bool = False
    label: Mapping[str, str] = Field(default_factory=dict)


class Registry(Value):
    """The known attributes by name.

    An unknown one is many-valued: nothing is overwritten by accident.
    """

    attributes: Mapping[str, Attribute]

    def canonical(self, name: str) -> str:
        """The registered name of an attribute or of its alias; an unknown name is its own."""
        return name if name in self.attributes else self._by_alias.get(name, name)

    def get(self, name: str) -> Attribute:
        """The entry, or a many-valued one for an unknown name."""
        known = self.attributes.get(self.canonical(name))
        return known or Attribute(name=name, cardinality="many")

    def names(self, name: str) -> tuple[str, ...]:
        """The attribute's name, and every alias of that name."""
        known = self.attributes.get(name)
        aliases = known.aliases if known is not None else ()
        return (name, *(alias for alias in aliases if alias != name and self.canonical(alias) == name))

    @cached_property
    def _by_alias(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for attribute in self.attributes.values():
            for alias in attribute.aliases:
                found.setdefault(alias, attribute.name)
        return found


class Slot(Value):
    """Subject, attribute and scope anchor, and for many-valued attributes the value.

    Two statements with equal slots are about the same memory. Free text has no slot key of its own
    but its folded content.
    """

    subject: str
    attribute: str
    scope: str
    value: str = ""

    @cached_property
    def key(self) -> str:
        """One string for the slot; parts are joined by U+001F, which no normalised part holds."""
        return "\x1f".join((self.subject, self.attribute, self.scope, self.value))


@lru_cache(maxsize=65_536)
def fold_value(text: str) -> str:
    """A value as slots compare it: NFKC, case folded, white space and end punctuation gone."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if not unicodedata.category(c).startswith(("Z", "P", "C")))


def slot_of(registry: Registry, statement: Statement, scope: Scope | None = None) -> Slot:
    """The slot of a statement, or the one that it would have in another scope."""
    name, scope = registry.canonical(statement.attribute), scope or statement.scope
    known = registry.attributes.get(name)
    single = known is not None and known.cardinality == "single"
    value = "" if single else statement.value_or_content
    return _slot(statement.subject, name, scope.kind, scope.anchor, value)


# An owner's slots are looked up anew for every decision, and hardly any of them has changed.
@lru_cache(maxsize=65_536)
def _slot(subject: str, attribute: str, kind: str, anchor: str, value: str) -> Slot:
    return Slot(
        subject=fold_value(subject),
        attribute=attribute,
        scope=f"{kind}:{anchor}" if anchor else kind,
        value=fold_value(value),
    )
