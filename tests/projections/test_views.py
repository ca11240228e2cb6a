"""What the views answer about one owner, and about nobody else."""

from datetime import timedelta

import pytest
from contracts.histories import (
    NOON,
    batch_closed,
    batch_opened,
    created,
    endorsed,
    erased,
    expired,
    judged,
    proposed,
    rolled_back,
    statement,
    stream,
    superseded,
    updated,
)

from memstrata.adapters.storage import SqlEventStore
from memstrata.adapters.storage.views import SqlViews, rebuild
from memstrata.domain.events import Event
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.scope import Scope
from memstrata.domain.stream import NewEvent
from memstrata.projections.memories import Shaping
from memstrata.projections.ports import Counts, DecisionQuery, Found

LIN, WEI = Owner(tenant="local", user="lin"), Owner(tenant="local", user="wei")
M1, M2, M3, T1, T2 = stream(1), stream(2), stream(3), stream(0x81), stream(0x82)
LATER = NOON + timedelta(days=1)


class Writer:
    """Appends single events and counts the versions of the streams."""

    def __init__(self, store: SqlEventStore) -> None:
        self._store, self._versions = store, dict[str, int]()

    def write(self, stream_id: str, *events: Event, owner: Owner = LIN) -> int:
        position = 0
        for event in events:
            version = self._versions[stream_id] = self._versions.get(stream_id, 0) + 1
            new = NewEvent(stream_id, version, event)
            position = self._store.append(Append(owner, [new], None))[0].position
        return position


@pytest.fixture
def writer(store: SqlEventStore) -> Writer:
    return Writer(store)


def contents(views: SqlViews, owner: Owner = LIN, **query: object) -> list[str]:
    return [item.memory.content for item in views.memories(owner, **query)]  # type: ignore[arg-type]


def test_nobody_sees_what_is_another_owners(writer: Writer, views: SqlViews) -> None:
    writer.write(T1, judged(T1), proposed(T1, "joke", "refused"))
    writer.write(M1, proposed(T1, "15k", "accepted", target=M1), created(statement("15k")))

    assert views.memories(WEI, valid_at=LATER) == []
    assert views.memories(WEI, as_of=4) == []
    assert views.memory(WEI, M1) is None
    assert views.memory(WEI, M1, as_of=4) is None
    assert views.versions(WEI, M1) == views.periods(WEI, M1) == views.known_periods(WEI, M1) == []
    assert views.versions(WEI, M1, as_of=4) == []
    assert views.decisions(WEI, DecisionQuery()) == []
    assert views.turn(WEI, T1) is None
    assert views.resolve(WEI, "0") == []
    assert views.counts(WEI) == Counts(memories={}, decisions={}, turns=0)


def test_a_row_tells_what_stands_and_what_lent_it_support(writer: Writer, views: SqlViews) -> None:
    said = statement("20k", LATER, scope=Scope(kind="family", anchor="writing"), until=LATER + timedelta(9))
    writer.write(M1, proposed(T1, "15k", "accepted", target=M1), created(statement("15k")))
    writer.write(M1, updated("replace", said), proposed(T1, "20k", "confirmed", target=M1))
    last = writer.write(M1, endorsed("pinned"))

    row = views.memory(LIN, M1)

    assert row is not None
    assert row.statement == said
    assert (row.status, row.content, row.value, row.type) == ("active", "20k", "20k", "important_fact")
    assert (row.scope_kind, row.scope_anchor, row.scope_rank) == ("family", "writing", 2)
    assert (row.valid_from, row.ends_at) == (LATER, LATER + timedelta(9))
    assert (row.chain_version, row.versions, row.stream_version) == (2, 2, 5)
    assert (row.confirmations, row.pinned, row.hints) == (1, True, 0)
    assert (row.created_pos, row.updated_pos) == (1, last)
    assert (row.slot_key, row.tokens) == ("user\x1fexpected_salary\x1ffamily", "20k")


def test_a_stream_of_refused_proposals_is_no_memory(writer: Writer, views: SqlViews) -> None:
    writer.write(M1, proposed(T1, "15k", "refused", target=M1))

    assert views.memories(LIN) == []
    assert views.counts(LIN) == Counts(memories={}, decisions={"refused": 1}, turns=0)


def test_a_held_memory_whose_hints_are_undone_is_none_until_the_undo_is_undone(
    writer: Writer, views: SqlViews
) -> None:
    writer.write(M1, proposed(T1, "short reports", "held", target=M1))
    writer.write(M1, rolled_back(1))
    undone = views.memories(LIN)
    writer.write(M1, rolled_back(2))

    assert undone == []
    assert contents(views, status="held") == ["short reports"]


def test_held_memories_wait_in_the_queue_and_hold_nothing(writer: Writer, views: SqlViews) -> None:
    hint = statement("short reports", confidence=0.65)
    writer.write(M1, proposed(T1, "short reports", "held", target=M1, stated=hint, task="t1"))
    writer.write(M1, proposed(T2, "short reports", "held", target=M1, stated=hint, task="t2"))
    writer.write(M1, proposed(T2, "short reports", "held", target=M1, stated=hint, task="t2"))

    (held,) = views.memories(LIN, status="held")

    assert (held.memory.hints, held.memory.occasions, held.memory.confidence) == (3, 2, 0.65)
    assert held.statement == hint
    assert views.memories(LIN, valid_at=LATER) == []


def test_a_held_candidate_without_a_statement_shows_what_was_proposed(
    writer: Writer, views: SqlViews
) -> None:
    writer.write(M1, proposed(T1, "tea", "held", target=M1))

    (held,) = views.memories(LIN, status=["held"])

    assert (held.memory.content, held.memory.attribute) == ("tea", "expected_salary")
    assert (held.memory.statement, held.memory.type, held.memory.scope_kind) == (None, None, None)


def test_a_superseded_memory_names_its_successor(writer: Writer, views: SqlViews) -> None:
    writer.write(M1, created(statement("lead with blockers")), superseded(M2, LATER))

    row = views.memory(LIN, M1)

    assert row is not None
    assert (row.status, row.closing, row.successor, row.closed_at) == ("superseded", "superseded", M2, LATER)


def test_lists_are_filtered_by_scope_and_cut_after_the_oldest(writer: Writer, views: SqlViews) -> None:
    family = Scope(kind="family", anchor="writing")
    writer.write(M3, created(statement("first")))
    writer.write(M1, created(statement("second", scope=family)))
    writer.write(M2, created(statement("third", scope=family)))

    assert contents(views, valid_at=LATER) == ["first", "second", "third"]
    assert contents(views, valid_at=LATER, scope="family") == ["second", "third"]
    assert contents(views, valid_at=LATER, as_of=2, scope="family") == ["second"]
    assert contents(views, scope="family", limit=1) == ["second"]
    assert contents(views, limit=2) == contents(views, limit=2, as_of=3) == ["first", "second"]
    assert contents(views, as_of=3, scope="global") == ["first"]


def test_statuses_are_those_of_the_time_that_is_asked_about(writer: Writer, views: SqlViews) -> None:
    before = writer.write(M1, created(statement("15k")))
    writer.write(M1, expired("ended", LATER))

    assert contents(views, status="active") == []
    assert contents(views, status="active", as_of=before) == ["15k"]
    assert contents(views, status="active", valid_at=NOON) == []
    assert contents(views, status="ended", valid_at=NOON) == ["15k"]
    assert contents(views, status="active", valid_at=NOON, as_of=before) == ["15k"]


def test_decisions_are_found_by_what_they_are_about(writer: Writer, views: SqlViews) -> None:
    writer.write(T1, judged(T1, "one", NOON, "s1"), proposed(T1, "joke", "refused", session="s1"))
    writer.write(T2, judged(T2, "two", LATER, "s2"))
    writer.write(M1, proposed(T2, "15k", "accepted", target=M1, said_at=LATER, session="s2"))

    def positions(query: DecisionQuery) -> list[int]:
        return [row.position for row in views.decisions(LIN, query)]

    assert positions(DecisionQuery()) == [1, 2, 3, 4]
    assert positions(DecisionQuery(limit=2)) == [3, 4]
    assert positions(DecisionQuery(session="s1")) == [1, 2]
    assert positions(DecisionQuery(kind="judged")) == [1, 3]
    assert positions(DecisionQuery(outcome="refused")) == [2]
    assert positions(DecisionQuery(since=LATER)) == [3, 4]
    assert positions(DecisionQuery(until=LATER)) == [1, 2]
    assert positions(DecisionQuery(turn_id=T2)) == [3, 4]
    assert positions(DecisionQuery(memory_id=M1)) == [4]
    assert positions(DecisionQuery(correlation_id=T1, outcome="refused")) == [2]


def test_a_decision_is_found_by_its_event_with_all_that_was_recorded(writer: Writer, views: SqlViews) -> None:
    event = proposed(T1, "15k", "accepted", target=M1, stated=statement("15k"))
    gate = judged(T1)
    writer.write(T1, gate)
    writer.write(M1, event, created(statement("15k")))
    (made, *_) = views.decisions(LIN, DecisionQuery(memory_id=M1))

    assert views.decision(LIN, made.ref) == made
    assert made.candidate == event.candidate
    assert (made.rule, made.reason, made.confidence) == ("r7", "because", 0.92)
    assert views.decisions(LIN, DecisionQuery(kind="judged"))[0].judgement == gate.judgement
    assert views.decision(LIN, views.versions(LIN, M1)[0].ref) is None


def test_undone_decisions_stay_and_say_by_which_batch(writer: Writer, views: SqlViews) -> None:
    writer.write(M1, proposed(T1, "15k", "held", target=M1), rolled_back(1, batch=stream(0xB1)))

    (row,) = views.decisions(LIN, DecisionQuery(in_force=False))

    assert (row.in_force, row.struck_by) == (False, stream(0xB1))
    assert views.counts(LIN).decisions == {}
    writer.write(M1, rolled_back(2, batch=stream(0xB2)))
    assert views.decisions(LIN, DecisionQuery(in_force=False)) == []


def test_ids_are_found_by_their_first_digits(store: SqlEventStore, writer: Writer, views: SqlViews) -> None:
    batch = stream(0xB1)
    writer.write(M1, created(statement("15k")))
    writer.write(M2, created(statement("20k")))
    writer.write(T1, judged(T1))
    writer.write(store.ledger_id(LIN), batch_opened(batch), batch_closed(batch, 3))

    assert views.resolve(LIN, "0") == [Found("memory", M1), Found("memory", M2)]
    assert views.resolve(LIN, M1) == [Found("memory", M1)]
    assert views.resolve(LIN, "81") == [Found("turn", T1)]
    assert views.resolve(LIN, "b1") == [Found("batch", batch)]
    assert views.resolve(LIN, "f") == []
    assert views.resolve(LIN, "%") == views.resolve(LIN, "") == views.resolve(LIN, "0" * 33) == []
    assert [(b.batch_id, b.written, b.closed_pos) for b in views.batches(LIN)] == [(batch, 3, 5)]


def test_turns_are_listed_by_session(writer: Writer, views: SqlViews) -> None:
    writer.write(T1, judged(T1, "one", session="s1"))
    writer.write(T2, judged(T2, "two", session="s2"))

    assert [turn.text for turn in views.turns(LIN)] == ["one", "two"]
    assert [turn.text for turn in views.turns(LIN, session="s2")] == ["two"]
    assert [turn.text for turn in views.turns(LIN, limit=1)] == ["two"]


def test_an_erased_memory_leaves_no_words_in_any_row(
    store: SqlEventStore, writer: Writer, views: SqlViews, shaping: Shaping
) -> None:
    writer.write(M1, proposed(T1, "a secret", "accepted", target=M1), created(statement("a secret")))
    position = writer.write(M1, proposed(T1, "a secret", "confirmed", target=M1))
    writer.write(M1, erased())
    writer.write(M1, proposed(T1, "a secret", "refused", target=M1))

    row = views.memory(LIN, M1)

    assert row is not None
    assert (row.status, row.content, row.statement, row.tokens) == ("erased", "", None, "")
    assert views.memory(LIN, M1, as_of=position) == row
    assert views.memories(LIN, valid_at=LATER, as_of=position) == []
    assert views.memories(LIN, as_of=position) == []
    assert [version.statement for version in views.versions(LIN, M1)] == [None]
    assert {(d.content, d.candidate) for d in views.decisions(LIN, DecisionQuery())} == {("", None)}
    assert rebuild(store, shaping, check=True).same
