"""Stream ids: 32 hex digits outside, 16 bytes inside."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from ...domain.errors import InvalidInputError
from ...domain.ports import Clock


def id_to_bytes(text: str) -> bytes:
    """The stored form: the time half first, so that new ids lie side by side in the index.

    Raises:
        InvalidInputError: not 32 lower-case hex digits.
    """
    try:
        stored = bytes.fromhex(text)
    except ValueError:
        stored = b""
    if len(stored) != 16 or stored.hex() != text:  # capitals and spaces would be read, too
        raise InvalidInputError("stream_id", f"{text[:40]!r} is no id", "give 32 lower-case hex digits")
    return stored[8:] + stored[:8]


def id_to_text(stored: bytes) -> str:
    """The form that people see: the random half first, so that a few digits tell ids apart."""
    digits = stored.hex()
    return digits[16:] + digits[:16]


class UuidSevenIds:
    """Time-ordered ids (RFC 9562, version 7); ascending within one instance, safe for threads.

    The 12 bits after the time count within a millisecond, from a random start in their lower half;
    an overflow, or a clock that goes backwards, runs ahead of the clock instead of repeating.
    """

    def __init__(self, clock: Clock, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._clock, self._entropy = clock, entropy
        self._lock = threading.Lock()
        self._last = 0  # milliseconds << 12 | counter

    def new_id(self) -> str:
        """32 lower-case hex digits, the random half first."""
        noise = int.from_bytes(self._entropy(10), "big")
        milliseconds = int(self._clock.now().timestamp() * 1000)
        with self._lock:
            self._last = max(self._last + 1, milliseconds << 12 | noise >> 69)
            moment, counter = divmod(self._last, 1 << 12)
        high = moment << 16 | 7 << 12 | counter
        low = 0b10 << 62 | noise & ((1 << 62) - 1)
        return f"{low:016x}{high & ((1 << 64) - 1):016x}"
