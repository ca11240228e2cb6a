"""Memories that somebody brings along."""

from collections.abc import Iterator

import pytest

from memstrata import Memstrata
from memstrata.application.importing import ImportedMemory
from memstrata.domain.errors import InvalidInputError
from memstrata.domain.events import BatchClosed, BatchOpened, Proposed
from memstrata.domain.scope import Scope

OWNER = "acme/lin"


@pytest.fixture
def memory() -> Iterator[Memstrata]:
    with Memstrata.open("sqlite://") as opened:
        yield opened


def contents(memory: Memstrata) -> list[str]:
    return [listed.memory.content for listed in memory.memories(OWNER)]


def city(value: str) -> ImportedMemory:
    return ImportedMemory(content=f"用户住在{value}", attribute="city", value=value)


def test_they_are_written_in_the_order_given_and_named_in_the_report(memory: Memstrata) -> None:
    report = memory.import_memories(OWNER, [city("成都"), ImportedMemory(content="用户喜欢爬山")])

    assert [memory.memory(OWNER, found).content for found in report.memories] == [
        "用户住在成都",
        "用户喜欢爬山",
    ]
    assert contents(memory) == ["用户住在成都", "用户喜欢爬山"]
    assert report.written == 4


def test_an_import_is_one_batch_and_can_be_undone(memory: Memstrata) -> None:
    report = memory.import_memories(OWNER, [city("成都"), ImportedMemory(content="用户喜欢爬山")])
    assert report.batch_id is not None

    memory.apply(OWNER, memory.plan_undo(OWNER, report.batch_id))

    assert contents(memory) == []
    opened, closed = (
        [r.event for r in memory.log(OWNER) if isinstance(r.event, kind)]
        for kind in (BatchOpened, BatchClosed)
    )
    assert [event.kind for event in opened] == ["import", "undo"]  # type: ignore[union-attr]
    assert closed[0].written == 4  # type: ignore[union-attr]


def test_undoing_an_import_brings_back_what_it_replaced(memory: Memstrata) -> None:
    memory.import_memories(OWNER, [city("成都")])
    report = memory.import_memories(OWNER, [city("重庆")])
    assert contents(memory) == ["用户住在重庆"]
    assert report.batch_id is not None

    memory.apply(OWNER, memory.plan_undo(OWNER, report.batch_id))

    assert contents(memory) == ["用户住在成都"]


def test_the_same_again_is_a_repetition(memory: Memstrata) -> None:
    first = memory.import_memories(OWNER, [city("成都")])
    again = memory.import_memories(OWNER, [city("成都")])

    assert again.memories == first.memories
    assert len(memory.history(OWNER, first.memories[0])) == 1
    proposals = [r.event for r in memory.log(OWNER) if isinstance(r.event, Proposed)]
    assert [(p.action, p.outcome, p.reason) for p in proposals] == [
        ("WRITE", "accepted", "imported"),
        ("SKIP", "confirmed", "duplicate"),
    ]


def test_what_was_forgotten_may_be_imported_again(memory: Memstrata) -> None:
    first = memory.import_memories(OWNER, [city("成都")])
    memory.forget(OWNER, first.memories[0])

    again = memory.import_memories(OWNER, [city("成都")])

    assert again.memories == first.memories
    assert contents(memory) == ["用户住在成都"]


@pytest.mark.parametrize("content", ["暂无", "a\x00", "\ud800", "我的密码是 Hunter2-NotReal!"])
def test_what_cannot_be_kept_is_named_and_nothing_is_written(memory: Memstrata, content: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        memory.import_memories(OWNER, [city("成都"), ImportedMemory.model_construct(**_fields(content))])

    assert caught.value.field == "memories[1].content"
    assert "Hunter2" not in str(caught.value)
    assert list(memory.log(OWNER)) == []


def _fields(content: str) -> dict[str, object]:
    return {**ImportedMemory(content="x").__dict__, "content": content}


def test_none_write_nothing(memory: Memstrata) -> None:
    assert memory.import_memories(OWNER, []).batch_id is None
    assert list(memory.log(OWNER)) == []


def test_what_is_not_given_is_filled_in(memory: Memstrata) -> None:
    task = Scope(kind="current_task", anchor="w-1")
    memory.import_memories(
        OWNER,
        [
            ImportedMemory(content="求职状态：投递中", attribute="job_search_status", value="投递中"),
            ImportedMemory(content="用户不吃辣", type="preference"),
            ImportedMemory(content="不要提用户的前任", type="boundary"),
            ImportedMemory(content="一页以内", type="constraint", scope=task),
            ImportedMemory(content="期望薪资 15-20k", attribute="expected_salary", value="15-20k"),
        ],
    )

    said = [listed.statement for listed in memory.by_status(OWNER, "active") if listed.statement]
    assert [(s.type, s.attribute, s.polarity, s.end.kind) for s in said] == [
        ("state", "job_search_status", "positive", "process"),
        ("preference", "preference", "negative", "never"),
        ("boundary", "topic_boundary", "positive", "never"),
        ("constraint", "constraint", "positive", "task_finished"),
        ("important_fact", "expected_salary", "positive", "process"),
    ]
    assert said[-1].value == "15000-20000"
