"""Run as a program: appends to a store until it is stopped, and says what was acknowledged.

Usage: appender.py PATH COUNT [FILE_SIZE_LIMIT]
Prints "STREAM VERSION" for each event when its append has returned.
"""

import sys
from datetime import UTC, datetime

from memstrata.adapters.storage import UuidSevenIds, open_store
from memstrata.domain.errors import MemstrataError
from memstrata.domain.events import TaskChanged
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def event(note: str) -> TaskChanged:
    now = datetime.now(UTC)
    return TaskChanged(
        actor="user", correlation_id=note, policy="p1", said_at=now, task_id="t1", change="started", at=now
    )


def run(path: str, count: int) -> None:
    owner, ids = Owner(tenant="acme", user="lin"), UuidSevenIds(SystemClock())
    with open_store(path, clock=SystemClock()) as store:
        for _ in range(count):
            stream = ids.new_id()
            pair = [NewEvent(stream, version, event("x" * 500)) for version in (1, 2)]
            for recorded in store.append(Append(owner, pair, None)):
                print(recorded.stream_id, recorded.stream_version, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        import resource

        limit = int(sys.argv[3])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        run(sys.argv[1], int(sys.argv[2]))
    except MemstrataError as error:
        sys.exit(f"{type(error).__name__}: {error}")
