"""The hardest semantics, spoken: exceptions and tasks, change, correction, late fact, retraction."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar

import pytest

from memstrata import Selector

from .spoken import OWNER, Conversation

ZONE = timezone(timedelta(hours=8))


def day(month: int, number: int, hour: int = 9) -> datetime:
    return datetime(2026, month, number, hour, tzinfo=ZONE)


class TestExceptionUpdateWideningAndTheLifeOfATask:
    IN_TASK: ClassVar[dict[str, Any]] = {"task": "写事故复盘汇报", "task_id": "pm-3", "session": "s2"}

    @pytest.fixture
    def reports(self) -> Conversation:
        talk = Conversation(day(10, 1))
        talk.says("以后写汇报都先给结论")
        return talk

    def memory_id(self, talk: Conversation) -> str:
        return talk.memory.by_status(OWNER, "active")[0].memory.memory_id

    def test_the_story(self, reports: Conversation) -> None:
        first = self.memory_id(reports)

        # An exception for the task in hand leaves the standing preference alone.
        before = reports.position
        reports.says("这回的复盘汇报例外，按时间线写", **self.IN_TASK)
        assert reports.written_since(before) == ["Created"]
        constraint = reports.listed()[-1]
        assert constraint.statement is not None
        assert (constraint.statement.type, constraint.statement.scope.name) == ("constraint", "current_task")
        assert constraint.statement.end.kind == "task_finished"
        inside = reports.memory.context(OWNER, "写汇报", task="pm-3", families=["writing"])
        assert [line.memory_id for line in inside] == [constraint.memory.memory_id]
        outside = reports.memory.context(OWNER, "写汇报", task="weekly-9", families=["writing"])
        assert [line.memory_id for line in outside] == [first]

        # A lasting change said in the task addresses the standing preference.
        before = reports.position
        reports.says("写汇报改成先给风险再给结论吧，以后都这样", **self.IN_TASK)
        assert reports.written_since(before) == ["Updated(replace)"]
        assert reports.memory.memory(OWNER, first).chain_version == 2

        # Widened to everything: the same memory, another scope.
        before = reports.position
        reports.says("其实不只汇报，以后所有回答都先给风险", **self.IN_TASK)
        assert reports.written_since(before) == ["Updated(rescope)"]
        assert reports.memory.memory(OWNER, first).scope_kind == "global"
        assert reports.memory.memory(OWNER, first).chain_version == 3

        # The task ends once; what held for it only ends with it.
        before = reports.position
        batch = reports.memory.finish_task(OWNER, "pm-3").batch_id
        reports.memory.finish_task(OWNER, "pm-3")
        assert reports.written_since(before) == ["TaskChanged", "Expired"]
        before = reports.position
        reports.says("这篇再短一点", **self.IN_TASK)
        assert reports.written_since(before) == ["Proposed(refused, task_finished)"]

        # The task's end is rolled back: open again, and what it had refused is decided anew.
        assert batch is not None
        reports.memory.apply(OWNER, reports.memory.plan_undo(OWNER, batch))
        contents = reports.active()
        assert len(contents) == 3
        assert "按时间线" in contents[1]
        assert "短一点" in contents[2]
        assert reports.memory.memory(OWNER, first).chain_version == 3
        reports.check()


class TestTwoTimeAxes:
    TABLE = (
        (day(10, 15), [None, "15000-20000", "15000-20000"]),
        (day(11, 1), [None, "15000-20000", "20000+"]),
        (day(11, 6), [None, "16000-20000", "20000+"]),
        (day(11, 12), ["12000", "16000-20000", "20000+"]),
    )
    VALID_AT = (day(9, 15), day(10, 15), day(11, 1))

    @pytest.fixture
    def salary(self) -> Conversation:
        talk = Conversation(day(10, 8))
        job = {"task": "求职辅导"}
        talk.says("期望薪资 15-20k", day(10, 8), **job)
        talk.says("薪资这块，20k 以下不考虑了", day(10, 29), **job)
        talk.says("更正：8号那次我说错了，是 16–20k", day(11, 5), **job)
        talk.says("九月份我其实只敢要 12k", day(11, 10), **job)
        talk.clock.moment = day(11, 12)
        return talk

    def row(self, talk: Conversation, as_of: datetime) -> list[str | None]:
        found = []
        for valid_at in self.VALID_AT:
            values = [o.statement.value for o in talk.listed(as_of=as_of, valid_at=valid_at) if o.statement]
            found.append(values[0] if values else None)
        return found

    def kinds(self, talk: Conversation) -> list[str]:
        memory_id = talk.memory.by_status(OWNER, ("active", "ended", "retracted"))[0].memory.memory_id
        return [version.kind for version in talk.memory.history(OWNER, memory_id)]

    def test_each_day_knows_what_it_knew(self, salary: Conversation) -> None:
        assert self.kinds(salary) == ["create", "replace", "correct", "late"]
        for as_of, expected in self.TABLE:
            assert self.row(salary, as_of) == expected
        salary.check()

    def test_what_is_retracted_was_never_so_but_was_once_known(self, salary: Conversation) -> None:
        before = salary.position
        salary.says("别记薪资了，当我没说", day(11, 15), task="求职辅导")

        assert salary.written_since(before) == ["Expired"]
        assert self.row(salary, day(11, 16)) == [None, None, None]
        assert self.row(salary, day(11, 12)) == self.TABLE[-1][1]
        salary.check()

    def test_what_ends_was_so_until_then(self, salary: Conversation) -> None:
        salary.says("从今天起薪资随缘", day(11, 15), task="求职辅导")

        assert self.row(salary, day(11, 16)) == self.TABLE[-1][1]
        assert salary.active(as_of=day(11, 16), valid_at=day(11, 16)) == []
        salary.check()

    def test_without_the_change_the_correction_holds_on(self, salary: Conversation) -> None:
        turn = salary.memory.ingest(OWNER, [salary.turns[1]]).turns[0]
        plan = salary.memory.plan_rollback(OWNER, Selector(turn=turn.turn_id))
        salary.memory.apply(OWNER, plan)

        assert self.row(salary, salary.clock.now()) == ["12000", "16000-20000", "16000-20000"]
        salary.check()
