"""A map that never changes, and shares what it can with the one it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isqrt
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Layered(Mapping[K, V], Generic[K, V]):
    """Values by key, in the order in which the keys were first put in; no key is ever taken out.

    What changed lies over a base that many maps share. Before the layer grows much beyond the square
    root of the base, both become a new base: so a change costs about that root on average and not the
    size, and a look-up two look-ups.
    """

    __slots__ = ("_base", "_layer", "_size")

    def __init__(self, base: Mapping[K, V] | None = None) -> None:
        self._base: dict[K, V] = dict(base) if base is not None else {}
        self._layer: dict[K, V] = {}
        self._size = len(self._base)

    def changed(self, changes: Mapping[K, V]) -> Layered[K, V]:
        """The map with these values for these keys."""
        if not changes:
            return self
        after: Layered[K, V] = Layered.__new__(Layered)
        layer = {**self._layer, **changes}
        if len(layer) > 64 + 4 * isqrt(len(self._base)):
            after._base, after._layer = {**self._base, **layer}, {}
            after._size = len(after._base)
        else:
            after._base, after._layer, after._size = self._base, layer, self._size
            for key in changes:
                if key not in self:
                    after._size += 1
        return after

    def __getitem__(self, key: K) -> V:
        if key in self._layer:
            return self._layer[key]
        return self._base[key]

    def get(self, key: K, default: V | None = None) -> V | None:  # type: ignore[override]
        """The key's value, else the default."""
        if key in self._layer:
            return self._layer[key]
        return self._base.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._layer or key in self._base

    def __iter__(self) -> Iterator[K]:
        yield from self._base
        if self._size > len(self._base):
            yield from (key for key in self._layer if key not in self._base)

    def __len__(self) -> int:
        return self._size
