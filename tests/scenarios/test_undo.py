"""Undo: the middle of a chain, overlapping rollbacks, support that is lost and support that stays."""

from __future__ import annotations

import pytest

from memstrata import Selector
from memstrata.domain.candidate import TimeFrame
from memstrata.domain.errors import BatchStateError, ConflictError

from .scripted import OWNER, Stage, city, day, habit, standing, taste

BLOCKERS, RESULTS, RISKS = (
    "reports: lead with blockers",
    "reports: lead with results",
    "reports: lead with risks",
)


@pytest.fixture
def reports() -> Stage:
    stage = Stage()
    for session, (text, extractor) in enumerate([(BLOCKERS, "x0"), (RESULTS, "x1"), (RISKS, "x2")], 1):
        stage.says(text, standing(text, "writing", extractor=extractor), session=f"s{session}")
    return stage


def roll_back(stage: Stage, **selector: object) -> str:
    report = stage.memory.apply(OWNER, stage.memory.plan_rollback(OWNER, Selector(**selector)))
    assert report.batch_id is not None
    return report.batch_id


def undo(stage: Stage, batch_id: str) -> str:
    report = stage.memory.apply(OWNER, stage.memory.plan_undo(OWNER, batch_id))
    assert report.batch_id is not None
    return report.batch_id


class TestTheMiddleLinkOfASupersessionChain:
    def test_each_statement_supersedes_the_one_before(self, reports: Stage) -> None:
        assert reports.active() == [RISKS]
        assert reports.memory.memory(OWNER, reports.id_of(BLOCKERS)).successor == reports.id_of(RESULTS)

    def test_its_rollback_ends_the_first_by_the_last(self, reports: Stage) -> None:
        before = reports.position
        plan = reports.memory.plan_rollback(OWNER, Selector(extractor="x1"))

        assert [(e.memory_id, e.fate, e.successor) for e in plan.effects] == [
            (reports.id_of(RESULTS), "withdrawn", None),
            (reports.id_of(BLOCKERS), "re-ended", reports.id_of(RISKS)),
        ]

        reports.memory.apply(OWNER, plan)

        assert reports.written_since(before) == [
            (RESULTS, "RolledBack", "Created"),
            (BLOCKERS, "RolledBack", "Superseded"),
            (BLOCKERS, "Superseded", RISKS),
        ]
        assert reports.active() == [RISKS]
        reports.check()

    def test_the_undo_restores_every_link(self, reports: Stage) -> None:
        batch = roll_back(reports, extractor="x1")
        before = reports.position

        undo(reports, batch)

        assert reports.written_since(before) == [
            (RESULTS, "RolledBack", "RolledBack"),
            (BLOCKERS, "RolledBack", "RolledBack,Superseded"),
        ]
        assert reports.active() == [RISKS]
        assert reports.memory.memory(OWNER, reports.id_of(BLOCKERS)).successor == reports.id_of(RESULTS)
        assert reports.memory.memory(OWNER, reports.id_of(RESULTS)).successor == reports.id_of(RISKS)
        reports.check()

    def test_without_the_last_link_the_middle_stands_again(self, reports: Stage) -> None:
        roll_back(reports, extractor="x2")

        assert reports.active() == [RESULTS]
        assert reports.memory.memory(OWNER, reports.id_of(BLOCKERS)).successor == reports.id_of(RESULTS)
        reports.check()

    def test_an_end_given_anew_goes_with_its_cause(self, reports: Stage) -> None:
        roll_back(reports, extractor="x1")
        roll_back(reports, extractor="x2")

        assert reports.active() == [BLOCKERS]
        reports.check()


@pytest.fixture
def cities() -> Stage:
    stage = Stage()
    for number, name in enumerate(("Hangzhou", "Suzhou", "Shanghai"), 1):
        stage.clock.time = day(10, number)
        stage.says(name, city(name), session=f"s{number}")
    stage.clock.time = day(10, 5)
    return stage


SECOND_AND_THIRD = {"since": day(10, 2), "until": day(10, 4)}


class TestOverlappingRollbacks:
    def test_an_event_stands_again_when_all_that_name_it_are_undone(self, cities: Stage) -> None:
        before = cities.position
        first = roll_back(cities, session="s2")
        assert cities.active() == ["用户住在Shanghai"]
        second = roll_back(cities, **SECOND_AND_THIRD)
        undo(cities, first)
        assert cities.active() == ["用户住在Hangzhou"]
        told = [what for _, _, what in cities.written_since(before)]
        assert told == ["Updated", "Updated,Updated", "RolledBack"]

        undo(cities, second)

        assert cities.active() == ["用户住在Shanghai"]
        cities.check()

    def test_the_order_of_the_undos_does_not_matter(self, cities: Stage) -> None:
        first, second = roll_back(cities, session="s2"), roll_back(cities, **SECOND_AND_THIRD)

        undo(cities, second)
        in_force = [v.in_force for v in cities.memory.history(OWNER, cities.id_of("用户住在Hangzhou"))]
        assert (cities.active(), in_force) == (["用户住在Shanghai"], [True, False, True])
        undo(cities, first)

        history = cities.memory.history(OWNER, cities.id_of("用户住在Hangzhou"))
        assert [(v.number, v.in_force) for v in history] == [(1, True), (2, True), (3, True)]
        cities.check()

    def test_a_second_undo_of_the_same_batch_is_refused_and_writes_nothing(self, cities: Stage) -> None:
        first = roll_back(cities, session="s2")
        undo(cities, first)
        before = cities.position

        with pytest.raises(BatchStateError):
            cities.memory.plan_undo(OWNER, first)

        assert cities.position == before

    def test_a_time_window_never_picks_a_rollback(self, cities: Stage) -> None:
        roll_back(cities, session="s2")
        roll_back(cities, **SECOND_AND_THIRD)

        plan = cities.memory.plan_rollback(OWNER, Selector(since=day(10, 5), until=day(10, 6)))

        assert plan.empty

    def test_an_undo_can_be_undone(self, cities: Stage) -> None:
        second = roll_back(cities, **SECOND_AND_THIRD)
        undone = undo(cities, second)
        assert cities.active() == ["用户住在Shanghai"]

        undo(cities, undone)

        assert cities.active() == ["用户住在Hangzhou"]
        cities.check()

    def test_between_two_rollbacks_the_last_city_was_known(self, cities: Stage) -> None:
        roll_back(cities, session="s2")
        between = cities.position
        roll_back(cities, **SECOND_AND_THIRD)

        listed = cities.memory.memories(OWNER, as_of=between)

        assert [one.statement.content for one in listed if one.statement] == ["用户住在Shanghai"]


class TestSupport:
    def test_what_was_said_again_elsewhere_stays(self) -> None:
        stage = Stage()
        stage.says("first", taste("noodles"), session="s1")
        stage.says("again", taste("noodles"), session="s2")
        plan = stage.memory.plan_rollback(OWNER, Selector(session="s1"))
        assert [effect.fate for effect in plan.effects] == ["reinstated"]

        stage.memory.apply(OWNER, plan)

        assert stage.active() == ["用户喜欢noodles"]
        stage.check()

    def test_what_lost_its_last_support_goes(self) -> None:
        stage = Stage()
        stage.says("first", taste("noodles"), session="s1")
        stage.says("again", taste("noodles"), session="s2")
        first = roll_back(stage, session="s1")
        second = roll_back(stage, session="s2")
        assert stage.active() == []

        undo(stage, second)
        undo(stage, first)

        assert stage.active() == ["用户喜欢noodles"]
        stage.check()

    def test_a_habit_that_loses_a_sighting_is_held_again(self) -> None:
        stage = Stage()
        turns = [
            stage.says(f"sighting {n}", habit("short reports", "writing"), session="s", task_id=f"task-{n}")
            for n in range(3)
        ]
        assert stage.active() == ["short reports"]

        batch = roll_back(stage, turn=turns[0])

        assert stage.active() == []
        assert [row.content for row in stage.memory.held(OWNER)] == ["short reports"]
        stage.check()
        undo(stage, batch)
        assert stage.active() == ["short reports"]
        stage.check()

    def test_a_habit_with_a_sighting_to_spare_stays(self) -> None:
        stage = Stage()
        turns = [
            stage.says(f"sighting {n}", habit("short reports", "writing"), session="s", task_id=f"task-{n}")
            for n in range(4)
        ]

        roll_back(stage, turn=turns[1])
        assert stage.active() == ["short reports"]
        roll_back(stage, turn=turns[0])

        assert stage.active() == []
        stage.check()

    def test_what_was_refused_because_of_the_pollution_is_decided_anew(self) -> None:
        stage = Stage()
        stage.says("wrong", city("Atlantis"), session="bad")
        stage.says("right", city("Leeds", source="repeated_behaviour"), session="good")
        assert stage.active() == ["用户住在Atlantis"]

        roll_back(stage, session="bad")

        assert stage.active() == ["用户住在Leeds"]
        stage.check()


class TestPlans:
    def test_a_plan_of_nothing_is_empty_and_writes_nothing(self, cities: Stage) -> None:
        before = cities.position
        plan = cities.memory.plan_rollback(OWNER, Selector(session="no such session"))

        report = cities.memory.apply(OWNER, plan)

        assert (plan.empty, report.batch_id, cities.position) == (True, None, before)

    def test_a_plan_is_refused_once_a_touched_memory_moved_on(self, cities: Stage) -> None:
        plan = cities.memory.plan_rollback(OWNER, Selector(session="s3"))
        cities.says("Ningbo", city("Ningbo"), session="s4")

        with pytest.raises(ConflictError):
            cities.memory.apply(OWNER, plan)

        assert cities.active() == ["用户住在Ningbo"]

    def test_traffic_elsewhere_does_not_spoil_a_plan(self, cities: Stage) -> None:
        plan = cities.memory.plan_rollback(OWNER, Selector(session="s3"))
        cities.says("noodles", taste("noodles"), session="s4")

        cities.memory.apply(OWNER, plan)

        assert cities.active() == ["用户住在Suzhou", "用户喜欢noodles"]

    def test_what_a_person_did_is_undone_only_by_name(self, cities: Stage) -> None:
        memory_id = cities.id_of("用户住在Hangzhou")
        cities.memory.correct(OWNER, memory_id, "用户住在Ningbo", actor="operator:mo")
        assert cities.memory.plan_rollback(OWNER, Selector(since=day(10, 5))).empty

        roll_back(cities, actor="operator:mo")

        assert cities.active() == ["用户住在Shanghai"]
        cities.check()


def told(**more: object) -> dict[str, object]:
    """A change of a many-valued attribute that is said as a change."""
    return {"intent": "change", **more}


class TestWhatComesLaterHasTheLastWord:
    def test_what_is_decided_anew_does_not_displace_what_was_said_after_it(self) -> None:
        stage = Stage()
        stage.says("first", city("Leeds"), session="bad")
        stage.says("guess", city("Turin", source="repeated_behaviour"), session="s1")
        stage.says("later", city("Osaka"), session="s2")

        batch = roll_back(stage, session="bad")

        assert stage.active() == ["用户住在Osaka"]
        undo(stage, batch)
        assert stage.active() == ["用户住在Osaka"]
        stage.check()

    def test_words_that_took_something_back_take_back_nothing_else(self) -> None:
        stage = Stage()
        stage.says("rice", taste("rice"), session="s1")
        stage.says("noodles", taste("noodles", **told(former_value="rice")), session="bad")
        drop = {"kind": "retraction", "attribute": "taste", "value": "noodles", "intent": "retract"}
        stage.says("drop", {**drop, "content": "no noodles"}, session="s2")
        assert stage.active() == []

        batch = roll_back(stage, session="bad")

        assert stage.active() == ["用户喜欢rice"]
        undo(stage, batch)
        assert stage.active() == []
        stage.check()

    def test_a_process_that_moved_twice_stays_moved(self) -> None:
        stage = Stage()
        offer = {"kind": "state", "attribute": "job_search_status", "value": "offer", "content": "an offer"}
        for session in ("bad", "good"):
            stage.says(session, {**offer, "importance": 4, "final": True}, session=session)

        roll_back(stage, session="bad")

        state = stage.memory._states.load(stage.memory._owner(OWNER))
        assert state.ledger.processes["job_search"].stage == "offer"
        stage.check()


class TestOneSlotOneMemory:
    def test_a_value_that_comes_back_gives_way_to_the_memory_that_says_it_since(self) -> None:
        stage = Stage()
        stage.says("noodles", taste("noodles"), session="s1")
        stage.says("rice", taste("rice", **told(former_value="noodles")), session="bad")
        stage.says("noodles again", taste("noodles"), session="s2")
        assert stage.active() == ["用户喜欢rice", "用户喜欢noodles"]

        batch = roll_back(stage, session="bad")

        assert stage.active() == ["用户喜欢noodles"]
        undo(stage, batch)
        assert stage.active() == ["用户喜欢rice", "用户喜欢noodles"]
        stage.check()

    def test_it_stands_alone_once_the_other_is_withdrawn(self) -> None:
        stage = Stage()
        stage.says("noodles", taste("noodles"), session="s1")
        stage.says("rice", taste("rice", **told(former_value="noodles")), session="bad")
        stage.says("noodles again", taste("noodles"), session="s2")
        roll_back(stage, session="bad")

        roll_back(stage, session="s2")

        assert stage.active() == ["用户喜欢noodles"]
        stage.check()


class TestWhatFellWithItsGround:
    def test_what_was_said_in_words_of_its_own_is_let_in_for_itself(self) -> None:
        stage = Stage()
        stage.says("rice", taste("rice"), session="bad")
        only = taste("rice", exclusive=True, content="用户只喜欢rice")
        stage.says("only rice", only, session="good")
        assert stage.active() == ["用户只喜欢rice"]

        batch = roll_back(stage, session="bad")

        assert stage.active() == ["用户只喜欢rice"]
        undo(stage, batch)
        assert [v.in_force for v in stage.memory.history(OWNER, stage.id_of("用户喜欢rice"))[:2]] == [
            True,
            True,
        ]
        stage.check()

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_an_end_goes_while_its_cause_is_gone_by_either_of_two_rollbacks(
        self, reports: Stage, order: tuple[int, int]
    ) -> None:
        batches = roll_back(reports, extractor="x1"), roll_back(reports, session="s2")
        blockers = reports.id_of(BLOCKERS)

        undo(reports, batches[order[0]])
        assert reports.active() == [RISKS]
        assert reports.memory.memory(OWNER, blockers).successor == reports.id_of(RISKS)
        undo(reports, batches[order[1]])

        assert reports.memory.memory(OWNER, blockers).successor == reports.id_of(RESULTS)
        reports.check()

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_a_habit_stands_again_once_both_of_its_sightings_are_back(self, order: tuple[int, int]) -> None:
        stage = Stage()
        turns = [
            stage.says(f"sighting {n}", habit("short reports", "writing"), session="s", task_id=f"task-{n}")
            for n in range(3)
        ]
        batches = roll_back(stage, turn=turns[0]), roll_back(stage, turn=turns[1])

        undo(stage, batches[order[0]])
        assert stage.active() == []
        undo(stage, batches[order[1]])

        memory_id = stage.id_of("short reports")
        assert [v.in_force for v in stage.memory.history(OWNER, memory_id)][:1] == [True]
        assert stage.memory.held(OWNER) == []
        stage.check()

    def test_what_an_undo_let_in_goes_when_its_reason_comes_back(self, cities: Stage) -> None:
        cities.says("guess", city("Turin", source="repeated_behaviour"), session="s4")
        before = cities.memory.memory(OWNER, cities.id_of("用户住在Suzhou"))
        batches = [roll_back(cities, session="s1"), roll_back(cities, since=day(10, 1), until=day(10, 4))]
        assert cities.active() == ["用户住在Turin"]

        undo(cities, batches[0])
        assert cities.active() == ["用户住在Turin"]
        undo(cities, batches[1])

        after = cities.memory.memory(OWNER, before.memory_id)
        assert (after.content, after.chain_version) == (before.content, before.chain_version)
        assert [v.in_force for v in cities.memory.history(OWNER, before.memory_id)][:3] == [True] * 3
        cities.check()

    def test_what_was_covered_by_another_things_version_comes_back_beside_it(self) -> None:
        stage = Stage()
        stage.says("rice", taste("rice"), session="s1")
        stage.says("noodles", taste("noodles", **told(former_value="rice")), session="bad")
        dislike = taste("noodles", polarity="negative", content="用户讨厌noodles")
        stage.says("no noodles", dislike, session="s2")
        assert stage.active() == ["用户讨厌noodles"]

        batch = roll_back(stage, session="bad")

        assert stage.active() == ["用户喜欢rice", "用户讨厌noodles"]
        undo(stage, batch)
        assert stage.active() == ["用户讨厌noodles"]
        stage.check()


class TestDatedStatements:
    def test_one_whose_date_is_past_does_not_keep_a_new_one_out(self) -> None:
        stage = Stage(start=day(10, 1))
        until = TimeFrame(end=day(10, 2), words="until tomorrow")
        stage.says("for now", city("Leeds", time=until), session="s1")
        stage.clock.time = day(10, 5)

        stage.says("since", city("Turin", source="repeated_behaviour"), session="s2")

        assert stage.active() == ["用户住在Turin"]
        stage.check()

    def test_a_past_period_does_not_keep_what_stood_before_from_coming_back(self) -> None:
        stage = Stage(start=day(10, 1))
        stage.says("here", city("Leeds"), session="s1")
        until = TimeFrame(end=day(10, 2), words="until tomorrow")
        stage.says("only until", city("Leeds", time=until), session="bad")
        stage.clock.time = day(10, 5)
        past = TimeFrame(start=day(9, 1), end=day(9, 20), words="in September")
        stage.says("then", city("Turin", intent="late", time=past), session="s2")
        assert stage.active() == []

        batch = roll_back(stage, session="bad")

        assert stage.active() == ["用户住在Leeds"]
        undo(stage, batch)
        assert stage.active() == []
        stage.check()
