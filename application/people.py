"""What people and tasks do to memories: confirm, reject, correct, forget, finish."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ..domain.decision import SupersedeMemory
from ..domain.draft import Draft, Header
from ..domain.errors import MemoryStateError, NotFoundError
from ..domain.events import (
    BatchClosed,
    BatchOpened,
    Created,
    Endorsed,
    Expired,
    TaskChanged,
    Updated,
)
from ..domain.evidence import Evidence
from ..domain.memory import Memory
from ..domain.owner import Owner
from ..domain.owner_state import OwnerState
from ..domain.ports import Clock
from ..domain.statement import Provenance, Statement
from ..domain.zone import fixed_zone_name
from .owners import Writer
from .reports import BatchReport

ValueOf = Callable[[str, str], str | None]
"""Reads the value of an attribute out of a sentence; None when it finds none."""


class People:
    """Decisions that people make. Each is an event with the person as its actor."""

    def __init__(self, writer: Writer, clock: Clock, policy: str, value_of: ValueOf) -> None:
        self._writer, self._clock, self._policy, self._value_of = writer, clock, policy, value_of

    def confirm(self, owner: Owner, memory_id: str, *, actor: str, note: str) -> BatchReport:
        """A person says that a memory is right: a held one becomes active, an active one gains weight.

        Raises:
            NotFoundError: no such memory.
            MemoryStateError: it is neither active nor held.
        """

        def act(draft: Draft, memory: Memory, header: Header) -> None:
            pending = memory.pending
            if memory.current is None and memory.status != "held":
                raise MemoryStateError(
                    memory_id, f"is {memory.status}", "only held and active ones are confirmed"
                )
            endorsed = draft.add(memory_id, Endorsed(**header.fields(), verdict="confirmed", note=note))
            offered = next((p.statement for _, p in reversed(pending) if p.statement is not None), None)
            if offered is None:
                return
            statement = offered.model_copy(update={"certainty": "certain"})
            legs = (*(entry.ref for entry, _ in pending), endorsed)
            said: Created | Updated
            if memory.current is None:
                said = Created(**header.fields(), statement=statement, caused_by=legs)
            else:
                said = Updated(**header.fields(), kind="replace", statement=statement, caused_by=legs)
            _take_slot(draft, memory_id, said, header)

        return self._on_memory(owner, memory_id, actor, act)

    def reject(self, owner: Owner, memory_id: str, *, actor: str, note: str) -> BatchReport:
        """A person turns a held memory down. It is kept as refused and never promoted by itself.

        Raises:
            MemoryStateError: nothing of it is held.
        """

        def act(draft: Draft, memory: Memory, header: Header) -> None:
            if not memory.pending:
                raise MemoryStateError(memory_id, f"is {memory.status}, not held", "use `memstrata forget`")
            draft.add(memory_id, Endorsed(**header.fields(), verdict="rejected", note=note))

        return self._on_memory(owner, memory_id, actor, act)

    def pin(self, owner: Owner, memory_id: str, *, actor: str, pinned: bool) -> BatchReport:
        """A person keeps a memory in front, or no longer."""

        def act(draft: Draft, memory: Memory, header: Header) -> None:
            if memory.pinned == pinned:
                return
            verdict = "pinned" if pinned else "unpinned"
            draft.add(memory_id, Endorsed(**header.fields(), verdict=verdict))

        return self._on_memory(owner, memory_id, actor, act)

    def correct(self, owner: Owner, memory_id: str, content: str, *, actor: str) -> BatchReport:
        """A person says what is right: it was never as remembered, and the correction takes its place.

        Raises:
            MemoryStateError: the memory is not active.
            RefusedError: the content is empty, or says what the memory says already.
        """

        def act(draft: Draft, memory: Memory, header: Header) -> None:
            if memory.current is None:
                raise MemoryStateError(memory_id, f"is {memory.status}", "only active ones can be corrected")
            statement = self._corrected(memory.current.statement, content, header)
            memory.check_update("correct", statement)
            number = memory.current.number
            said = Updated(**header.fields(), kind="correct", of=number, statement=statement)
            _take_slot(draft, memory_id, said, header)

        return self._on_memory(owner, memory_id, actor, act)

    def forget(self, owner: Owner, memory_id: str, *, actor: str, note: str) -> BatchReport:
        """A person ends a memory from now on; its history stays readable.

        Raises:
            MemoryStateError: the memory is not active.
        """

        def act(draft: Draft, memory: Memory, header: Header) -> None:
            if memory.current is None:
                raise MemoryStateError(memory_id, f"is {memory.status}", "only active ones can be forgotten")
            reason = "forgotten_by_person"
            draft.add(
                memory_id,
                Expired(
                    **header.fields(), kind="ended", at=header.said_at, reason=reason, quote=note or None
                ),
            )

        return self._on_memory(owner, memory_id, actor, act)

    def finish_task(self, owner: Owner, task_id: str, *, actor: str, at: datetime | None) -> BatchReport:
        """A task is over: what holds for it only ends with it, in one batch. Twice is once."""
        batch: list[str] = []

        def decide(draft: Draft) -> tuple[list[str], None]:
            batch.clear()
            ledger = draft.state.ledger
            if ledger.task_finished(task_id):
                return [], None
            batch_id = draft.ids.new_id()
            batch.append(batch_id)
            when = at or self._clock.now()
            header = Header(actor, batch_id, self._policy, when)
            ending = [m.memory_id for m in draft.state.active() if _ends_with_task(m, task_id)]
            draft.add(
                ledger.ledger_id,
                BatchOpened(
                    **header.fields(),
                    batch_id=batch_id,
                    kind="task_end",
                    reason="task_finished",
                    selector={"task": task_id},
                ),
            )
            finished = draft.add(
                ledger.ledger_id,
                TaskChanged(**header.fields(), task_id=task_id, change="finished", at=when),
            )
            draft.end_all(ending, header, at=when, reason="task_finished", cause=finished)
            draft.add(
                ledger.ledger_id,
                BatchClosed(**header.fields(), batch_id=batch_id, written=len(ending) + 1),
            )
            return ending, None

        ended, events = self._writer.write(owner, decide)
        return BatchReport(batch[0], len(events) - 2, ended) if events else BatchReport(None)

    def start_task(self, owner: Owner, task_id: str, *, actor: str, at: datetime | None) -> BatchReport:
        """A task begins, or begins again after it had been finished. Twice is once."""

        def decide(draft: Draft) -> tuple[None, None]:
            task = draft.state.ledger.tasks.get(task_id)
            if task is None or task.change == "finished":
                when = at or self._clock.now()
                header = Header(actor, draft.ids.new_id(), self._policy, when)
                draft.add(
                    draft.state.ledger.ledger_id,
                    TaskChanged(**header.fields(), task_id=task_id, change="started", at=when),
                )
            return None, None

        _, events = self._writer.write(owner, decide)
        return BatchReport(None, len(events))

    def _on_memory(
        self,
        owner: Owner,
        memory_id: str,
        actor: str,
        act: Callable[[Draft, Memory, Header], None],
    ) -> BatchReport:
        def decide(draft: Draft) -> tuple[None, None]:
            memory = memory_in(draft.state, memory_id)
            header = Header(actor, draft.ids.new_id(), self._policy, self._clock.now())
            act(draft, memory, header)
            return None, None

        _, events = self._writer.write(owner, decide)
        return BatchReport(None, len(events), (memory_id,))

    def _corrected(self, present: Statement, content: str, header: Header) -> Statement:
        """The statement as the person has it; the former one's period is taken over."""
        value = self._value_of(content, present.attribute)
        if value is None and present.value is not None:
            value = content
        provenance = Provenance(
            said_at=header.said_at,
            zone=fixed_zone_name(header.said_at),
            channel="person",
            extractor="person",
            rule="person.correct",
            source="attestation",
        )
        return present.model_copy(
            update={
                "content": content,
                "value": value,
                "certainty": "certain",
                "evidence": (Evidence(kind="person", quotes=(content,), attested_by=header.actor),),
                "provenance": provenance,
            }
        )


def _take_slot(draft: Draft, memory_id: str, said: Created | Updated, header: Header) -> None:
    """Add a version that a person vouches for; another memory that stands in its slot makes way."""
    version = draft.add(memory_id, said)
    others = draft.state.standing_in(draft.state.slot(said.statement))
    makes_way = [SupersedeMemory(m.memory_id, header.said_at) for m in others if m.memory_id != memory_id]
    draft.perform(makes_way, memory_id, version, header)


def memory_in(state: OwnerState, memory_id: str) -> Memory:
    """One memory of the state by its full id.

    Raises:
        NotFoundError: the owner has no such memory.
    """
    memory = state.memories.get(memory_id)
    if memory is None or memory.status == "none":
        raise NotFoundError("memory", memory_id)
    return memory


def _ends_with_task(memory: Memory, task_id: str) -> bool:
    end = memory.current.statement.end if memory.current else None
    return end is not None and end.kind == "task_finished" and end.task_id == task_id
