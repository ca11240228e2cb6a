"""What was so at a time, and what we knew of it at another."""

from datetime import datetime

import pytest
from contracts.event_store import ManualClock
from contracts.histories import created, day, expired, rolled_back, statement, stream, updated

from memstrata.adapters.storage import SqlEventStore
from memstrata.adapters.storage.views import SqlViews
from memstrata.domain.events import Event
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent

LIN = Owner(tenant="local", user="lin")
M1 = stream(1)


class Diary:
    """Appends to one memory on given days, and asks as people do: by time."""

    def __init__(self, store: SqlEventStore, views: SqlViews, clock: ManualClock) -> None:
        self._store, self._views, self._clock = store, views, clock
        self._version = 0

    def write(self, on: datetime, event: Event) -> int:
        self._clock.moment, self._version = on, self._version + 1
        new = NewEvent(M1, self._version, event)
        return self._store.append(Append(LIN, [new], None))[0].position

    def contents(self, *, as_of: datetime | None, valid_at: datetime) -> list[str]:
        position = None if as_of is None else self._store.position_at(LIN, as_of)
        listed = self._views.memories(LIN, valid_at=valid_at, as_of=position)
        return [item.statement.content for item in listed if item.statement is not None]


@pytest.fixture
def diary(store: SqlEventStore, views: SqlViews, clock: ManualClock) -> Diary:
    return Diary(store, views, clock)


@pytest.fixture
def salary(diary: Diary) -> Diary:
    """Change, correction and a late fact, each written down on the day it was said."""
    first = statement("15-20k", day(10, 8))
    diary.write(day(10, 8), created(first))
    diary.write(day(10, 29), updated("replace", statement("20k+", day(10, 29))))
    diary.write(day(11, 5), updated("correct", statement("16-20k", day(10, 8), said_at=day(11, 5)), of=1))
    diary.write(day(11, 10), updated("late", statement("12k", day(9, 1), said_at=day(11, 10))))
    return diary


TABLE = {
    (10, 15): [[], ["15-20k"], ["15-20k"]],
    (11, 1): [[], ["15-20k"], ["20k+"]],
    (11, 6): [[], ["16-20k"], ["20k+"]],
    (11, 12): [["12k"], ["16-20k"], ["20k+"]],
}
VALID = [(9, 15), (10, 15), (11, 1)]


@pytest.mark.parametrize("as_of", TABLE)
def test_each_day_answers_with_what_was_known_then(salary: Diary, as_of: tuple[int, int]) -> None:
    answers = [salary.contents(as_of=day(*as_of), valid_at=day(*valid)) for valid in VALID]

    assert answers == TABLE[as_of]


def test_what_is_retracted_held_at_no_time_and_was_believed_all_the_same(salary: Diary) -> None:
    salary.write(day(11, 15), expired("retracted", day(11, 15)))

    assert [salary.contents(as_of=day(11, 16), valid_at=day(*v)) for v in VALID] == [[], [], []]
    assert [salary.contents(as_of=day(11, 12), valid_at=day(*v)) for v in VALID] == TABLE[11, 12]


def test_what_ended_was_so_until_then(salary: Diary) -> None:
    salary.write(day(11, 15), expired("ended", day(11, 15)))

    assert salary.contents(as_of=None, valid_at=day(11, 1)) == ["20k+"]
    assert salary.contents(as_of=None, valid_at=day(11, 15)) == []


def test_undoing_the_change_opens_the_corrected_period_and_leaves_the_late_one(salary: Diary) -> None:
    salary.write(day(11, 14), rolled_back(2))

    assert salary.contents(as_of=None, valid_at=day(11, 1)) == ["16-20k"]
    assert salary.contents(as_of=None, valid_at=day(12, 1)) == ["16-20k"]
    assert salary.contents(as_of=None, valid_at=day(9, 15)) == ["12k"]


def test_overlapping_rollbacks_undone_in_either_order_leave_every_answer_in_place(
    diary: Diary, views: SqlViews
) -> None:
    for month, content in ((8, "Hangzhou"), (9, "Suzhou"), (10, "Shanghai")):
        said = statement(content, day(month, 1), attribute="city")
        diary.write(day(month, 1), created(said) if month == 8 else updated("replace", said))
    now, steps = day(12, 1), [3]
    for number, names in enumerate(([2], [2, 3], [4], [5], [7]), start=1):
        steps.append(diary.write(day(11, number), rolled_back(*names, batch=f"b{number}")))

    believed = [
        [item.statement.content for item in views.memories(LIN, valid_at=now, as_of=step) if item.statement]
        for step in steps
    ]

    # RB1, RB2, undo RB1, undo RB2, undo of the undo of RB2
    assert believed == [["Shanghai"], ["Shanghai"], ["Hangzhou"], ["Hangzhou"], ["Shanghai"], ["Hangzhou"]]
    assert [(v.number, v.in_force, v.struck_by) for v in views.versions(LIN, M1)] == [
        (1, True, None),
        (2, False, "b2"),
        (3, False, "b2"),
    ]
    assert [(v.number, v.in_force, v.struck_by) for v in views.versions(LIN, M1, as_of=steps[1])] == [
        (1, True, None),
        (2, False, "b1"),
        (3, True, None),
    ]


def test_a_dated_end_needs_nobody_to_sweep(diary: Diary) -> None:
    end = day(3, 16)
    diary.write(day(3, 1), created(statement("in Chengdu", day(3, 1), until=end)))
    before = [diary.contents(as_of=None, valid_at=v) for v in (day(3, 15, 23), end)]
    diary.write(day(3, 20), expired("ended", end))

    assert before == [["in Chengdu"], []]
    assert [diary.contents(as_of=None, valid_at=v) for v in (day(3, 15, 23), end)] == before
    assert [diary.contents(as_of=day(3, 19), valid_at=v) for v in (day(3, 15, 23), end)] == before


def test_what_begins_later_is_not_listed_yet(diary: Diary) -> None:
    diary.write(day(10, 1), created(statement("moves to Xi'an", day(12, 1), said_at=day(10, 1))))

    assert diary.contents(as_of=None, valid_at=day(11, 1)) == []
    assert diary.contents(as_of=None, valid_at=day(12, 1)) == ["moves to Xi'an"]
