"""What `doctor` looks at."""

from __future__ import annotations

import platform
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ... import __version__
from ...bootstrap import Memstrata, find_damage
from ...domain.errors import StoreError
from ...domain.owner import Owner
from ...projections.rows import PROJECTIONS
from .failures import ERROR, OK, VERIFICATION_FAILED, status_of
from .text import stamp

_OLDEST_SQLITE = (3, 35, 0)
"""The first with RETURNING and DROP COLUMN, which the store uses."""

_AHEAD = timedelta(minutes=5)
"""The log may be that much ahead of the clock before a wrong clock is suspected."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `status` is the exit status that it leads to."""

    check: str
    ok: bool
    says: str
    status: int = OK


def surroundings() -> list[Finding]:
    """Versions of what Memstrata runs on."""
    new_enough = sqlite3.sqlite_version_info >= _OLDEST_SQLITE
    needed = "" if new_enough else f"; needs {'.'.join(map(str, _OLDEST_SQLITE))} or later"
    return [
        Finding("memstrata", True, __version__),
        Finding("python", True, f"{platform.python_version()} on {platform.system()}"),
        Finding("sqlite", new_enough, sqlite3.sqlite_version + needed, OK if new_enough else ERROR),
    ]


def file_examined(path: Path) -> Finding:
    """Whether SQLite finds every page of the file as it should be; damage keeps most stores from opening."""
    damages = find_damage(str(path))
    if damages:
        says = "; ".join(f"{one.table}: {one.problem}" for one in damages)
        return Finding("file", False, f"damaged, restore it from a backup: {says}", VERIFICATION_FAILED)
    return Finding("file", True, "every table and index is whole")


def examined(store: Memstrata, owner: Owner) -> list[Finding]:
    """The store, and what one owner has in it; a check that cannot be carried out is a finding too."""
    checks: dict[str, Callable[[], Finding]] = {
        "log": lambda: _log(store),
        "projections": lambda: _projections(store),
        "drift": lambda: _drift(store),
        "slots": lambda: _slots(store, owner),
        "clock": lambda: _clock(store, owner),
        "owner": lambda: _owner(store, owner),
    }
    findings = [Finding("store", True, store.where)]
    for name, check in checks.items():
        try:
            findings.append(check())
        except StoreError as error:
            findings.append(Finding(name, False, str(error), status_of(error)))
    return findings


def _log(store: Memstrata) -> Finding:
    reports = store.verify()
    broken = [f"position {report.position}: {report.problem}" for report in reports if not report.ok]
    if broken:
        return Finding("log", False, "; ".join(broken), VERIFICATION_FAILED)
    events = sum(report.events for report in reports)
    return Finding("log", True, f"{events} events, the chain of digests agrees with all of them")


def _projections(store: Memstrata) -> Finding:
    stale = store.views.stale()
    if stale:
        return Finding("projections", False, f"{', '.join(stale)} lag; run `memstrata rebuild`", ERROR)
    versions = ", ".join(f"{name} {version}" for name, version in PROJECTIONS.items())
    return Finding("projections", True, f"in step: {versions}")


def _drift(store: Memstrata) -> Finding:
    report = store.rebuild(check=True)
    differing = [one.name for one in report.tables if not one.same]
    if differing:
        says = f"{', '.join(differing)} are not what the events say; run `memstrata rebuild`"
        return Finding("drift", False, says, VERIFICATION_FAILED)
    return Finding("drift", True, f"every row is what the {report.events} events say")


def _slots(store: Memstrata, owner: Owner) -> Finding:
    """Two active memories in one slot wait for a person; they are never merged silently."""
    slots = defaultdict(list)
    for listed in store.by_status(owner, "active"):
        if listed.memory.slot_key:
            slots[listed.memory.slot_key].append(listed.memory.memory_id[:8])
    shared = [" and ".join(ids) for ids in slots.values() if len(ids) > 1]
    if shared:
        return Finding("slots", False, f"say the same thing twice: {'; '.join(shared)}", ERROR)
    return Finding("slots", True, "each is held by one memory")


def _clock(store: Memstrata, owner: Owner) -> Finding:
    head, now = store.store.head_time(owner), datetime.now(UTC)
    if head is not None and head > now + _AHEAD:
        return Finding("clock", False, f"the last event is of {stamp(head)}, now is {stamp(now)}", ERROR)
    return Finding("clock", True, f"the last event is of {stamp(head)}" if head else "no event yet")


def _owner(store: Memstrata, owner: Owner) -> Finding:
    counts = store.counts(owner)
    memories = ", ".join(f"{number} {status}" for status, number in counts.memories.items()) or "none"
    return Finding("owner", True, f"{owner}: {counts.turns} turns, memories: {memories}")
