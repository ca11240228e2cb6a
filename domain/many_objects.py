"""Work that builds many objects: folds, plans, reading a log."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def many_objects() -> Iterator[None]:
    """While many objects are built that hold no cycles, looking for cycles again and again is in vain.

    Measured 2026-12-01: 23 of 33 µs for an event that is kept.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
