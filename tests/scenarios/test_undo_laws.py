"""The laws of undo, held against random conversations."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memstrata.domain.events import Created, Proposed, Updated
from memstrata.domain.plan import PROVISIONAL, Plan
from memstrata.domain.selector import Selector

from .conversations import Step, World

NIGHTLY = os.environ.get("MEMSTRATA_HYPOTHESIS") == "nightly"
"""Thousands of conversations instead of a handful."""

few = settings(
    max_examples=2_000 if NIGHTLY else 25,
    deadline=None,
    derandomize=not NIGHTLY,
    database=None,
    suppress_health_check=list(HealthCheck),
)

# --- conversations ---------------------------------------------------------------------------------

CITIES, THINGS, MANNERS = ("Leeds", "Turin", "Osaka"), ("noodles", "rice"), ("blockers", "results", "risks")


def _tuples(*parts: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*(p if isinstance(p, st.SearchStrategy) else st.just(p) for p in parts))


cities, things, manners = st.sampled_from(CITIES), st.sampled_from(THINGS), st.sampled_from(MANNERS)
words = st.one_of(
    _tuples("city", cities, st.sampled_from(["assert", "change", "correct"])),
    _tuples("guess", cities),
    _tuples("unsure", cities),
    _tuples("dated", cities, st.integers(1, 8)),
    _tuples("late", cities, st.integers(5, 9), st.integers(0, 4)),
    _tuples("taste", things, st.sampled_from(["positive", "negative"])),
    _tuples("only", things),
    _tuples("instead", things, things),
    _tuples("report", manners),
    _tuples("once", manners),
    _tuples("habit", st.sampled_from(["short reports", "tables first"])),
    _tuples("stage", st.sampled_from(["interviews", "offer"]), st.booleans()),
    _tuples("drop", "city", cities, st.sampled_from(["retract", "end"])),
    _tuples("drop", "taste", things, st.sampled_from(["retract", "end"])),
)
number = st.integers(0, 30)
tasks = st.one_of(st.none(), st.integers(0, 3))
says = _tuples("say", words, st.integers(0, 2), st.integers(0, 2), tasks)
deeds = st.one_of(
    _tuples("revise", number, words),
    _tuples(
        "person",
        st.sampled_from(["confirm", "reject", "correct", "forget", "pin", "unpin"]),
        number,
        st.sampled_from(["用户住在Lima", "用户喜欢tea"]),
    ),
    _tuples("task", st.sampled_from(["finish", "start"]), st.integers(0, 3)),
    _tuples("import", "city", cities),
    _tuples("import", "taste", things),
)
kinds = st.sampled_from(
    ["session", "turn", "extractor", "rule", "window", "memory", "after", "actor", "batch"]
)
selections = _tuples(kinds, number, number)
undos = _tuples("undo", kinds, number, number)
conversations = st.lists(st.one_of(says, says, says, deeds), min_size=1, max_size=9)
mixtures = st.lists(st.one_of(says, says, says, deeds, undos), min_size=2, max_size=12)


def play(steps: Sequence[Step]) -> World:
    world = World()
    for step in steps:
        world.play(step)
    return world


# --- what must hold --------------------------------------------------------------------------------


def check_store(world: World) -> None:
    """Rebuilt views equal the live ones, the chain verifies, repeating writes nothing, no gaps."""
    world.repeat()
    positions = [entry.position for entry in world.log()]
    assert positions == list(range(1, len(positions) + 1))


def check_slots(world: World) -> None:
    """No two active memories are about the same thing."""
    state = world.state
    keys = Counter(state.slot(m.current.statement).key for m in state.active() if m.current)
    assert [key for key, count in keys.items() if count > 1] == []


def check_support(world: World) -> None:
    """Every version in force rests on what is in force: the words, hints or deeds it came from."""
    log = world.log()
    struck = world.struck()
    for entry in log:
        key, event = (entry.stream_id, entry.stream_version), entry.event
        if key in struck or not isinstance(event, Created | Updated):
            continue
        legs = [(ref.stream, ref.version) for ref in event.caused_by]
        based = [(ref.stream, ref.version) for ref in event.based_on]
        assert not [key for key in based if key in struck], (event.statement.content, "based on struck")
        if legs:
            assert [leg for leg in legs if leg not in struck], (event.statement.content, "no leg")
        turn = event.statement.provenance.turn_id
        if turn is None or legs:
            continue
        said = [
            e
            for e in log
            if isinstance(e.event, Proposed)
            and (e.stream_id, e.stream_version) not in struck
            and e.event.context.turn_id == turn
        ]
        assert said, (event.statement.content, "nobody said it")


def check_plan(world: World, plan: Plan) -> str | None:
    """What the plan says is what happens; planning again says the same; an empty one writes nothing."""
    assert world.plan(plan.selector).token == plan.token
    before, position = world.statements(), world.stage.position
    batch = world.apply(plan)
    after = world.statements()
    if plan.empty:
        assert (batch, world.stage.position) == (None, position)
        return None
    told = {e.memory_id: e for e in plan.effects}
    assert len(told) == len(plan.effects)
    opened = [e for e in plan.effects if e.memory_id.startswith(PROVISIONAL)]
    for memory_id in {*before, *after}:
        was, now = before.get(memory_id), after.get(memory_id)
        if memory_id in told:
            assert (told[memory_id].before, told[memory_id].after) == (was, now)
        elif memory_id in before:
            assert was == now, ("not in the plan", was, now)
    new = [s for m, s in after.items() if m not in before and s is not None]
    foreseen = [e.after for e in opened if e.after is not None]
    assert sorted(str(s) for s in new) == sorted(str(s) for s in foreseen)
    return batch


def roll_back_checked(world: World, selector: Selector) -> None:
    """Apply, undo, apply again: the undo restores all that is current."""
    before = world.views()
    batch = check_plan(world, world.plan(selector))
    check_slots(world)
    check_support(world)
    if batch is None:
        return
    rolled_back = world.statements()
    undone = check_plan(world, world.plan(Selector(batch=batch)))
    assert_same(world.views(), before)
    assert undone is not None
    again = check_plan(world, world.plan(Selector(batch=undone)))
    now = {m: s for m, s in world.statements().items() if m in rolled_back}
    assert now == rolled_back
    assert again is not None


def assert_same(now: dict[str, Any], before: dict[str, Any]) -> None:
    """Names only what differs."""
    differing = {}
    for key in {*now, *before}:
        one, other = now.get(key), before.get(key)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            one, other = (
                {k: v for k, v in a.items() if b.get(k, "-") != v} for a, b in ((one, other), (other, one))
            )
        differing[key] = {"now": one, "before": other}
    assert differing == {}


@few
@given(mixtures)
def test_an_undo_does_what_its_plan_says_and_can_be_taken_back(steps: list[Step]) -> None:
    world = World()
    for step in steps:
        if step[0] != "undo":
            world.play(step)
            check_slots(world)
            continue
        world.skip()
        selector = world.selector(*step[1:])
        if selector.batch is None or selector.batch in world.standing_batches():
            roll_back_checked(world, selector)
    check_store(world)


@few
@given(conversations, st.lists(selections, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_undoing_every_rollback_in_any_order_leaves_the_views_without_any(
    steps: list[Step], chosen: list[Step], random: Any
) -> None:
    world = play(steps)
    before, batches = world.views(), []
    for selection in chosen:
        if selection[0] == "batch":
            continue
        batch = check_plan(world, world.plan(world.selector(*selection)))
        check_slots(world)
        check_support(world)
        if batch is not None:
            batches.append(batch)
    random.shuffle(batches)
    for batch in batches:
        check_plan(world, world.plan(Selector(batch=batch)))
        check_slots(world)
        check_support(world)
    assert_same(world.views(), before)
    check_store(world)


@few
@given(st.lists(says, min_size=2, max_size=8), st.integers(0, 2))
def test_without_a_session_stands_what_would_stand_had_it_never_been(steps: list[Step], session: int) -> None:
    world, other = play(steps), World()
    for step in steps:
        if step[2] == session:
            other.skip()
        else:
            other.play(step)
    check_plan(world, world.plan(Selector(session=f"s{session}")))
    assert world.saying() == other.saying()
