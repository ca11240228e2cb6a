"""What was erased holds no more, keeps no slot and takes nothing up."""

from __future__ import annotations

import pytest

from memstrata import Selector
from memstrata.domain.errors import MemoryStateError, RefusedError
from memstrata.domain.events import Erased
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent

from .scripted import OWNER, Stage, city, dropped, taste


def erase(stage: Stage, memory_id: str) -> None:
    owner, memory = stage.memory._owner(OWNER), stage.memory.folded(OWNER, memory_id)
    header = {"actor": "operator:ann", "correlation_id": "c1", "policy": "p1"}
    tombstone = Erased(**header, said_at=stage.clock.now(), reason="asked for")
    stage.memory.store.append(
        Append(owner, [NewEvent(memory_id, memory.stream_version + 1, tombstone)], None)
    )


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.says("in Leeds", city("Leeds"), session="s1")
    erase(stage, stage.id_of("用户住在Leeds"))
    return stage


def test_the_same_thing_said_later_opens_a_memory_of_its_own(stage: Stage) -> None:
    erased = stage.id_of("用户住在Leeds")

    stage.says("in Turin", city("Turin"), session="s2")

    assert stage.active() == ["用户住在Turin"]
    assert stage.id_of("用户住在Turin") != erased
    assert stage.memory.memory(OWNER, erased).status == "erased"
    stage.check()


def test_it_is_neither_confirmed_nor_corrected_nor_ended(stage: Stage) -> None:
    erased, before = stage.id_of("用户住在Leeds"), stage.position

    for act in (
        lambda: stage.memory.confirm(OWNER, erased),
        lambda: stage.memory.correct(OWNER, erased, "用户住在Turin"),
        lambda: stage.memory.forget(OWNER, erased),
        lambda: stage.memory.reject(OWNER, erased),
    ):
        with pytest.raises((MemoryStateError, RefusedError)):
            act()

    assert stage.position == before


def test_a_hint_that_was_erased_is_neither_let_in_nor_turned_down() -> None:
    stage = Stage()
    stage.says("perhaps Leeds", city("Leeds", certainty="uncertain"), session="s1")
    (held,) = stage.memory.held(OWNER)
    erase(stage, held.memory_id)

    for act in (stage.memory.confirm, stage.memory.reject):
        with pytest.raises(MemoryStateError):
            act(OWNER, held.memory_id)

    assert stage.memory.held(OWNER) == []
    stage.says("Leeds again", city("Leeds"), session="s2")
    assert stage.active() == ["用户住在Leeds"]
    stage.check()


def test_words_that_take_it_back_find_nothing(stage: Stage) -> None:
    erased, before = stage.id_of("用户住在Leeds"), stage.position
    stage.says("likes", taste("noodles"), session="s2")

    stage.says("not Leeds", dropped("city", "Leeds", "retract"), session="s3")

    assert stage.active() == ["用户喜欢noodles"]
    assert all(entry.stream_id != erased for entry in stage.memory.log(OWNER, after_position=before))


def test_nothing_of_it_is_known_to_have_held(stage: Stage) -> None:
    folded = stage.memory.folded(OWNER, stage.id_of("用户住在Leeds"))

    assert (folded.current, folded.latest, folded.closing, folded.periods) == (None, None, None, ())
    assert (folded.status, len(folded.versions)) == ("erased", 1)


def test_an_undo_holds_nothing_that_was_said_to_an_erased_memory() -> None:
    stage = Stage()
    stage.says("in Turin", city("Turin"), session="s1")
    stage.says("perhaps Leeds", city("Leeds", certainty="uncertain"), session="s2")
    turin = stage.id_of("用户住在Turin")
    assert [e.stream_id for e in stage.memory.log(OWNER) if getattr(e.event, "outcome", "") == "refused"] == [
        turin
    ]
    erase(stage, turin)

    before = stage.position
    stage.memory.apply(OWNER, stage.memory.plan_rollback(OWNER, Selector(session="s1")))

    assert (stage.active(), stage.memory.held(OWNER)) == ([], [])
    assert [name for _, name, _ in stage.written_since(before)] == ["RolledBack"]
    stage.check()
