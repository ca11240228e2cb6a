"""Remembering the last answers of pure functions of a text."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

SHORT = 4_000
"""Code points of the texts that several answers are kept for; of longer ones, the last two."""


def of_last_texts(
    many: int,
) -> Callable[[Callable[Concatenate[str, P], T]], Callable[Concatenate[str, P], T]]:
    """Keep a function's answers for the last `many` short texts and the last two long ones.

    One turn asks for the same text several times, and once more for each turn that has it in its
    history. Bounded in size as well as in number: a megabyte is no reason to keep 256 of them. Not
    for texts that may hold a secret: what is kept is kept unmasked.
    """

    def keeping(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
        short, long = lru_cache(maxsize=many)(function), lru_cache(maxsize=2)(function)

        @wraps(function)
        def remembered(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
            keeper = short if len(text) <= SHORT else long
            return keeper(text, *args, **kwargs)  # type: ignore[arg-type]  # arguments are hashable

        return remembered

    return keeping
