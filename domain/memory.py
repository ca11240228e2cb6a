"""One memory, folded from its stream. It decides and never saves."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Literal

from .errors import RefusedError
from .events import Created, Endorsed, Erased, Proposed, RolledBack, Updated
from .evidence import Evidence
from .history import CHAIN_EVENTS, Chain, ChainFold, Closing, Period, Version, standing, struck_versions
from .slot import fold_value
from .statement import Statement
from .stream import RecordedEvent
from .values import Source

Status = Literal[
    "active", "held", "ended", "retracted", "superseded", "rejected", "withdrawn", "erased", "none"
]
"""`withdrawn`: every version was rolled back. `none`: only proposals, so no memory at all."""

PLACEHOLDERS = frozenset(
    fold_value(text)
    for text in (
        *("no data", "none", "n/a", "na", "null", "nil", "unknown", "empty", "undefined"),
        *("tbd", "nothing", "not available", "no information"),
        *("无", "没有", "暂无", "无数据", "没有数据", "暂无数据", "未知", "空", "不详", "暂无信息"),
    )
)
"""What models write when they have nothing to say. Such content never becomes a version."""

_STRENGTH: dict[Source, int] = {
    "other": 0,
    "single_task_inference": 1,
    "repeated_behaviour": 2,
    "explicit_user_statement": 3,
    "attestation": 3,
}


@dataclass(frozen=True)
class Memory:
    """The events of one memory in order, and what they come to.

    Immutable; everything is derived from `entries`, and computed when first asked for.
    """

    memory_id: str
    entries: tuple[RecordedEvent, ...] = ()

    def evolve(self, entries: Iterable[RecordedEvent]) -> Memory:
        """The memory after further events. It never refuses: they already happened."""
        further = tuple(entries)
        after = Memory(self.memory_id, (*self.entries, *further))
        if not any(isinstance(entry.event, RolledBack | Erased) for entry in further):
            after._go_on_from(self, further)
        return after

    def _go_on_from(self, before: Memory, further: Sequence[RecordedEvent]) -> None:
        """Take over what is known of the memory before: none of the further events changes what it was."""
        known, mine = vars(before), vars(self)
        mine.update((name, known[name]) for name in ("struck", "erased") if name in known)
        if "_fold" not in known:
            return
        news = [entry for entry in further if isinstance(entry.event, CHAIN_EVENTS)]
        if news:
            mine["_fold"] = before._fold.branch()
            for entry in news:
                self._fold.add(entry, in_force=entry.stream_version not in self.struck)
        else:
            mine.update((name, known[name]) for name in ("_fold", "_chain") if name in known)

    def as_of(self, position: int) -> Memory:
        """The memory as it was known once the position was recorded."""
        if not self.entries or self.entries[-1].position <= position:
            return self
        return Memory(self.memory_id, tuple(e for e in self.entries if e.position <= position))

    # --- what the events come to -----------------------------------------------------------------

    @property
    def stream_version(self) -> int:
        """How many events the stream holds; 0 for an empty one."""
        return self.entries[-1].stream_version if self.entries else 0

    @cached_property
    def struck(self) -> frozenset[int]:
        """Stream versions of the events that are undone."""
        return struck_versions(self.entries)

    @cached_property
    def erased(self) -> bool:
        """Whether a tombstone stands in its place: nothing of it holds, and nothing can be added to it."""
        return any(isinstance(entry.event, Erased) for entry in self.entries)

    @cached_property
    def _fold(self) -> ChainFold:
        fold = ChainFold()
        for entry in self.entries:
            fold.add(entry, in_force=entry.stream_version not in self.struck)
        return fold

    def going_on(self) -> ChainFold:
        """The fold of its versions so far, to go on with; the memory stays as it is."""
        return self._fold.branch()

    @cached_property
    def _chain(self) -> Chain:
        chain = self._fold.chain()
        return replace(chain, current=None, closing=None, periods=()) if self.erased else chain

    @property
    def versions(self) -> tuple[Version, ...]:
        """Every version, struck ones too, by number from 1."""
        return self._chain.versions

    @property
    def periods(self) -> tuple[Period, ...]:
        """When which version holds in the world; disjoint, ascending."""
        return self._chain.periods

    @property
    def current(self) -> Version | None:
        """The version that stands; None when there is none, or it ended."""
        return self._chain.current

    @property
    def closing(self) -> Closing | None:
        """How the memory closed; None while it stands."""
        return self._chain.closing

    def is_void(self, version: Version) -> bool:
        """Whether a later retraction leaves the version, in force or not, no time to hold at."""
        return version.place < self._chain.void_before

    @cached_property
    def latest(self) -> Version | None:
        """The version that stands, else the one in force that stood last; None when there is none."""
        if self.current is not None or self.erased:
            return self.current
        stood = [v for v in self.versions if v.in_force and not v.late]
        return max(stood, key=lambda v: (v.place, v.number), default=None)

    @cached_property
    def said(self) -> tuple[RecordedEvent, Statement] | None:
        """What the memory is about, and the event that says it: its latest statement, else its last hint's.

        None for a memory that was erased, and for one that never said anything.
        """
        if self.erased:
            return None
        if self.latest is not None:
            return self.latest.entry, self.latest.statement
        for entry, proposal in reversed(self.hints):
            if proposal.statement is not None:
                return entry, proposal.statement
        return (self.versions[-1].entry, self.versions[-1].statement) if self.versions else None

    def in_force(self) -> Iterable[RecordedEvent]:
        """The events that are not undone, in order."""
        struck = self.struck
        return (
            [entry for entry in self.entries if entry.stream_version not in struck]
            if struck
            else self.entries
        )

    def holding(self, moment: datetime) -> Version | None:
        """The version that holds in the world at the moment; None when none does."""
        for period in self.periods:
            if period.holds_at(moment):
                return self.versions[period.version - 1]
        return None

    @cached_property
    def proposals(self) -> tuple[tuple[RecordedEvent, Proposed], ...]:
        """The proposals in force, in order."""
        return tuple([(e, e.event) for e in self.in_force() if isinstance(e.event, Proposed)])

    @cached_property
    def hints(self) -> tuple[tuple[RecordedEvent, Proposed], ...]:
        """The held proposals in force, in order."""
        return tuple([(e, p) for e, p in self.proposals if p.outcome == "held"])

    @property
    def occasions(self) -> frozenset[str]:
        """The tasks (else sessions) of all hints; one counts once."""
        return frozenset(p.context.occasion for _, p in self.hints)

    @cached_property
    def pending(self) -> tuple[tuple[RecordedEvent, Proposed], ...]:
        """Held proposals that neither a version nor a person has settled since."""
        if self.erased:
            return ()
        settled = max(
            [
                entry.stream_version
                for entry in self.in_force()
                if isinstance(entry.event, Created | Updated)
                or (isinstance(entry.event, Endorsed) and entry.event.verdict in ("rejected", "confirmed"))
            ],
            default=0,
        )
        return tuple((e, p) for e, p in self.hints if e.stream_version > settled)

    @property
    def confirmations(self) -> tuple[tuple[RecordedEvent, Proposed], ...]:
        """Repetitions in force of what the memory says, in order."""
        return tuple([(e, p) for e, p in self.proposals if p.outcome == "confirmed"])

    @cached_property
    def verdicts(self) -> tuple[tuple[RecordedEvent, Endorsed], ...]:
        """What people said about it, in force, in order."""
        return tuple([(e, e.event) for e in self.in_force() if isinstance(e.event, Endorsed)])

    @property
    def pinned(self) -> bool:
        """Whether a person pinned it and nobody unpinned it since."""
        pins = [v.verdict for _, v in self.verdicts if v.verdict in ("pinned", "unpinned")]
        return bool(pins) and pins[-1] == "pinned"

    @property
    def status(self) -> Status:
        """Where the memory stands, whatever the time: dated ends are applied by the reader."""
        if self.erased:
            return "erased"
        if any(version.in_force for version in self.versions):
            return standing(self.current, self.closing)
        if any(v.verdict == "rejected" for _, v in self.verdicts):
            return "rejected"
        if self.hints:
            return "held"
        return "withdrawn" if self.versions else "none"

    # --- decisions -------------------------------------------------------------------------------

    def check_create(self, statement: Statement) -> None:
        """Refuse to let a version become active.

        A version whose date was past when the new one was said stands no more, recorded end or not.

        Raises:
            RefusedError: `already_active` (it can only be updated) or `empty_content`.
        """
        said_at = statement.provenance.said_at
        if self.current is not None and not self.current.statement.end.is_over(said_at):
            raise RefusedError("already_active", "a version stands; it can only be updated")
        _refuse_placeholder(statement)

    def check_update(self, kind: str, statement: Statement) -> None:
        """Refuse an update that would change nothing, lose something or touch something else.

        Raises:
            RefusedError: `not_active`, `empty_content`, `unrelated_update`, `no_change`,
                `evidence_restates_stored`, `weaker_evidence` or `not_in_order`.
        """
        present = self.latest
        if present is None or (self.current is None and kind not in ("late", "correct")):
            raise RefusedError("not_active", "there is no version that could be updated")
        _refuse_placeholder(statement)
        now = present.statement
        if (fold_value(statement.subject), statement.attribute) != (fold_value(now.subject), now.attribute):
            raise RefusedError("unrelated_update", "the update is about another subject or attribute")
        # When it began is news only for a correction; a later start of the same is a repetition.
        same_start = now if kind == "correct" else now.model_copy(update={"valid_from": statement.valid_from})
        if kind != "late" and statement.says_the_same(same_start):
            raise RefusedError("no_change", "it says what the memory says already")
        if restates(statement.evidence, now.content):
            raise RefusedError("evidence_restates_stored", "the words given only repeat what is stored")
        if kind in ("replace", "correct", "rescope") and _weaker(statement, now):
            raise RefusedError("weaker_evidence", "an inference does not override what was said")
        if kind in ("replace", "rescope") and statement.valid_from < now.valid_from:
            raise RefusedError("not_in_order", "it begins before what stands; that is a late fact")

    def check_end(self, evidence: Sequence[Evidence], *, asserts_value: bool) -> Version:
        """Refuse an end that is none.

        Args:
            evidence: What the end rests on; empty for tasks, dates, processes and people.
            asserts_value: The words assert another value in place of the present one.

        Raises:
            RefusedError: `not_active`, `evidence_restates_stored` or `contradiction_needs_successor`.
        """
        if self.current is None:
            raise RefusedError("not_active", "there is no version that could end")
        if asserts_value:
            raise RefusedError(
                "contradiction_needs_successor", "a new value replaces the old one; it is no mere end"
            )
        if evidence and restates(evidence, self.current.statement.content):
            raise RefusedError("evidence_restates_stored", "the words given only repeat what is stored")
        return self.current


def restates(evidence: Sequence[Evidence], content: str) -> bool:
    """Whether the words given are, but for spelling, the content that is stored."""
    quoted = fold_value("".join(quote for item in evidence for quote in item.quotes))
    return bool(quoted) and quoted == fold_value(content)


def is_placeholder(content: str) -> bool:
    """Whether a content says nothing: empty, marks only, or one of the known placeholders."""
    folded = fold_value(content)
    return not folded or folded in PLACEHOLDERS or all(unicodedata.category(c)[0] in "SM" for c in folded)


def _refuse_placeholder(statement: Statement) -> None:
    if is_placeholder(statement.content):
        raise RefusedError("empty_content", "the content is empty or a placeholder")


def _weaker(offered: Statement, present: Statement) -> bool:
    return _STRENGTH[offered.provenance.source] < _STRENGTH[present.provenance.source]
