"""Big stores in little time: the examples' events, addressed anew to as many owners as are wanted.

The examples' turns are taken in once, through the gate. What they left is then copied: other owners,
other turns, other memories, the same words. Copies go straight into the store, without projections.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from memstrata import Memstrata
from memstrata.adapters.importers import Defaults, read_turns
from memstrata.adapters.storage import SqlEventStore, open_store
from memstrata.adapters.storage.ids import UuidSevenIds
from memstrata.bootstrap import SystemClock
from memstrata.domain.events import EVENT_TYPES, BatchClosed, BatchOpened, ProcessChanged, TaskChanged
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
_ID = re.compile(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_GROUP = 2_000

Kept = tuple[str, int, str, bytes]
"""Stream, version, topic and payload."""


def histories() -> list[list[Kept]]:
    """What each of the examples leaves, its ledger aside: that one is there once for each owner."""
    found = []
    with Memstrata.open("sqlite://", durability="fast") as memory:
        for number, path in enumerate(sorted(EXAMPLES.glob("*.jsonl"))):
            owner = f"example/{number}"
            memory.ingest(owner, [placed.turn for placed in read_turns(path.read_bytes(), Defaults()).turns])
            ledger = (TaskChanged, ProcessChanged, BatchOpened, BatchClosed)
            found.append(
                [
                    (e.stream_id, e.stream_version, e.event.TOPIC, e.event.model_dump_json().encode())
                    for e in memory.log(owner)
                    if not isinstance(e.event, ledger)
                ]
            )
    return found


def copied(history: list[Kept], ids: UuidSevenIds) -> Iterator[NewEvent]:
    """The same events of other turns and memories."""
    named: dict[bytes, bytes] = {}

    def other(found: re.Match[bytes]) -> bytes:
        return named.get(found[0]) or named.setdefault(found[0], ids.new_id().encode())

    for stream_id, version, topic, payload in history:
        event = EVENT_TYPES[topic].model_validate_json(_ID.sub(other, payload))
        yield NewEvent(_ID.sub(other, stream_id.encode()).decode(), version, event)


def fill(store: SqlEventStore, events: int, *, until_memories: tuple[Owner, int] | None = None) -> None:
    """Append copies until the store has so many events.

    `until_memories`: an owner who gets copies first, until he has so many memories.
    """
    ids, kept = UuidSevenIds(SystemClock()), histories()
    position = store.head_position()
    if until_memories is not None:
        owner, wanted = until_memories
        while wanted > 0:
            for history in kept:
                new = list(copied(history, ids))
                store.append(Append(owner, new, None))
                position += len(new)
                wanted -= sum(topic == "memory.created" for _, _, topic, _ in history)
    number, waiting = 0, []
    while position < events:
        for history in kept:
            number += 1
            new = list(copied(history, ids))
            waiting.append(Append(Owner(tenant="bench", user=str(number)), new, None))
            position += len(new)
        if position >= events or sum(len(one.events) for one in waiting) > _GROUP:
            store.append_many(waiting)
            waiting = []


def filled_store(path: Path, events: int, *, until_memories: tuple[Owner, int] | None = None) -> None:
    """A store of so many events, without projections: they are rebuilt when it is opened."""
    with open_store(str(path), clock=SystemClock(), durability="fast") as store:
        fill(store, events, until_memories=until_memories)
