"""Every version reads the histories that were recorded before it, and folds them to the same rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from contracts.event_store import ManualClock

from memstrata import Memstrata
from memstrata.adapters.storage import open_store
from memstrata.adapters.storage.keyed import Pepper
from memstrata.adapters.storage.views import SqlViews, ViewProjector
from memstrata.domain.events import EVENT_TYPES, Endorsed, Expired, Proposed, Updated
from memstrata.domain.memory import Memory
from memstrata.domain.policy import Policy
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent, RecordedEvent
from memstrata.domain.values import Outcome, UpdateKind
from memstrata.projections.decisions import decision_row, turn_row
from memstrata.projections.fold import Changes, Past, fold
from memstrata.projections.versions import version_rows

from .history import (
    POLICIES,
    History,
    all_histories,
    answer,
    as_recorded,
    check_digests,
    create_store,
    load,
    plain,
    rows_of,
    stored_lines,
)
from .record import AlreadyRecordedError, main, record
from .stories import SHAPING

ALL = all_histories()

each_history = pytest.mark.parametrize("history", ALL, ids=lambda history: history.name)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Memstrata]]:
    """A real store with each history in it, by name; opening one rebuilds its projections."""
    stores: dict[str, Memstrata] = {}
    for history in ALL:
        path = tmp_path_factory.mktemp(history.name) / "store.db"
        load(history, path, ManualClock())
        stores[history.name] = Memstrata.open(str(path), clock=ManualClock())
    yield stores
    for memory in stores.values():
        memory.close()


def assert_same(actual: Any, recorded: Any) -> None:
    assert as_recorded(actual, recorded) == recorded


class TestEachHistory:
    @each_history
    def test_its_digests_are_those_of_its_events(self, history: History) -> None:
        assert check_digests(history) is None

    @each_history
    def test_it_verifies_in_a_store_and_is_stored_as_it_was(
        self, history: History, opened: dict[str, Memstrata]
    ) -> None:
        memory = opened[history.name]

        assert [report.problem for report in memory.verify()] == [None]
        assert [json.loads(line) for line in stored_lines(memory.store)] == history.events

    @each_history
    def test_it_is_rebuilt_to_the_rows_of_then(self, history: History, opened: dict[str, Memstrata]) -> None:
        memory = opened[history.name]

        for owner in history.owners:
            assert_same(rows_of(memory.views, owner), history.projections[str(owner)])
        assert memory.rebuild(check=True).same

    @each_history
    def test_appended_event_by_event_it_gives_the_rows_of_then(
        self, history: History, tmp_path: Path
    ) -> None:
        path = tmp_path / "store.db"
        create_store(path, history.store["pepper"], ManualClock())
        with open_store(str(path), clock=ManualClock(), projector=ViewProjector(SHAPING)) as store:
            owner_of = {store.owner_ref(owner): owner for owner in history.owners}
            for entry in history.decoded():
                new = NewEvent(entry.stream_id, entry.stream_version, entry.event)
                store.append(Append(owner_of[entry.owner_ref], [new], None, clock=entry.recorded_at))

            for owner in history.owners:
                assert_same(rows_of(SqlViews(store, SHAPING), owner), history.projections[str(owner)])

    @each_history
    def test_it_is_folded_in_memory_to_the_rows_of_then(self, history: History) -> None:
        by_owner: dict[bytes, list[RecordedEvent]] = {}
        for entry in history.decoded():
            by_owner.setdefault(entry.owner_ref, []).append(entry)

        pepper = Pepper(bytes.fromhex(history.store["pepper"]))
        for owner in history.owners:
            recorded = history.projections[str(owner)]
            for name, rows in folded_rows(by_owner[pepper.owner_ref(owner)]).items():
                assert_same(rows, recorded[name])

    @each_history
    def test_it_answers_as_it_did(self, history: History, opened: dict[str, Memstrata]) -> None:
        memory = opened[history.name]

        answered = [{**asked, "answer": answer(memory, asked)} for asked in history.answers]

        assert_same(answered, history.answers)

    @each_history
    def test_its_policies_are_read(self, history: History) -> None:
        for fingerprint in history.store["policies"]:
            document = (POLICIES / f"{fingerprint}.json").read_text("utf-8")

            assert Policy.from_document(json.loads(document)).fingerprint == fingerprint


def folded_rows(entries: list[RecordedEvent]) -> dict[str, Any]:
    """Rows of one owner's events, folded in one piece without any store."""

    def nothing_before(stream_id: str, version: int) -> Past:
        raise AssertionError(f"{stream_id} is folded whole, its version {version} has no past elsewhere")

    def nothing_known(memory_id: str) -> list[Any]:
        raise AssertionError(f"{memory_id} is folded whole, no row of it is stored")

    changes: Changes = fold(entries, nothing_before, nothing_known, SHAPING)
    assert [changes.gone, changes.closed, changes.strikes, changes.batches_closed] == [[], [], [], []]
    first = {row.memory_id: (row.created_pos, row.memory_id) for row in changes.memories}
    streams: dict[str, list[RecordedEvent]] = {}
    for entry in entries:
        streams.setdefault(entry.stream_id, []).append(entry)
    erased = {row.memory_id for row in changes.memories if row.status == "erased"}
    struck_by = {keys.position: keys.struck_by for keys in changes.decisions}
    versions = [row for m in first for row in version_rows(Memory(m, tuple(streams[m])))]
    decisions = [
        decision_row(entry, struck_by[entry.position], erased=entry.stream_id in erased)
        for entry in entries
        if entry.position in struck_by
    ]
    turns = [row for stream in streams.values() if (row := turn_row(stream)) is not None]
    return {
        "memories": plain(sorted(changes.memories, key=lambda row: first[row.memory_id])),
        "versions": plain(sorted(versions, key=lambda row: (*first[row.memory_id], row.number))),
        "periods": plain(
            sorted(changes.periods, key=lambda row: (*first[row.memory_id], row.known_from, row.valid_from))
        ),
        "decisions": plain(decisions),
        "turns": plain(sorted(turns, key=lambda row: row.position)),
        "batches": plain(sorted(changes.batches, key=lambda row: row.position)),
    }


class TestAllHistories:
    def test_there_are_ten_or_more(self) -> None:
        assert len(ALL) >= 10

    def test_every_event_type_and_shape_occurs(self) -> None:
        shapes = {(line["topic"], line["schema_version"]) for history in ALL for line in history.events}

        released = {
            (topic, v) for topic, cls in EVENT_TYPES.items() for v in range(1, cls.SCHEMA_VERSION + 1)
        }
        assert shapes == released

    def test_every_kind_of_update_end_outcome_and_verdict_occurs(self) -> None:
        seen: Counter[str] = Counter()
        for event in (entry.event for history in ALL for entry in history.decoded()):
            match event:
                case (
                    Updated(kind=word) | Expired(kind=word) | Proposed(outcome=word) | Endorsed(verdict=word)
                ):
                    seen[word] += 1
                case _:
                    pass

        verdicts = get_args(Endorsed.model_fields["verdict"].annotation)
        ends = get_args(Expired.model_fields["kind"].annotation)
        assert set(seen) == {*get_args(UpdateKind), *ends, *get_args(Outcome), *verdicts}

    def test_one_of_them_has_two_owners(self) -> None:
        assert max(len(history.owners) for history in ALL) == 2

    def test_every_projection_has_rows_and_every_question_is_asked_on_both_axes(self) -> None:
        for name in ("memories", "versions", "periods", "decisions", "turns", "batches"):
            assert any(rows[name] for history in ALL for rows in history.projections.values())
        asked = [question for history in ALL for question in history.answers]
        assert {question["ask"] for question in asked} == {"memories", "history", "periods", "why"}
        assert any(question.get("as_of") and question.get("valid_at") for question in asked)


class TestRecording:
    def test_a_recorded_history_is_never_written_again(self, tmp_path: Path) -> None:
        name = ALL[0].name
        folder = record(name, tmp_path / "histories", tmp_path / "policies")
        before = {path: path.read_bytes() for path in folder.iterdir()}

        with pytest.raises(AlreadyRecordedError, match=name):
            record(name, tmp_path / "histories", tmp_path / "policies")

        assert {path: path.read_bytes() for path in folder.iterdir()} == before

    def test_the_command_says_so(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([ALL[0].name]) == 1
        assert "written once" in capsys.readouterr().err

    def test_the_same_story_gives_the_same_log(self, tmp_path: Path) -> None:
        name = ALL[0].name

        first, second = (record(name, tmp_path / one, tmp_path / "policies") for one in ("a", "b"))

        files = sorted(path.name for path in first.iterdir())
        assert files == ["answers.json", "events.jsonl", "projections.json", "store.json"]
        assert [(first / f).read_bytes() for f in files] == [(second / f).read_bytes() for f in files]

    def test_what_was_changed_is_found(self, tmp_path: Path) -> None:
        folder = record(ALL[0].name, tmp_path / "histories", tmp_path / "policies")
        events = folder / "events.jsonl"
        events.write_text(events.read_text("utf-8").replace("Viborg", "Aalborg", 1), "utf-8")

        assert check_digests(History(folder)) == f"{ALL[0].name}: event 1"
