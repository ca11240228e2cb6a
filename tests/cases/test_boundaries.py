"""What may come in is judged without an error; what may not is refused clearly, and nothing is written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from permissions import as_somebody_whom_permissions_bind, open_folder

from memstrata import Memstrata, Selector, Turn
from memstrata.application.importing import ImportedMemory
from memstrata.domain.errors import (
    InvalidInputError,
    OwnerRequiredError,
    RefusedError,
    StoreTooNewError,
    StoreUnavailableError,
    UnknownZoneError,
)
from memstrata.projections.ports import DecisionQuery

from ..scenarios.spoken import OWNER, Conversation, ManualClock

START = datetime(2026, 10, 8, 9, tzinfo=UTC)
ZWJ_FAMILY = "👩\u200d👩\u200d👧\u200d👦"


@pytest.fixture
def talk() -> Conversation:
    return Conversation(START)


class TestJudgedNormally:
    @pytest.mark.parametrize("text", ["", " ", "\n\t\u3000", "\u200b\u200d", "…", "🙂", ZWJ_FAMILY])
    def test_a_message_that_says_nothing_is_refused_by_the_fast_reject_and_recorded(
        self, talk: Conversation, text: str
    ) -> None:
        report = talk.says(text)

        assert report.status == "new"
        assert report.judgement is not None
        assert not report.judgement.should_extract
        assert report.judgement.route == "fast_reject"
        (row,) = talk.memory.decisions(OWNER, DecisionQuery())
        assert row.kind == "judged"
        assert talk.active() == []
        talk.check()

    @pytest.mark.parametrize(
        ("text", "quote"),
        [
            (f"{ZWJ_FAMILY}🏳️\u200d🌈我住在成都👨🏽\u200d💻", "我住在成都"),
            ("👋🏽我住在成都", "我住在成都"),
            ("\u202b我住在成都\u202c", "我住在成都"),
            ("مرحبا！我住在成都。شكرا", "我住在成都"),
            ("ｅ\u0301：我住在成都。", "我住在成都"),
        ],
    )
    def test_offsets_survive_what_surrounds_the_words(
        self, talk: Conversation, text: str, quote: str
    ) -> None:
        report = talk.says(text)

        (evidence,) = report.candidates[0].candidate.evidence
        assert "".join(evidence.quotes) in quote
        assert [text[span.start : span.end] for span in evidence.spans] == list(evidence.quotes)
        assert [one.statement.value for one in talk.listed() if one.statement] == ["成都"]
        talk.check()

    @pytest.mark.parametrize(
        "text", ["أنا أعيش في القاهرة", "אני גר בתל אביב", "\u202eI live in Leeds\u202c"]
    )
    def test_right_to_left_text_is_judged(self, talk: Conversation, text: str) -> None:
        assert talk.says(text).judgement is not None
        talk.check()

    def test_a_megabyte_is_judged_and_slows_nothing_that_follows(self, talk: Conversation) -> None:
        report = talk.says("我住在成都。" + "今天开会讨论了很多事情。" * 90_000)
        assert report.status == "new"
        assert talk.active() == ["用户住在成都"]

        after = talk.says("更正一下，我住在绵阳。")

        assert after.status == "new"
        assert talk.memory.rebuild(check=True).same


def position_of(memory: Memstrata) -> int:
    return memory.store.head_position()


class TestRefusedWithNothingWritten:
    """Each error names the field and says what to do about it."""

    @pytest.mark.parametrize(
        ("turn", "field"),
        [
            ({"user": "坏字符\ud800"}, "user"),
            ({"user": "a\x00b"}, "user"),
            ({"assistant": "\udfff"}, "assistant"),
            ({"session": "s\ud800"}, "session"),
            ({"session": ""}, "session"),
            ({"session": "s" * 401}, "session"),
            ({"message_id": "\x00"}, "message_id"),
            ({"project": "a\x00"}, "project"),
            ({"context": [{"role": "tool", "text": "\x00"}]}, "context[0].text"),
            ({"recent_tasks": ["ok", "\x00"]}, "recent_tasks[1]"),
            ({"context": [{"role": "narrator", "text": "x"}]}, "context.0.role"),
            ({"at": datetime(2026, 10, 8, 9)}, "at"),  # noqa: DTZ001
            ({"at": "2026-10-08T09:00:00"}, "at"),
            ({"at": "yesterday"}, "at"),
            ({"at": START + timedelta(minutes=6)}, "at"),
            ({"mood": "cheerful"}, "mood"),
        ],
    )
    def test_a_turn_that_cannot_be_taken(self, talk: Conversation, turn: dict[str, Any], field: str) -> None:
        with pytest.raises(InvalidInputError) as caught:
            talk.memory.ingest(OWNER, [Turn(**{"user": "我住在成都", "session": "s1", **turn})])

        assert caught.value.field == field
        assert caught.value.next_step
        assert position_of(talk.memory) == 0

    @pytest.mark.parametrize(
        "zone", ["Mars/Olympus", "", "../../etc/passwd", "UTC+25:99", "Asia/Shanghai\x00"]
    )
    def test_an_unknown_zone(self, talk: Conversation, zone: str) -> None:
        with pytest.raises(InvalidInputError, match="tz"):
            talk.memory.ingest(OWNER, [Turn(user="我住在成都", session="s1", tz=zone)])
        assert position_of(talk.memory) == 0

    def test_an_unknown_zone_has_its_own_error(self, talk: Conversation) -> None:
        with pytest.raises(UnknownZoneError, match="Asia/Shanghai"):
            talk.memory.ingest(OWNER, [Turn(user="我住在成都", session="s1", tz="Asia/Nowhere")])

    def test_one_bad_turn_of_several_keeps_all_of_them_out(self, talk: Conversation) -> None:
        turns = [Turn(user="我住在成都", session="s1"), Turn(user="我养了一只猫\x00", session="s1")]
        with pytest.raises(InvalidInputError):
            talk.memory.ingest(OWNER, turns)
        assert position_of(talk.memory) == 0

    def test_unless_the_caller_lets_the_others_go_on(self, talk: Conversation) -> None:
        turns = [Turn(user="我养了一只猫\x00", session="s1"), Turn(user="我住在成都", session="s1")]

        report = talk.memory.ingest(OWNER, turns, strict=False)

        assert [turn.status for turn in report.turns] == ["failed", "new"]
        assert isinstance(report.turns[0].error, InvalidInputError)
        assert talk.active() == ["用户住在成都"]

    @pytest.mark.parametrize("owner", [None, "", "  ", "/", "acme/", "/lin", "a\x00b/c", "x" * 201, 7])
    def test_a_call_without_an_owner(self, talk: Conversation, owner: Any) -> None:
        for call in (
            lambda: talk.memory.ingest(owner, [Turn(user="我住在成都", session="s1")]),
            lambda: talk.memory.import_memories(owner, [ImportedMemory(content="用户住在成都")]),
            lambda: talk.memory.memories(owner),
            lambda: talk.memory.search(owner, "成都"),
            lambda: talk.memory.context(owner, "成都"),
            lambda: talk.memory.decisions(owner),
            lambda: list(talk.memory.log(owner)),
            lambda: talk.memory.finish_task(owner, "t1"),
        ):
            with pytest.raises(OwnerRequiredError):
                call()
        assert position_of(talk.memory) == 0

    @pytest.mark.parametrize(
        "call",
        [
            lambda m: m.memories(OWNER, valid_at=datetime(2026, 10, 8)),  # noqa: DTZ001
            lambda m: m.memories(OWNER, as_of=datetime(2026, 10, 8)),  # noqa: DTZ001
            lambda m: m.finish_task(OWNER, "t1", at=datetime(2026, 10, 8)),  # noqa: DTZ001
            lambda m: m.finish_task(OWNER, "t1", at=START + timedelta(days=2)),
            lambda m: m.finish_task(OWNER, "t\ud800"),
            lambda m: m.start_task(OWNER, "t\x00"),
            lambda m: m.plan_rollback(OWNER, Selector(since=datetime(2026, 10, 8))),  # noqa: DTZ001
            lambda m: m.plan_rollback(OWNER, Selector()),
            lambda m: m.plan_rollback(OWNER, Selector(weather="fine")),
            lambda m: m.import_memories(OWNER, [ImportedMemory(content="a\x00")]),
            lambda m: m.import_memories(OWNER, [ImportedMemory(content="N/A")]),
            lambda m: m.import_memories(
                OWNER,
                [ImportedMemory(content="x", valid_from=datetime(2026, 10, 8))],  # noqa: DTZ001
            ),
            lambda m: m.ingest(OWNER, [{"user": "我住在成都", "session": "s1"}]),
        ],
    )
    def test_other_arguments(self, talk: Conversation, call: Callable[[Memstrata], Any]) -> None:
        with pytest.raises(InvalidInputError):
            call(talk.memory)
        assert position_of(talk.memory) == 0


class TestWhatPeopleWrite:
    def test_a_correction_that_cannot_be_stored_is_refused(self, talk: Conversation) -> None:
        talk.says("我住在成都")
        (one,) = talk.listed()
        before = position_of(talk.memory)

        with pytest.raises(InvalidInputError):
            talk.memory.correct(OWNER, one.memory.memory_id, "用户住在\ud800")
        with pytest.raises(RefusedError):
            talk.memory.correct(OWNER, one.memory.memory_id, "无")

        assert position_of(talk.memory) == before

    def test_secrets_in_it_are_masked(self, talk: Conversation) -> None:
        talk.says("我住在成都")
        (one,) = talk.listed()
        secret = "sk-proj-4f9aJx2KqLm8Zt7Yw3Vb6Nc1Rd5Hg0Se"

        talk.memory.correct(OWNER, one.memory.memory_id, f"用户住在绵阳，密钥是 {secret}")
        talk.memory.forget(OWNER, one.memory.memory_id, note=f"the key {secret} was wrong")

        assert secret not in "".join(repr(entry) for entry in talk.memory.log(OWNER))


class TestTimesAhead:
    def test_clocks_may_differ_by_five_minutes(self, talk: Conversation) -> None:
        turn = Turn(user="我住在成都", session="s1", at=START + timedelta(minutes=4))
        assert talk.memory.ingest(OWNER, [turn]).turns[0].status == "new"

    def test_a_simulated_clock_never_runs_past_the_real_one(self, talk: Conversation) -> None:
        turn = Turn(user="我住在成都", session="s1", at=START + timedelta(minutes=1))
        with pytest.raises(InvalidInputError):
            talk.memory.ingest(OWNER, [turn], simulated_clock=True)
        assert position_of(talk.memory) == 0

    def test_a_simulated_clock_follows_the_turns_and_marks_what_it_records(self, talk: Conversation) -> None:
        said = [START - timedelta(days=20), START - timedelta(days=3)]
        turns = [
            Turn(user=f"我住在{c}", session="s1", at=at) for c, at in zip(("成都", "绵阳"), said, strict=True)
        ]

        talk.memory.ingest(OWNER, turns, simulated_clock=True)

        events = list(talk.memory.log(OWNER))
        assert {entry.recorded_at for entry in events} == set(said)
        assert all(entry.event.simulated for entry in events)

    def test_it_may_not_run_before_what_is_recorded(self, talk: Conversation) -> None:
        talk.says("我住在成都")
        before = position_of(talk.memory)
        turn = Turn(user="我住在绵阳", session="s1", at=START - timedelta(days=3))

        with pytest.raises(InvalidInputError, match="fresh store"):
            talk.memory.ingest("acme/other", [turn], simulated_clock=True)

        assert position_of(talk.memory) == before


class TestStoresThatCannotBeUsed:
    def test_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("not a database\n" * 500)
        with pytest.raises(StoreUnavailableError, match="name another file"):
            Memstrata.open(str(path))
        assert path.read_text() == "not a database\n" * 500
        assert os.listdir(tmp_path) == ["notes.txt"]

    def test_a_name_with_nul(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(StoreUnavailableError):
            Memstrata.open("store\x00.db")
        assert os.listdir(tmp_path) == []

    def test_a_store_of_a_newer_version(self, tmp_path: Path) -> None:
        path = tmp_path / "store.db"
        with Memstrata.open(str(path)) as memory:
            memory.ingest(OWNER, [Turn(user="我住在成都", session="s1")])
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("UPDATE meta SET value = '999' WHERE name = 'format'")
        with pytest.raises(StoreTooNewError, match="upgrade"):
            Memstrata.open(str(path))

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(StoreUnavailableError, match="writable"):
            Memstrata.open(str(tmp_path / "none" / "store.db"))
        assert os.listdir(tmp_path) == []

    @pytest.mark.skipif(os.name != "posix", reason="permissions of other systems differ")
    def test_a_read_only_folder(self) -> None:
        Memstrata.open("sqlite://").close()
        with open_folder() as folder:
            folder.chmod(0o555)
            with (
                as_somebody_whom_permissions_bind(),
                pytest.raises(StoreUnavailableError, match="check that its folder exists and is writable"),
            ):
                Memstrata.open(str(folder / "store.db"))
            assert os.listdir(folder) == []

    def test_a_full_disk_refuses_the_turn_and_keeps_what_was_acknowledged(self, tmp_path: Path) -> None:
        path = tmp_path / "store.db"
        filling = Turn(user="我养了一只猫。" + "今天很忙。" * 20_000, session="s1", message_id="m1", at=START)
        with Memstrata.open(str(path), clock=ManualClock(START)) as memory:
            memory.ingest(OWNER, [Turn(user="我住在成都", session="s1", message_id="m0", at=START)])
            self.allow_pages(memory, 1)  # SQLite takes the present size instead
            before = position_of(memory)

            with pytest.raises(StoreUnavailableError, match="the disk is full; free some space"):
                memory.ingest(OWNER, [filling])

            assert position_of(memory) == before
            assert [one.memory.content for one in memory.memories(OWNER)] == ["用户住在成都"]
            self.allow_pages(memory, 1_000_000)
            assert memory.ingest(OWNER, [filling]).turns[0].status == "new"
            assert len(memory.memories(OWNER)) == 2
            assert memory.rebuild(check=True).same

    @staticmethod
    def allow_pages(memory: Memstrata, pages: int) -> None:
        with memory.store.writing() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
