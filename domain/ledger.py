"""What is about the owner and not about one memory: tasks, long processes, batches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .events import BatchClosed, BatchOpened, ProcessChanged, TaskChanged
from .history import struck_versions
from .stream import RecordedEvent


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch and what became of it."""

    batch_id: str
    opened: RecordedEvent
    kind: str
    reason: str
    undoes: str | None
    closed: bool
    undone_by: str | None
    """The batch whose undo of this one stands; None while this one stands itself."""


@dataclass(frozen=True)
class Ledger:
    """One owner's ledger, folded from its stream."""

    ledger_id: str
    entries: tuple[RecordedEvent, ...] = ()

    def evolve(self, entries: Iterable[RecordedEvent]) -> Ledger:
        """The ledger after further events."""
        return Ledger(self.ledger_id, (*self.entries, *entries))

    def as_of(self, position: int) -> Ledger:
        """The ledger as it was once the position was recorded."""
        return Ledger(self.ledger_id, tuple(e for e in self.entries if e.position <= position))

    @property
    def stream_version(self) -> int:
        """How many events the stream holds; 0 for an empty one."""
        return self.entries[-1].stream_version if self.entries else 0

    @cached_property
    def struck(self) -> frozenset[int]:
        """Stream versions of the events that are undone."""
        return struck_versions(self.entries)

    def in_force(self) -> Iterable[RecordedEvent]:
        """The events that are not undone, in order."""
        return (e for e in self.entries if e.stream_version not in self.struck)

    @cached_property
    def tasks(self) -> dict[str, TaskChanged]:
        """The last change in force of each task."""
        return {e.event.task_id: e.event for e in self.in_force() if isinstance(e.event, TaskChanged)}

    def task_finished(self, task_id: str) -> bool:
        """Whether the task's last change in force is its end."""
        task = self.tasks.get(task_id)
        return task is not None and task.change == "finished"

    @cached_property
    def processes(self) -> dict[str, ProcessChanged]:
        """The last transition in force of each long process."""
        return {e.event.process: e.event for e in self.in_force() if isinstance(e.event, ProcessChanged)}

    @cached_property
    def batches(self) -> dict[str, Batch]:
        """Every batch by id, in the order in which they were opened.

        A batch is undone while an undo of it stands; an undo stands while it is not undone itself.
        """
        opened = {e.event.batch_id: (e, e.event) for e in self.entries if isinstance(e.event, BatchOpened)}
        closed = {e.event.batch_id for e in self.entries if isinstance(e.event, BatchClosed)}
        undone_by: dict[str, str] = {}
        for batch_id, (_, event) in reversed(opened.items()):
            if event.undoes is not None and batch_id not in undone_by:
                undone_by[event.undoes] = batch_id
        return {
            batch_id: Batch(
                batch_id,
                entry,
                event.kind,
                event.reason,
                event.undoes,
                batch_id in closed,
                undone_by.get(batch_id),
            )
            for batch_id, (entry, event) in opened.items()
        }
