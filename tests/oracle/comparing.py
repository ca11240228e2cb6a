"""Compares, after each deed: what is stored, what a fold of all events gives, and what the oracle says.

Only streams with new events are compared in full. That suffices: the rows of every other stream must be,
byte for byte, what they were when they were last compared; the file itself is read for that, past the
product. So after each deed every stored row is known to be the rebuilt one and the oracle's.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memstrata import Memstrata
from memstrata.adapters.storage.views.tables import view_tables
from memstrata.domain.memory import Memory
from memstrata.domain.owner import Owner
from memstrata.domain.statement import Statement
from memstrata.domain.stream import RecordedEvent
from memstrata.projections.fold import Changes, Past, fold
from memstrata.projections.ports import DecisionQuery
from memstrata.projections.rows import DecisionKeys, DecisionRow, PeriodRow

from .oracle import Story, Stream, occasions, slots

IDENTITY = {"memory": "memory_id", "memory_period": "memory_id", "decision": "position", "batch": "batch_id"}
"""By table, the column that says which stream a row is about."""

Rows = dict[str, frozenset[tuple[Any, ...]]]

_columns = {table.name: [column.name for column in table.columns] for table in view_tables(1).all}


class Comparison:
    """Keeps the oracle's stories up to date and holds everything else against them."""

    def __init__(self, stories: dict[str, Story]) -> None:
        self.stories = stories
        self.position = 0
        self.rows: Rows = {}
        self.one_registry = True
        """Whether no other attribute registry was ever in force."""
        self._stream_at: dict[int, str] = {}
        self._last_recorded: datetime | None = None

    def registry_changed(self) -> None:
        """Other slots from now on: memories that fall into one are a person's business."""
        self.one_registry = False
        self.rows = {}

    def stored(self, path: Path) -> Rows:
        """Every row of the projections, as it lies in the file."""
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return {name: frozenset(connection.execute(f"SELECT * FROM {name}")) for name in _columns}

    def check(self, memory: Memstrata, path: Path, step: int) -> None:
        """Read what is new and compare. `step` chooses the moments that are asked for."""
        owners = {memory.store.owner_ref(Owner.parse(name)): name for name in self.stories}
        touched = self._read_on(memory, owners)
        self._check_stored(path, owners, touched)
        for name, streams in touched.items():
            owner, story = Owner.parse(name), self.stories[name]
            for stream_id in streams:
                self._check_stream(memory, owner, story, stream_id)
            self._check_owner(memory, owner, story, step)
        reports = memory.verify()
        assert [report.problem for report in reports] == [None]
        assert reports[0].events == self.position

    # --- the log ---------------------------------------------------------------------------------

    def _read_on(self, memory: Memstrata, owners: dict[bytes, str]) -> dict[str, set[str]]:
        """Tell the stories on; by owner, the streams that have more to say."""
        touched: dict[str, set[str]] = {}
        for entry in memory.store.read_log(after_position=self.position, limit=10_000):
            assert entry.position == self.position + 1, "a position is missing"
            assert self._last_recorded is None or entry.recorded_at >= self._last_recorded
            self.position, self._last_recorded = entry.position, entry.recorded_at
            self._stream_at[entry.position] = entry.stream_id
            name = owners[entry.owner_ref]
            touched.setdefault(name, set()).update(self.stories[name].tell([entry]))
        assert len(touched) <= 1, "one deed wrote into two owners' streams"
        return touched

    def _check_stored(self, path: Path, owners: dict[bytes, str], touched: dict[str, set[str]]) -> None:
        """Nothing changed but the rows of the streams that have new events."""
        before, self.rows = self.rows, self.stored(path)
        if not before:
            return
        for table, now in self.rows.items():
            names = _columns[table]
            of, identity = names.index("owner_ref"), names.index(IDENTITY[table])
            for row in now ^ before[table]:
                name = owners[row[of]]
                about, known = row[identity], touched.get(name, set())
                if table == "decision":
                    about = self._stream_at[about]
                assert about in known or (table == "batch" and about in self.stories[name].opened), (
                    f"a row of {table} changed although nothing happened to it",
                    row,
                )

    # --- one stream ------------------------------------------------------------------------------

    def _check_stream(self, memory: Memstrata, owner: Owner, story: Story, stream_id: str) -> None:
        stream = story.streams[stream_id]
        entries: list[RecordedEvent] = list(stream.entries)  # type: ignore[arg-type]
        rebuilt = fold(entries, _nothing_before, lambda _: (), memory._shaping)
        if stream.is_memory:
            self._check_memory(memory, owner, stream_id, stream, rebuilt)
        elif stream_id in {entry.stream_id for entry, _ in story.judged(stream_id)}:
            self._check_turn(memory, owner, stream_id, story)
            self._check_decisions(memory, owner, stream_id, stream, rebuilt)

    def _check_memory(
        self, memory: Memstrata, owner: Owner, memory_id: str, stream: Stream, rebuilt: Changes
    ) -> None:
        views = memory.views
        live = views.memory(owner, memory_id)
        assert [live] == (rebuilt.memories or [None])
        versions = list(views.versions(owner, memory_id))
        periods = list(views.known_periods(owner, memory_id))
        assert periods == sorted(rebuilt.periods, key=lambda p: (p.known_from, p.valid_from))
        self._check_decisions(memory, owner, memory_id, stream, rebuilt)

        assert [(v.number, v.in_force, v.struck_by, v.statement) for v in versions] == [
            (v.number, v.in_force, stream.struck_by(v.entry.stream_version), v.statement)
            for v in stream.versions
        ]
        for entry in stream.entries:
            _check_periods(periods, stream.until(entry.position), entry.position)
        if stream.status == "none":
            assert live is None
            return
        assert live is not None
        last, closing, confirmed = stream.last, stream.closing, stream.confirmations
        told = {
            "status": stream.status,
            "statement": stream.statement,
            "chain_version": last.number if last else 0 if stream.hints else len(stream.versions),
            "versions": len(stream.versions),
            "stream_version": len(stream.entries),
            "confirmations": len(confirmed),
            "confirmed_at": confirmed[-1].said_at if confirmed else None,
            "hints": len(stream.hints),
            "occasions": len(occasions(stream.hints)),
            "pinned": stream.pinned,
            "closing": closing.kind if closing else None,
            "closed_at": closing.at if closing else None,
            "closing_reason": closing.reason if closing else None,
            "successor": closing.successor if closing else None,
            "created_pos": stream.entries[0].position,
            "updated_pos": stream.entries[-1].position,
        }
        assert {name: getattr(live, name) for name in told} == told
        said = stream.statement
        if said is not None:
            assert (live.content, live.value, live.polarity) == (said.content, said.value, said.polarity)
            assert (live.scope_kind, live.scope_anchor) == (said.scope.kind, said.scope.anchor)
            assert (live.valid_from, live.ends_at) == (said.valid_from, said.end.at)
            assert (live.confidence, live.turn_id) == (said.confidence, said.provenance.turn_id)
            assert live.slot_key == memory._shaping.slot_key(said)

    def _check_turn(self, memory: Memstrata, owner: Owner, turn_id: str, story: Story) -> None:
        live = memory.views.turn(owner, turn_id)
        judged = story.judged(turn_id)
        entry, event = judged[-1]
        assert live is not None
        assert (live.text, live.revisions, live.position) == (event.text, len(judged) - 1, entry.position)
        assert live.in_force == story.stands(turn_id, entry.stream_version)
        standing = [entry for entry, _ in judged if story.stands(turn_id, entry.stream_version)]
        assert len(standing) <= 1, "two judgements of one turn are in force"

    def _check_decisions(
        self, memory: Memstrata, owner: Owner, stream_id: str, stream: Stream, rebuilt: Changes
    ) -> None:
        found = [
            *memory.views.decisions(owner, DecisionQuery(memory_id=stream_id)),
            *memory.views.decisions(owner, DecisionQuery(turn_id=stream_id)),
        ]
        live = sorted({d.position: d for d in found if d.stream_id == stream_id}.items())
        assert [_keys(decision) for _, decision in live] == rebuilt.decisions
        for _, decision in live:
            struck_by = stream.struck_by(decision.stream_version)
            assert (decision.in_force, decision.struck_by) == (struck_by is None, struck_by)

    # --- the owner -------------------------------------------------------------------------------

    def _check_owner(self, memory: Memstrata, owner: Owner, story: Story, step: int) -> None:
        memories = story.memories
        state = memory._states.load(owner)
        standing = {memory_id: s.current.statement for memory_id, s in memories.items() if s.current}
        assert {m.memory_id: m.current and m.current.statement for m in state.active()} == standing
        assert {m.memory_id: m.status for m in state.memories.values()} == {
            memory_id: stream.status for memory_id, stream in memories.items()
        }
        assert {task: event.change for task, event in state.ledger.tasks.items()} == story.tasks
        processes = {p: (e.stage, e.final) for p, e in state.ledger.processes.items()}
        assert processes == story.processes
        self._check_batches(memory, owner, story)
        self._check_asked(memory, owner, memories, step)
        threshold = memory.policy.rules.repetition.threshold
        assert story.unsupported(threshold) == []
        if self.one_registry:  # else what is about the same thing depends on when it was asked
            assert story.forsaken(lambda proposal: memory._undo._redecide(proposal, state).outcome) == []
            self._check_slots(memory, standing)

    def _check_batches(self, memory: Memstrata, owner: Owner, story: Story) -> None:
        batches = {batch.batch_id: batch for batch in memory.batches(owner)}
        rows = {row.batch_id: row for row in memory.views.batches(owner)}
        assert list(batches) == list(rows) == list(story.opened)
        for batch_id, opened in story.opened.items():
            assert batches[batch_id].undone_by == story.undone_by(batch_id)
            row = rows[batch_id]
            assert (row.kind, row.undoes) == (opened.kind, opened.undoes)
            assert row.written == story.written[batch_id]
            assert row.closed_pos is not None

    def _check_asked(self, memory: Memstrata, owner: Owner, memories: dict[str, Stream], step: int) -> None:
        """Ask for one moment as of now and as of some position, as a reader would."""
        for as_of in (None, self.position * (step % 7) // 7):
            moment = datetime.fromtimestamp(0, tz=self._now().tzinfo)
            moment = self._now() + timedelta(minutes=step * 7 % 23 - 16)
            listed = memory.views.memories(owner, valid_at=moment, as_of=as_of)
            expected = []
            for memory_id, stream in memories.items():
                known = stream if as_of is None else stream.until(as_of)
                version = known.holding(moment)
                if version is not None:
                    expected.append((memory_id, version.number, version.statement))
            assert [
                (one.memory_id, one.period.number if one.period else 0, one.statement) for one in listed
            ] == expected

    def _now(self) -> datetime:
        assert self._last_recorded is not None
        return self._last_recorded

    def _check_slots(self, memory: Memstrata, standing: dict[str, Statement]) -> None:
        def single(attribute: str) -> bool:
            return memory.policy.registry.get(attribute).cardinality == "single"

        assert [ids for ids in slots(standing, single).values() if len(ids) > 1] == []


def _check_periods(rows: list[PeriodRow], then: Stream, position: int) -> None:
    known = [
        (row.number, row.valid_from, row.valid_to, row.status)
        for row in sorted(rows, key=lambda row: row.valid_from)
        if row.known_from <= position and (row.known_to is None or position < row.known_to)
    ]
    assert known == [(p.number, p.start, p.end, then.status) for p in then.periods]


def _keys(row: DecisionRow) -> DecisionKeys:
    return DecisionKeys(*(getattr(row, name) for name in DecisionKeys._fields))


def _nothing_before(stream_id: str, stream_version: int) -> Past:
    return Past(Memory(stream_id), ())
