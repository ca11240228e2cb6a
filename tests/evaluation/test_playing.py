"""How a case is played: given memories, the clock, the state of the session, and what counts as merged."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from evaluation.scripting import ScriptedExtractor, case_of, city, fact, located, play_all, play_one

from memstrata.application.evaluation import Played, judge
from memstrata.application.importing import ImportedMemory
from memstrata.application.reports import CandidateReport, TurnReport
from memstrata.bootstrap import Memstrata
from memstrata.domain.candidate import Candidate
from memstrata.domain.events import Created, Proposed
from memstrata.domain.scope import Scope
from memstrata.domain.statement import Statement
from memstrata.domain.values import Action

NOON = datetime.fromisoformat("2026-03-02T12:00:00+08:00")


def test_the_turns_are_a_minute_apart_in_one_session() -> None:
    extractor = ScriptedExtractor({})

    play_all([case_of({}, "one", "two", "three", now=NOON.isoformat())], {}, extractor=extractor)

    assert [p.context.said_at - NOON for p in extractor.seen] == [n * timedelta(minutes=1) for n in range(3)]
    assert len({p.context.session for p in extractor.seen}) == 1
    assert [text for _, text in extractor.seen[-1].history] == ["one", "two"]
    assert extractor.seen[0].context.zone == "UTC+08:00"


def test_the_clock_is_ten_in_the_morning_unless_the_case_says_otherwise() -> None:
    extractor = ScriptedExtractor({})

    play_all([case_of({})], {}, extractor=extractor)

    assert extractor.seen[0].context.said_at.isoformat() == "2026-03-02T10:00:00+08:00"


def test_the_state_of_the_session_lasts_until_a_turn_changes_it() -> None:
    extractor = ScriptedExtractor({})
    case = case_of(
        {},
        "one",
        {"user": "two", "session": {"task_id": "t-2", "recent_tasks": ["t-1"]}},
        "three",
        {"user": "four", "session": {"project": None}},
        given={"session": {"task": "写周报", "task_id": "t-1", "project": "p-1"}},
    )

    play_all([case], {}, extractor=extractor)

    states = [(p.turn.task, p.turn.task_id, p.turn.project, p.turn.recent_tasks) for p in extractor.seen]
    assert states == [
        ("写周报", "t-1", "p-1", ()),
        ("写周报", "t-2", "p-1", ("t-1",)),
        ("写周报", "t-2", "p-1", ("t-1",)),
        ("写周报", "t-2", None, ("t-1",)),
    ]


def test_a_turn_for_which_extraction_is_not_allowed_is_not_looked_at() -> None:
    extractor = ScriptedExtractor({"x": [fact("用户喜欢爬山")]})
    case = case_of({"write": False, "action": "SKIP"}, {"user": "x", "allow_extraction": False})

    outcome = play_all([case], {}, extractor=extractor)

    assert extractor.seen == []
    assert outcome.verdicts[0].right


@pytest.mark.parametrize("scope", ["current_task", "project", "writing_tasks", "global"])
def test_given_memories_hold_in_their_scope_for_this_session(scope: str) -> None:
    case = case_of(
        {"write": True, "action": "UPDATE", "target": "m1"},
        given={
            "session": {"task": "写周报", "task_id": "w-1", "project": "p-1"},
            "memories": [
                {"id": "m1", "content": "用户住在杭州", "attribute": "city", "value": "杭州", "scope": scope}
            ],
        },
    )
    assert play_one(case, city("上海", intent="change")).verdicts[0].right


class TestMerging:
    """The policy merges nothing yet; what the judge makes of a merge is shown on made-up outcomes."""

    def statement(self, content: str, value: str | None = None) -> Statement:
        with Memstrata.open("sqlite://") as memory:
            memory.import_memories("a/b", [ImportedMemory(content=content, value=value)])
            return memory.by_status("a/b", "active")[0].statement  # type: ignore[return-value]

    def played(self, before: Statement | None, after: Statement, taken: Action, **expect: Any) -> Played:
        case = located(case_of(expect, given={"memories": [{"id": "m1", "content": "x"}]})).case
        candidate = Candidate(
            kind="fact", attribute="fact", content="x", extractor="e", rule="r", category="important_fact"
        )
        report = CandidateReport(candidate, taken, "accepted", "merged", "r", after, "1" * 32)
        return Played(
            case,
            {"m1": "1" * 32},
            {"1" * 32: before} if before else {},
            {"1" * 32: after},
            TurnReport("new", "2" * 32, "case", None, NOON, candidates=[report]),
        )

    def test_a_merge_may_add_to_a_memory_that_must_stay(self) -> None:
        before = self.statement("用户对坚果过敏")
        after = self.statement("用户对坚果过敏，一点都不能碰")

        right = judge(self.played(before, after, "MERGE", action=["MERGE"], unchanged=["m1"]))
        wrong = judge(self.played(before, after, "UPDATE", unchanged=["m1"]))

        assert (right.conflict_right, wrong.conflict_right) == (True, False)

    def test_what_the_memory_said_must_still_stand_in_it(self) -> None:
        before, after = self.statement("用户对坚果过敏"), self.statement("用户不吃坚果")

        assert judge(self.played(before, after, "MERGE", unchanged=["m1"])).conflict_right is False

    def test_a_held_proposal_that_becomes_active_counts_as_a_write(self) -> None:
        after = self.statement("用户喜欢靠里的场地")

        verdict = judge(self.played(None, after, "HOLD", write=True, action="WRITE", contains=[["靠里"]]))

        assert verdict.right

    def test_weight_alone_is_no_change(self) -> None:
        before = self.statement("用户对坚果过敏")
        after = before.model_copy(update={"confidence": 0.5, "importance": 5, "valid_from": NOON})

        assert judge(self.played(before, after, "UPDATE", write=False)).wrong_write is False


def test_given_memories_enter_as_an_accepted_import() -> None:
    with Memstrata.open("sqlite://") as memory:
        scope = Scope(kind="family", anchor="writing")
        memory.import_memories("a/b", [ImportedMemory(content="结论先行", type="preference", scope=scope)])
        events = [recorded.event for recorded in memory.log("a/b")]

    proposed = next(event for event in events if isinstance(event, Proposed))
    created = next(event for event in events if isinstance(event, Created))
    assert (proposed.outcome, proposed.candidate.channel, proposed.actor) == (
        "accepted",
        "import",
        "operator:import",
    )
    assert created.statement == proposed.statement
    assert created.statement.evidence[0].kind == "import"
    assert created.statement.confidence == 0.92
    assert created.statement.provenance.source == "attestation"
    assert (created.statement.attribute, created.statement.scope) == ("preference", scope)
