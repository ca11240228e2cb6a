"""Whether a narrower memory stands in for a wider one while its scope lasts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

from ..domain.policy import Policy
from ..domain.scope import Scope
from ..domain.slot import fold_value
from .keywords import KeyWordReader, KeyWords


class Said(Protocol):
    """What is compared of a statement."""

    @property
    def scope(self) -> Scope:
        """How far it reaches."""

    @property
    def subject(self) -> str:
        """Who or what it is about."""

    @property
    def attribute(self) -> str:
        """What of the subject."""

    @property
    def value(self) -> str | None:
        """The value, if it has one apart from the content."""

    @property
    def content(self) -> str:
        """The sentence."""


S = TypeVar("S", bound=Said)


class Narrowing:
    """Compares statements with the registry and the word lists of one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._registry = policy, policy.registry

    @cached_property
    def _read(self) -> Callable[[str], KeyWords]:
        # Its patterns take longer to compile than most commands take in all.
        return KeyWordReader(self._policy).read

    def without_excepted(self, said: Sequence[S]) -> list[S]:
        """Those that no narrower one among them excepts, in their order."""
        ranks = [one.scope.rank for one in said]
        if len(set(ranks)) < 2:
            return list(said)
        # Only what agrees in one of these can except the other: a few pairs of what would be all of them.
        keys = [self._keys(one) for one in said]
        narrower: dict[tuple[str, ...], list[tuple[int, S]]] = {}
        widest = max(ranks)
        for one, rank, agreeing in zip(said, ranks, keys, strict=True):
            if rank < widest:
                for key in agreeing:
                    narrower.setdefault(key, []).append((rank, one))
        return [
            wide
            for wide, rank, agreeing in zip(said, ranks, keys, strict=True)
            if not any(
                less < rank and self.excepts(narrow, wide)
                for key in agreeing
                for less, narrow in narrower.get(key, ())
            )
        ]

    def _keys(self, said: Said) -> set[tuple[str, ...]]:
        subject, value = fold_value(said.subject), said.value
        if self._registry.get(said.attribute).cardinality == "single":
            keys: set[tuple[str, ...]] = {(subject, said.attribute)}
        else:
            keys = set() if value is None else {(subject, said.attribute, fold_value(value))}
        about = self._read(said.content).aspects
        return keys | {(subject, "aspect", "", aspect) for aspect, _ in about}

    def excepts(self, narrow: Said, wide: Said) -> bool:
        """Whether the narrow statement says, for its scope, what the wide one says otherwise.

        Of one single-valued attribute, the same value of a many-valued one, or the same aspect (order,
        length, format …) of how something is to be written or answered.
        """
        if narrow.scope.rank >= wide.scope.rank or fold_value(narrow.subject) != fold_value(wide.subject):
            return False
        if narrow.attribute == wide.attribute:
            attribute = self._registry.get(narrow.attribute)
            if attribute.cardinality == "single":
                return True
            if narrow.value is not None and wide.value is not None:
                return fold_value(narrow.value) == fold_value(wide.value)
        about = {aspect for aspect, _ in self._read(narrow.content).aspects}
        return bool(about & {aspect for aspect, _ in self._read(wide.content).aspects})
