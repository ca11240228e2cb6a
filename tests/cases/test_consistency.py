"""Two writers, one owner: nothing is lost, one of them wins, the other decides again and asks nobody."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memstrata import Memstrata, Selector, Turn
from memstrata.application.reports import IngestReport
from memstrata.bootstrap import offline_gate
from memstrata.domain.candidate import Candidate
from memstrata.domain.errors import ConflictError, TurnEditedError
from memstrata.domain.events import Judged
from memstrata.domain.judgement import Judgement
from memstrata.domain.ports import Prepared
from memstrata.pipeline.controller import Gate
from memstrata.pipeline.relate import WordRelations

from ..scenarios.scripted import OWNER, ScriptedExtractor, WillingJudge, city, habit, standing, taste

ROUNDS = 4
"""Repetitions of a race; each starts from a fresh store."""


class CountingExtractor(ScriptedExtractor):
    """Counts how often each turn was analysed, over all threads."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
        with self._lock:
            self.asked[prepared.text] += 1
        return super().extract(prepared, judgement)


class Race:
    """Several services on one file; what each of them does starts at the same moment."""

    def __init__(self, path: Path, services: int = 2) -> None:
        self.extractor = CountingExtractor()
        gate = Gate(
            fast_reject=lambda prepared: None,
            extractors=(self.extractor,),
            judges=(WillingJudge(),),
            normalise=lambda judgement, candidates: judgement,
            relations_of=WordRelations,
        )
        first = Memstrata.open(str(path), gate=gate, durability="fast")
        others = [Memstrata.open(str(path), gate=gate, durability="fast") for _ in range(services - 1)]
        self.services = [first, *others]

    def script(self, text: str, *candidates: dict[str, Any]) -> None:
        self.extractor.script[text] = list(candidates)

    def says(self, service: Memstrata, text: str, session: str = "s1", **fields: Any) -> IngestReport:
        turn = Turn(**{"user": text, "session": session, "message_id": text, **fields})
        return service.ingest(OWNER, [turn])

    def run(self, *acts: Callable[[], Any]) -> list[Any]:
        """Let all acts begin at once, each in its thread; returns results or errors in their order."""
        barrier = threading.Barrier(len(acts))
        results: list[Any] = [None] * len(acts)

        def act(place: int) -> None:
            barrier.wait()
            try:
                results[place] = acts[place]()
            except ConflictError as error:
                results[place] = error

        threads = [threading.Thread(target=act, args=(place,)) for place in range(len(acts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        return results

    def check(self) -> None:
        """Nothing lost, no gap, every turn analysed once, all services and the rebuild agree."""
        first = self.services[0]
        positions = [entry.position for entry in first.log(OWNER)]
        assert positions == list(range(1, len(positions) + 1))
        judged = Counter(
            entry.event.context.message_id for entry in first.log(OWNER) if isinstance(entry.event, Judged)
        )
        assert set(judged) == set(self.extractor.asked)
        assert set(judged.values()) == {1}
        assert set(self.extractor.asked.values()) == {1}
        seen = [[one.memory.content for one in service.memories(OWNER)] for service in self.services]
        assert all(contents == seen[0] for contents in seen)
        folded = [
            sorted(
                m.current.statement.content
                for m in service._states.load(self.owner(service)).active()
                if m.current
            )
            for service in self.services
        ]
        assert all(contents == sorted(seen[0]) for contents in folded)
        assert first.rebuild(check=True).same
        assert [report.problem for report in first.verify()] == [None]

    @staticmethod
    def owner(service: Memstrata) -> Any:
        return service._owner(OWNER)

    def close(self) -> None:
        for service in self.services:
            service.close()


@pytest.fixture(params=range(ROUNDS))
def race(tmp_path: Path) -> Iterator[Race]:
    race = Race(tmp_path / "store.db")
    yield race
    race.close()


def test_two_values_of_one_slot_become_two_versions_of_one_memory(race: Race) -> None:
    for name in ("杭州", "苏州"):
        race.script(name, city(name))
    one, two = race.services

    reports = race.run(lambda: race.says(one, "杭州", "s1"), lambda: race.says(two, "苏州", "s2"))

    actions = sorted(report.turns[0].candidates[0].action for report in reports)
    assert actions == ["UPDATE", "WRITE"]  # the loser replaces, or is a late fact if it was said first
    (listed,) = one.memories(OWNER)
    assert [v.statement.value for v in one.history(OWNER, listed.memory.memory_id) if v.statement]
    assert listed.memory.versions == 2
    race.check()


def test_two_threads_of_one_service_are_no_different(race: Race) -> None:
    for name in ("杭州", "苏州", "无锡"):
        race.script(name, city(name))
    one, two = race.services

    race.run(
        lambda: race.says(one, "杭州", "s1"),
        lambda: race.says(one, "苏州", "s2"),
        lambda: race.says(two, "无锡", "s3"),
    )

    (listed,) = one.memories(OWNER)
    assert listed.memory.versions == 3
    race.check()


def test_two_wordings_of_one_fact_become_one_memory(race: Race) -> None:
    race.script("a", standing("写周报时先写结论，再写风险", "writing"))
    race.script("b", standing("周报先写结论再写风险", "writing"))
    one, two = race.services

    race.run(lambda: race.says(one, "a", "s1"), lambda: race.says(two, "b", "s2"))

    (listed,) = one.memories(OWNER)
    assert listed.memory.confirmations == 1
    race.check()


def test_the_third_and_the_fourth_hint_promote_once(race: Race) -> None:
    for text in "abcd":
        race.script(text, habit("weekly:short", "writing"))
    one, two = race.services
    race.says(one, "a", "s1")
    race.says(two, "b", "s2")
    assert one.memories(OWNER) == []

    reports = race.run(lambda: race.says(one, "c", "s3"), lambda: race.says(two, "d", "s4"))

    reasons = sorted(report.turns[0].candidates[0].reason for report in reports)
    assert reasons == ["duplicate", "promoted_by_repetition"]
    (listed,) = one.memories(OWNER)
    assert listed.memory.versions == 1
    race.check()


def test_a_rollback_and_a_turn_about_something_else_both_come_through(race: Race) -> None:
    race.script("杭州", city("杭州"))
    race.script("苏州", city("苏州"))
    race.script("tea", taste("茶"))
    one, two = race.services
    race.says(one, "杭州", "s1")
    race.says(one, "苏州", "s2")
    plan = one.plan_rollback(OWNER, Selector(session="s2"))

    applied, report = race.run(lambda: one.apply(OWNER, plan), lambda: race.says(two, "tea", "s3"))

    assert applied.batch_id is not None
    assert report.turns[0].status == "new"
    assert sorted(one_.memory.content for one_ in one.memories(OWNER)) == ["用户住在杭州", "用户喜欢茶"]
    race.check()


def test_a_rollback_meets_a_turn_about_the_same_and_one_of_them_sees_the_other(race: Race) -> None:
    for name in ("杭州", "苏州", "无锡"):
        race.script(name, city(name))
    one, two = race.services
    race.says(one, "杭州", "s1")
    race.says(one, "苏州", "s2")
    plan = one.plan_rollback(OWNER, Selector(session="s2"))

    applied, report = race.run(lambda: one.apply(OWNER, plan), lambda: race.says(two, "无锡", "s3"))

    assert report.turns[0].status == "new"
    (listed,) = one.memories(OWNER)
    assert listed.memory.content == "用户住在无锡"
    struck = [v for v in one.history(OWNER, listed.memory.memory_id) if not v.in_force]
    assert len(struck) == (0 if isinstance(applied, ConflictError) else 1)
    race.check()


def test_a_task_that_ends_while_its_turn_comes_in_leaves_nothing_standing(race: Race) -> None:
    race.script(
        "shorter",
        {**standing("报告写短一点", "writing"), "kind": "constraint", "signals": (), "family": None},
    )
    one, two = race.services

    finished, report = race.run(
        lambda: one.finish_task(OWNER, "t1"),
        lambda: race.says(two, "shorter", "s1", task_id="t1"),
    )

    assert finished.batch_id is not None
    (candidate,) = report.turns[0].candidates
    assert (candidate.outcome, candidate.reason) in (("accepted", "new"), ("refused", "task_finished"))
    assert one.memories(OWNER) == []
    race.check()


def test_finishing_a_task_from_two_sides_ends_it_once(race: Race) -> None:
    race.script(
        "shorter",
        {**standing("报告写短一点", "writing"), "kind": "constraint", "signals": (), "family": None},
    )
    one, two = race.services
    race.says(one, "shorter", "s1", task_id="t1")

    done = race.run(lambda: one.finish_task(OWNER, "t1"), lambda: two.finish_task(OWNER, "t1"))

    assert sorted(report.batch_id is None for report in done) == [False, True]
    assert len([batch for batch in one.batches(OWNER) if batch.kind == "task_end"]) == 1
    race.check()


def test_one_batch_is_undone_once(race: Race) -> None:
    for name in ("杭州", "苏州"):
        race.script(name, city(name))
    one, two = race.services
    race.says(one, "杭州", "s1")
    race.says(one, "苏州", "s2")
    batch = one.apply(OWNER, one.plan_rollback(OWNER, Selector(session="s2"))).batch_id
    assert batch is not None
    plans = [service.plan_undo(OWNER, batch) for service in race.services]

    done = race.run(lambda: one.apply(OWNER, plans[0]), lambda: two.apply(OWNER, plans[1]))

    assert len([result for result in done if isinstance(result, ConflictError)]) == 1
    assert [listed.memory.content for listed in one.memories(OWNER)] == ["用户住在苏州"]
    race.check()


def test_a_person_confirms_while_another_hint_comes_in(race: Race) -> None:
    for text in "ab":
        race.script(text, habit("weekly:short", "writing"))
    one, two = race.services
    race.says(one, "a", "s1")
    (held,) = one.held(OWNER)

    race.run(lambda: one.confirm(OWNER, held.memory_id), lambda: race.says(two, "b", "s2"))

    (listed,) = one.memories(OWNER)
    assert listed.memory.memory_id == held.memory_id
    race.check()


def test_the_same_turn_from_two_sides_is_recorded_once(race: Race) -> None:
    race.script("杭州", city("杭州"))
    one, two = race.services

    reports = race.run(lambda: race.says(one, "杭州"), lambda: race.says(two, "杭州"))

    assert sorted(report.turns[0].status for report in reports) in (["known", "new"], ["known", "known"])
    (listed,) = one.memories(OWNER)
    assert (listed.memory.versions, listed.memory.confirmations) == (1, 0)
    assert len([e for e in one.log(OWNER) if isinstance(e.event, Judged)]) == 1
    assert one.rebuild(check=True).same


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    race = Race(tmp_path / "store.db", services=3)
    things = [f"w{writer}x{number}" for writer in range(3) for number in range(12)]
    for thing in things:
        race.script(thing, taste(thing), city(f"city{thing}"))

    def talk(writer: int) -> Callable[[], None]:
        def run() -> None:
            for number in range(12):
                race.says(race.services[writer], f"w{writer}x{number}", f"s{writer}")

        return run

    assert race.run(*(talk(writer) for writer in range(3))) == [None] * 3

    contents = [listed.memory.content for listed in race.services[0].memories(OWNER)]
    assert sorted(c for c in contents if "喜欢" in c) == sorted(f"用户喜欢{thing}" for thing in things)
    (lives,) = [one for one in race.services[0].memories(OWNER) if one.memory.attribute == "city"]
    assert lives.memory.versions == len(things)
    race.check()
    race.close()


def test_what_arrives_after_something_newer_gets_its_own_past_period(tmp_path: Path) -> None:
    race = Race(tmp_path / "store.db")
    for name in ("杭州", "苏州"):
        race.script(name, city(name))
    one, two = race.services
    monday, tuesday = datetime(2026, 10, 5, 9, tzinfo=UTC), datetime(2026, 10, 6, 9, tzinfo=UTC)

    race.says(one, "苏州", "s1", at=tuesday)
    report = race.says(two, "杭州", "s2", at=monday)

    (candidate,) = report.turns[0].candidates
    assert (candidate.action, candidate.outcome) == ("UPDATE", "accepted")
    (listed,) = one.memories(OWNER)
    assert listed.memory.content == "用户住在苏州"
    (then,) = one.memories(OWNER, valid_at=monday)
    assert then.statement is not None
    assert then.statement.value == "杭州"
    race.check()
    race.close()


def test_an_edited_turn_that_meets_its_revision_from_the_other_side_is_refused_or_replaced(
    race: Race,
) -> None:
    for name in ("杭州", "苏州"):
        race.script(name, city(name))
    one, two = race.services

    def says(service: Memstrata, text: str) -> IngestReport:
        turn = Turn(user=text, session="s1", message_id="m1")
        return service.ingest(OWNER, [turn], revise=service is two)

    results = race.run(lambda: says(one, "杭州"), lambda: says(two, "苏州"))

    (listed,) = one.memories(OWNER)
    assert listed.memory.content == "用户住在苏州"
    assert isinstance(results[0], TurnEditedError) or results[1].turns[0].status == "revised"
    assert one.rebuild(check=True).same


def test_owners_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    with Memstrata.open(path, durability="fast") as one, Memstrata.open(path, durability="fast") as two:
        said = [Turn(user=f"我住在{name}", session="s1") for name in ("成都", "绵阳", "乐山")]

        def talk(service: Memstrata, owner: str) -> Callable[[], Any]:
            return lambda: [service.ingest(owner, [turn]) for turn in said]

        barrier = threading.Thread(target=talk(two, "acme/b"))
        barrier.start()
        talk(one, "acme/a")()
        barrier.join(60)

        for owner in ("acme/a", "acme/b"):
            (listed,) = one.memories(owner)
            assert (listed.memory.value, listed.memory.versions) == ("乐山", 3)
        assert one.rebuild(check=True).same


def test_the_real_gate_reads_a_turn_once_even_when_it_loses(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    seen: Counter[str] = Counter()
    real = offline_gate()

    class Watching:
        def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
            seen[prepared.text] += 1
            return real.extractors[0].extract(prepared, judgement)

    gate = Gate(real.fast_reject, (Watching(),), real.judges, real.normalise, real.relations_of)
    now = datetime.now(UTC)
    with Memstrata.open(path, gate=gate) as one, Memstrata.open(path, gate=gate) as two:
        turns = [
            Turn(user=f"我住在{name}", session=name, at=now) for name in ("成都", "绵阳", "乐山", "宜宾")
        ]
        sides = [
            threading.Thread(target=lambda s=s, part=part: [s.ingest(OWNER, [t]) for t in part])
            for s, part in ((one, turns[:2]), (two, turns[2:]))
        ]
        for side in sides:
            side.start()
        for side in sides:
            side.join(60)
        (listed,) = one.memories(OWNER)

    assert listed.memory.versions + listed.memory.confirmations == 4
    assert set(seen.values()) == {1}
