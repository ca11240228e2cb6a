"""A long process ends, and with it what was only said for its sake."""

from __future__ import annotations

from datetime import UTC, datetime

from memstrata import Selector

from .spoken import OWNER, Conversation


def test_being_hired_ends_the_search_and_what_was_asked_for_in_it() -> None:
    talk = Conversation(datetime(2026, 10, 8, 9, tzinfo=UTC))
    talk.says("我最近在找工作，目前是投递阶段")
    talk.says("期望薪资 15-20k")
    talk.says("我住在成都")
    assert len(talk.active()) == 3

    hired = talk.says("报告！我今天已经入职啦")

    assert talk.active() == ["用户住在成都"]
    for found in (talk.memory.search(OWNER, "求职 薪资"), talk.memory.context(OWNER, "求职 薪资")):
        assert [line.statement.attribute for line in found if line.statement.attribute != "city"] == []
    talk.check()

    # What ended with it comes back when the news is rolled back.
    talk.memory.apply(OWNER, talk.memory.plan_rollback(OWNER, Selector(turn=hired.turn_id)))

    assert len(talk.active()) == 3
    talk.check()


def test_a_new_search_begins_anew() -> None:
    talk = Conversation(datetime(2026, 10, 8, 9, tzinfo=UTC))
    talk.says("期望薪资 15-20k")
    talk.says("我已经入职了")
    assert talk.active() == []

    talk.says("期望薪资 25-30k")

    assert talk.active() == ["期望薪资 25-30k"]
    talk.check()
