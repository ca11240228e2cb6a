"""Why a memory is remembered: the chain from what stands back to the user's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..domain.errors import NotFoundError
from ..domain.events import Endorsed, Judged, Proposed, RolledBack
from ..domain.history import Version, struck_versions
from ..domain.ledger import Batch, Ledger
from ..domain.memory import Memory
from ..domain.owner import Owner
from ..domain.ports import EventStore
from ..domain.stream import RecordedEvent
from ..projections.ports import Views


@dataclass(frozen=True, slots=True)
class Link:
    """One version with everything that let it in.

    `proposal` is the decision it came from, `judged` the judgement of its turn; both are None for
    what people wrote directly. `undone_by` is the batch that struck the version, None while it is in
    force.
    """

    version: Version
    proposal: RecordedEvent | None
    judged: RecordedEvent | None
    undone_by: str | None


@dataclass(frozen=True, slots=True)
class Why:
    """Why one memory stands, or does not.

    `links` are the versions asked for, newest first. `words` holds the retained text of every cited
    turn by its id. `confirmations`, `refusals` (proposals against it that were turned down) and
    `verdicts` (what people said) are in order. `replaces` are memories that it superseded. Of an erased
    memory nothing but these and its batches is told.
    """

    memory: Memory
    links: Sequence[Link]
    confirmations: Sequence[tuple[RecordedEvent, Proposed]]
    held: Sequence[tuple[RecordedEvent, Proposed]]
    refusals: Sequence[tuple[RecordedEvent, Proposed]]
    verdicts: Sequence[tuple[RecordedEvent, Endorsed]]
    words: dict[str, str]
    replaces: Sequence[str]
    batches: Sequence[Batch]


def explain(store: EventStore, views: Views, owner: Owner, memory: Memory, number: int | None = None) -> Why:
    """Put the chain together for one version (`number`), or for all of them.

    Read are the memory's turns and the owner's ledger, and not the owner's other memories.

    Raises:
        NotFoundError: the memory has no version of that number.
    """
    versions = [v for v in reversed(memory.versions) if number is None or v.number == number]
    if number is not None and not versions:
        raise NotFoundError("version", f"{memory.memory_id} v{number}", "`memstrata history` shows them")
    struck_by = _struck_by(memory)
    ledger_id = store.ledger_id(owner)
    ledger = Ledger(ledger_id, tuple(store.read_stream(owner, ledger_id)))
    superseded = [listed.memory for listed in views.memories(owner, status="superseded")]
    batch_ids = set(struck_by.values()) | {entry.event.correlation_id for entry in memory.entries}
    replaces = [row.memory_id for row in superseded if row.successor == memory.memory_id]
    batches = [batch for batch in ledger.batches.values() if batch.batch_id in batch_ids]
    if memory.erased:
        return Why(memory, [], [], [], [], [], {}, replaces, batches)
    proposals = [(e, e.event) for e in memory.entries if isinstance(e.event, Proposed)]
    turns = _turns(store, owner, memory)
    links = [
        Link(
            version,
            _proposal_of(version, proposals),
            turns.get(version.statement.provenance.turn_id or ""),
            struck_by.get(version.entry.stream_version),
        )
        for version in versions
    ]
    return Why(
        memory=memory,
        links=links,
        confirmations=memory.confirmations,
        held=memory.hints,
        refusals=[(e, p) for e, p in memory.proposals if p.outcome == "refused"],
        verdicts=memory.verdicts,
        words={
            turn_id: entry.event.text
            for turn_id, entry in turns.items()
            if isinstance(entry.event, Judged) and entry.event.text is not None
        },
        replaces=replaces,
        batches=batches,
    )


def _proposal_of(
    version: Version, proposals: Sequence[tuple[RecordedEvent, Proposed]]
) -> RecordedEvent | None:
    """The accepted proposal that directly led to the version, None when a person wrote it."""
    same = [
        entry
        for entry, event in proposals
        if event.outcome == "accepted"
        and event.correlation_id == version.entry.event.correlation_id
        and entry.stream_version < version.entry.stream_version
    ]
    return same[-1] if same else None


def _turns(store: EventStore, owner: Owner, memory: Memory) -> dict[str, RecordedEvent]:
    """The last judgement in force of every turn that the memory cites."""
    cited = [v.statement.provenance.turn_id for v in memory.versions if v.statement.provenance.turn_id]
    cited += [p.context.turn_id for _, p in memory.proposals]
    found = {}
    for turn_id, entries in store.read_streams(owner, list(dict.fromkeys(cited))).items():
        struck = struck_versions(entries)
        judged = [e for e in entries if isinstance(e.event, Judged)]
        standing = [e for e in judged if e.stream_version not in struck]
        if judged:
            found[turn_id] = (standing or judged)[-1]
    return found


def _struck_by(memory: Memory) -> dict[int, str]:
    """The last batch in force that names each struck event."""
    return {
        version: entry.event.batch_id
        for entry in memory.in_force()
        if isinstance(entry.event, RolledBack)
        for version in entry.event.names
    }
