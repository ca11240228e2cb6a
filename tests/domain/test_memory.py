"""What a stream of events comes to, and what the aggregate refuses."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from contracts.histories import (
    NOON,
    created,
    day,
    endorsed,
    expired,
    proposed,
    rolled_back,
    statement,
    stream,
    superseded,
    updated,
)
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain.errors import RefusedError
from memstrata.domain.events import Event
from memstrata.domain.evidence import Evidence, Span
from memstrata.domain.history import struck_versions
from memstrata.domain.memory import Memory, is_placeholder
from memstrata.domain.statement import Statement
from memstrata.domain.stream import RecordedEvent

M1, M2 = stream(1), stream(2)


def memory(*events: Event) -> Memory:
    entries = [RecordedEvent(n, M1, n, NOON, event) for n, event in enumerate(events, 1)]
    return Memory(M1).evolve(entries)


def periods(one: Memory) -> list[tuple[int, datetime, datetime | None]]:
    return [(p.version, p.valid_from, p.valid_to) for p in one.periods]


def variant(of: Statement, **changes: Any) -> Statement:
    return of.model_copy(update=changes)


OCTOBER, NOVEMBER, DECEMBER = (statement(str(m), day(m, 1)) for m in (10, 11, 12))


class TestPeriods:
    def test_a_change_closes_the_former_at_its_start(self) -> None:
        one = memory(created(OCTOBER), updated("replace", NOVEMBER))

        assert periods(one) == [(1, day(10, 1), day(11, 1)), (2, day(11, 1), None)]

    def test_a_correction_takes_the_place_of_what_was_never_so(self) -> None:
        right = statement("right", day(10, 1), said_at=day(12, 1))
        one = memory(created(OCTOBER), updated("replace", NOVEMBER), updated("correct", right, of=1))

        assert periods(one) == [(3, day(10, 1), day(11, 1)), (2, day(11, 1), None)]
        assert one.current is not None
        assert one.current.number == 2

    def test_a_correction_of_what_stands_becomes_current(self) -> None:
        right = statement("right", day(10, 1), said_at=day(12, 1))
        one = memory(created(OCTOBER), updated("correct", right))

        assert (one.current and one.current.number, periods(one)) == (2, [(2, day(10, 1), None)])

    def test_a_late_fact_ends_where_the_known_begins_and_never_is_current(self) -> None:
        late = statement("late", day(9, 1), said_at=day(12, 1))
        one = memory(created(OCTOBER), updated("late", late))

        assert periods(one) == [(2, day(9, 1), day(10, 1)), (1, day(10, 1), None)]
        assert one.current is not None
        assert one.current.number == 1

    def test_a_late_fact_with_an_end_splits_what_it_lies_within(self) -> None:
        late = statement("late", day(10, 10), said_at=day(12, 1), until=day(10, 20))
        one = memory(created(OCTOBER), updated("late", late))

        assert periods(one) == [
            (1, day(10, 1), day(10, 10)),
            (2, day(10, 10), day(10, 20)),
            (1, day(10, 20), None),
        ]

    def test_a_late_fact_alone_reaches_no_further_than_when_it_was_said(self) -> None:
        late = statement("late", day(9, 1), said_at=day(9, 20))
        one = memory(created(OCTOBER), updated("late", late), rolled_back(1))

        assert periods(one) == [(2, day(9, 1), day(9, 20))]
        assert one.current is None

    def test_true_ended_and_true_again_are_two_periods(self) -> None:
        again = statement("again", day(12, 1))
        one = memory(created(OCTOBER), expired("ended", day(11, 1)), created(again))

        assert periods(one) == [(1, day(10, 1), day(11, 1)), (2, day(12, 1), None)]

    def test_what_is_retracted_holds_at_no_time(self) -> None:
        one = memory(created(OCTOBER), updated("replace", NOVEMBER), expired("retracted", day(12, 1)))

        assert (periods(one), one.status) == ([], "retracted")

    def test_a_dated_statement_ends_without_any_event(self) -> None:
        one = memory(created(statement("stay", day(10, 1), until=day(10, 15))))

        assert one.holding(day(10, 14)) is not None
        assert one.holding(day(10, 15)) is None

    def test_a_successor_closes_the_memory(self) -> None:
        one = memory(created(OCTOBER), superseded(M2, day(11, 1)))

        assert (one.status, periods(one)) == ("superseded", [(1, day(10, 1), day(11, 1))])
        assert one.closing is not None
        assert one.closing.successor == M2


class TestUndo:
    def test_a_rollback_restores_the_predecessor_and_renumbers_nothing(self) -> None:
        one = memory(created(OCTOBER), updated("replace", NOVEMBER), rolled_back(2))

        assert [(v.number, v.in_force) for v in one.versions] == [(1, True), (2, False)]
        assert periods(one) == [(1, day(10, 1), None)]

    def test_a_rolled_back_end_brings_the_memory_back(self) -> None:
        one = memory(created(OCTOBER), expired("ended", day(11, 1)), rolled_back(2))

        assert (one.status, periods(one)) == ("active", [(1, day(10, 1), None)])

    def test_later_good_versions_stay(self) -> None:
        one = memory(
            created(OCTOBER), updated("replace", NOVEMBER), updated("replace", DECEMBER), rolled_back(2)
        )

        assert periods(one) == [(1, day(10, 1), day(12, 1)), (3, day(12, 1), None)]

    def test_a_memory_without_any_version_in_force_is_withdrawn(self) -> None:
        one = memory(created(OCTOBER), superseded(M2, day(11, 1)), rolled_back(1))

        assert (one.status, one.current, periods(one)) == ("withdrawn", None, [])

    @given(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    def test_an_event_is_in_force_unless_one_in_force_names_it(self, named: list[int]) -> None:
        entries = [RecordedEvent(1, M1, 1, NOON, created(OCTOBER))]
        for number, back in enumerate(named, 2):
            name = max(1, number - back)
            entries.append(RecordedEvent(number, M1, number, NOON, rolled_back(name)))

        struck = struck_versions(entries)

        for entry in entries:
            naming = [
                e.stream_version
                for e in entries
                if entry.stream_version in getattr(e.event, "names", ()) and e.stream_version not in struck
            ]
            assert (entry.stream_version in struck) == bool(naming)


class TestStatus:
    def test_hints_alone_are_held(self) -> None:
        one = memory(proposed(stream(9), "short", "held", target=M1, task="t1"))

        assert (one.status, one.occasions) == ("held", {"t1"})

    def test_a_rejection_settles_what_is_held(self) -> None:
        one = memory(proposed(stream(9), "short", "held", target=M1), endorsed("rejected"))

        assert (one.status, one.pending) == ("rejected", ())

    def test_a_stream_of_refused_proposals_is_no_memory(self) -> None:
        assert memory(proposed(stream(9), "short", "refused", target=M1)).status == "none"

    def test_the_last_pin_counts(self) -> None:
        one = memory(created(OCTOBER), endorsed("pinned"))

        assert one.pinned
        assert not one.evolve([RecordedEvent(3, M1, 3, NOON, endorsed("unpinned"))]).pinned


def refusal(one: Memory, kind: str, offered: Statement) -> str | None:
    try:
        one.check_update(kind, offered)
    except RefusedError as error:
        return error.reason
    return None


def inferred(offered: Statement) -> Statement:
    provenance = offered.provenance.model_copy(update={"source": "single_task_inference"})
    return variant(offered, provenance=provenance)


def quoting(offered: Statement, quote: str) -> Statement:
    words = Evidence(turn_id=stream(9), spans=(Span(start=0, end=len(quote)),), quotes=(quote,))
    return variant(offered, evidence=(words,))


class TestRefusals:
    """Whatever a model or a person says."""

    @pytest.mark.parametrize("content", ["", " ", "No data.", "N/A", "无", "暂无数据。", "——", "🙂"])
    def test_content_that_says_nothing_never_becomes_a_version(self, content: str) -> None:
        assert is_placeholder(content)
        assert (
            refusal(memory(created(OCTOBER)), "replace", variant(NOVEMBER, content=content))
            == "empty_content"
        )
        with pytest.raises(RefusedError):
            Memory(M1).check_create(variant(OCTOBER, content=content))

    @pytest.mark.parametrize(
        ("kind", "offered", "reason"),
        [
            ("replace", variant(OCTOBER, valid_from=day(11, 1)), "no_change"),
            ("replace", variant(NOVEMBER, attribute="city"), "unrelated_update"),
            ("replace", variant(NOVEMBER, subject="Dana"), "unrelated_update"),
            ("replace", quoting(NOVEMBER, "10!"), "evidence_restates_stored"),
            ("replace", inferred(NOVEMBER), "weaker_evidence"),
            ("correct", inferred(NOVEMBER), "weaker_evidence"),
            ("replace", statement("earlier", day(9, 1)), "not_in_order"),
        ],
    )
    def test_an_update_that_is_none(self, kind: str, offered: Statement, reason: str) -> None:
        assert refusal(memory(created(OCTOBER)), kind, offered) == reason

    def test_an_update_of_nothing(self) -> None:
        assert refusal(Memory(M1), "replace", OCTOBER) == "not_active"
        ended = memory(created(OCTOBER), expired("ended", day(11, 1)))
        assert refusal(ended, "replace", DECEMBER) == "not_active"

    def test_a_second_creation_beside_a_version_that_stands(self) -> None:
        with pytest.raises(RefusedError, match="already_active"):
            memory(created(OCTOBER)).check_create(NOVEMBER)

    def test_a_contradiction_is_no_mere_end(self) -> None:
        with pytest.raises(RefusedError, match="contradiction_needs_successor"):
            memory(created(OCTOBER)).check_end((), asserts_value=True)

    def test_an_end_whose_words_repeat_what_is_stored(self) -> None:
        with pytest.raises(RefusedError, match="evidence_restates_stored"):
            memory(created(OCTOBER)).check_end(quoting(OCTOBER, "10").evidence, asserts_value=False)

    def test_a_proper_change_passes(self) -> None:
        assert refusal(memory(created(OCTOBER)), "replace", NOVEMBER) is None
