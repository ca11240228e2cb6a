"""How far a long job is: a bar on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

_LONG = 200
"""Steps from which on a job is long enough for a bar."""


@contextmanager
def bar(length: int, label: str) -> Iterator[Callable[[int], None] | None]:
    """A function that takes how many steps were done since its last call; None where no bar is shown."""
    if length < _LONG or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as shown:
        yield shown.update


@contextmanager
def bar_to(length: int, label: str) -> Iterator[Callable[[int], None]]:
    """A function that takes how many steps are done altogether; it does nothing where no bar is shown."""
    with bar(length, label) as advance:
        done = 0

        def reached(now: int) -> None:
            nonlocal done
            if advance is not None:
                advance(now - done)
                done = now

        yield reached
