"""The same turn twice is once; an edited turn takes back what its former text produced, if told to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from memstrata import Selector, Turn
from memstrata.domain.errors import TurnEditedError
from memstrata.domain.events import Judged

from ..scenarios.spoken import OWNER, Conversation

ZONE = timezone(timedelta(hours=8))
START = datetime(2026, 10, 8, 9, tzinfo=ZONE)


@pytest.fixture
def talk() -> Conversation:
    return Conversation(START + timedelta(days=30))


def turn(text: str, minute: int = 0, **fields: Any) -> Turn:
    at = START + timedelta(minutes=minute)
    return Turn(**{"user": text, "assistant": "好的。", "session": "s1", "at": at, **fields})


def sound(talk: Conversation) -> None:
    assert talk.memory.rebuild(check=True).same
    assert [report.problem for report in talk.memory.verify()] == [None]


class TestTheSameAgain:
    HISTORY = (
        turn("我住在成都", 0),
        turn("好的", 1),
        turn("我养了一只猫，叫团子", 2),
        turn("好的", 1),
        turn("这次回答短一点", 3),
        turn("唉，今天好累", 4),
    )

    def test_a_file_ingested_twice_writes_nothing_and_reports_the_first_time(
        self, talk: Conversation
    ) -> None:
        first = talk.memory.ingest(OWNER, self.HISTORY)
        before = talk.position

        again = talk.memory.ingest(OWNER, self.HISTORY)

        assert talk.position == before
        assert [report.status for report in again.turns] == ["known"] * len(self.HISTORY)
        for then, now in zip(first.turns, again.turns, strict=True):
            assert (now.turn_id, now.judgement, now.masked) == (then.turn_id, then.judgement, then.masked)
            assert [(c.action, c.outcome, c.reason, c.memory_id) for c in now.candidates] == [
                (c.action, c.outcome, c.reason, c.memory_id) for c in then.candidates
            ]
        sound(talk)

    def test_it_holds_for_another_process_on_the_same_file(self, tmp_path: Any) -> None:
        url = str(tmp_path / "store.db")
        first = Conversation(START + timedelta(days=30), url)
        first.memory.ingest(OWNER, self.HISTORY)
        first.memory.close()

        second = Conversation(START + timedelta(days=31), url)
        before = second.position
        report = second.memory.ingest(OWNER, self.HISTORY)

        assert second.position == before
        assert {one.status for one in report.turns} == {"known"}
        second.memory.close()

    @pytest.mark.parametrize("dropped", [1, 3, 5])
    def test_a_trimmed_history_sent_again_adds_only_what_is_new(
        self, talk: Conversation, dropped: int
    ) -> None:
        talk.memory.ingest(OWNER, self.HISTORY)
        before = talk.position

        report = talk.memory.ingest(OWNER, [*self.HISTORY[dropped:], turn("我对花生过敏", 9)])

        assert [one.status for one in report.turns] == ["known"] * (len(self.HISTORY) - dropped) + ["new"]
        assert talk.position > before
        assert [name for name in talk.active() if "花生" in name] == ["用户对花生过敏"]
        sound(talk)

    def test_identical_messages_without_ids_or_times_are_told_apart_by_their_place(
        self, talk: Conversation
    ) -> None:
        same = Turn(user="我喜欢爬山", session="s1")

        first = talk.memory.ingest(OWNER, [same, same])
        again = talk.memory.ingest(OWNER, [same, same, same])

        assert [one.status for one in first.turns] == ["new", "new"]
        assert [one.status for one in again.turns] == ["known", "known", "new"]
        assert len(talk.active()) == 1
        sound(talk)

    def test_a_secret_does_not_make_two_turns_of_one(self, talk: Conversation) -> None:
        text = "我的密码是 hunter2-Xy77!，我住在成都"
        talk.memory.ingest(OWNER, [turn(text)])
        before = talk.position
        assert talk.memory.ingest(OWNER, [turn(text)]).turns[0].status == "known"
        assert talk.position == before

    def test_the_same_message_of_another_owner_or_session_is_another_turn(self, talk: Conversation) -> None:
        one = turn("我住在成都", message_id="m1")
        talk.memory.ingest(OWNER, [one])
        assert talk.memory.ingest("acme/other", [one]).turns[0].status == "new"
        elsewhere = one.model_copy(update={"session": "s2"})
        assert talk.memory.ingest(OWNER, [elsewhere]).turns[0].status == "new"


class TestAnEditedTurn:
    def test_is_refused_and_nothing_is_written(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我住在成都", message_id="m1")])
        before = talk.position

        with pytest.raises(TurnEditedError, match="revise"):
            talk.memory.ingest(OWNER, [turn("我住在绵阳", message_id="m1")])

        assert talk.position == before
        assert talk.active() == ["用户住在成都"]

    def test_in_a_lenient_call_the_others_go_on(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我住在成都", message_id="m1")])

        edited = turn("我住在绵阳", message_id="m1")
        report = talk.memory.ingest(OWNER, [edited, turn("我养了一只猫", message_id="m2")], strict=False)

        assert [one.status for one in report.turns] == ["failed", "new"]
        assert isinstance(report.turns[0].error, TurnEditedError)

    def test_within_one_call_it_is_refused_too(self, talk: Conversation) -> None:
        history = [turn("我住在成都", message_id="m1"), turn("我住在绵阳", message_id="m1")]
        with pytest.raises(TurnEditedError):
            talk.memory.ingest(OWNER, history)
        assert talk.position == 0


class TestRevising:
    def revise(self, talk: Conversation, text: str, **fields: Any) -> str:
        report = talk.memory.ingest(OWNER, [turn(text, **{"message_id": "m1", **fields})], revise=True)
        return report.turns[0].status

    def test_what_the_former_text_opened_is_withdrawn_and_the_new_one_judged_in_one_append(
        self, talk: Conversation
    ) -> None:
        talk.memory.ingest(OWNER, [turn("我住在成都", message_id="m1")])
        before = talk.position

        assert self.revise(talk, "我养了一只猫") == "revised"

        assert talk.written_since(before)[0].startswith("RolledBack")
        assert [content for content in talk.active() if "成都" in content] == []
        assert len(talk.active()) == 1
        recorded = {e.recorded_at for e in talk.memory.log(OWNER, after_position=before)}
        assert len(recorded) == 1
        sound(talk)

    def test_a_predecessor_revives(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我住在杭州", message_id="m0")])
        talk.memory.ingest(OWNER, [turn("我搬到苏州了", 5, message_id="m1")])
        assert [one.statement.value for one in talk.listed() if one.statement] == ["苏州"]

        self.revise(talk, "今天好热啊", minute=5)

        assert [one.statement.value for one in talk.listed() if one.statement] == ["杭州"]
        sound(talk)

    def test_a_retraction_that_is_edited_away_gives_back_what_it_took(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我对花生过敏", message_id="m0")])
        talk.memory.ingest(OWNER, [turn("忘掉我对花生过敏的事", 5, message_id="m1")])
        assert talk.active() == []

        self.revise(talk, "今天好热啊", minute=5)

        assert talk.active() == ["用户对花生过敏"]
        sound(talk)

    def test_back_and_forth_ends_where_it_began(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我住在杭州", message_id="m0")])
        talk.memory.ingest(OWNER, [turn("我搬到苏州了", 5, message_id="m1")])

        cities: list[Sequence[str | None]] = []
        for text in ("我搬到南京了", "我搬到苏州了", "今天好热啊", "我搬到南京了"):
            assert self.revise(talk, text, minute=5) == "revised"
            cities.append([one.statement.value for one in talk.listed() if one.statement])

        assert cities == [["南京"], ["苏州"], ["杭州"], ["南京"]]
        sound(talk)

    def test_the_same_text_is_no_revision(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我搬到苏州了", message_id="m1")])
        self.revise(talk, "我搬到南京了")
        before = talk.position
        assert self.revise(talk, "我搬到南京了") == "known"
        assert talk.position == before

    def test_after_a_revision_the_former_text_counts_as_edited(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我搬到苏州了", message_id="m1")])
        self.revise(talk, "我搬到南京了")
        with pytest.raises(TurnEditedError):
            talk.memory.ingest(OWNER, [turn("我搬到苏州了", message_id="m1")])

    def test_what_was_said_elsewhere_too_stays(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我对花生过敏", message_id="m1")])
        talk.memory.ingest(OWNER, [turn("我对花生过敏", 60, session="s2", message_id="n1")])

        self.revise(talk, "我喜欢花生酱")

        assert "用户对花生过敏" in talk.active()
        sound(talk)

    def test_what_a_person_confirmed_stays(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我住在杭州", message_id="m1")])
        (one,) = talk.listed()
        talk.memory.correct(OWNER, one.memory.memory_id, "用户住在嘉兴")

        self.revise(talk, "今天好热啊")

        assert talk.active() == ["用户住在嘉兴"]
        sound(talk)

    def test_a_revised_turn_can_be_rolled_back_and_that_be_undone(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我住在杭州", message_id="m0")])
        talk.memory.ingest(OWNER, [turn("我搬到苏州了", 5, message_id="m1")])
        self.revise(talk, "我搬到南京了", minute=5)
        turn_id = next(
            e.stream_id
            for e in talk.memory.log(OWNER)
            if isinstance(e.event, Judged) and e.event.context.message_id == "m1"
        )

        plan = talk.memory.plan_rollback(OWNER, Selector(turn=turn_id))
        batch = talk.memory.apply(OWNER, plan).batch_id
        assert [one.statement.value for one in talk.listed() if one.statement] == ["杭州"]

        assert batch is not None
        talk.memory.apply(OWNER, talk.memory.plan_undo(OWNER, batch))
        assert [one.statement.value for one in talk.listed() if one.statement] == ["南京"]
        sound(talk)

    def test_the_revision_itself_can_be_undone(self, talk: Conversation) -> None:
        talk.memory.ingest(OWNER, [turn("我住在杭州", message_id="m0")])
        talk.memory.ingest(OWNER, [turn("我搬到苏州了", 5, message_id="m1")])
        self.revise(talk, "我搬到南京了", minute=5)
        (batch,) = [one for one in talk.memory.batches(OWNER) if one.kind == "revise"]

        talk.memory.apply(OWNER, talk.memory.plan_undo(OWNER, batch.batch_id))

        assert [one.statement.value for one in talk.listed() if one.statement] == ["苏州"]
        sound(talk)

    def test_many_turns_at_once_some_of_them_edited(self, talk: Conversation) -> None:
        texts = ["我住在杭州", "我养了一只猫", "我对花生过敏"]
        talk.memory.ingest(OWNER, [turn(t, i, message_id=f"m{i}") for i, t in enumerate(texts)])

        edited = ["我住在杭州", "我养了一只狗", "我对花生过敏", "我喜欢爬山"]
        report = talk.memory.ingest(
            OWNER, [turn(t, i, message_id=f"m{i}") for i, t in enumerate(edited)], revise=True
        )

        assert [one.status for one in report.turns] == ["known", "revised", "known", "new"]
        assert [content for content in talk.active() if "猫" in content] == []
        assert len(talk.active()) == 4
        sound(talk)
