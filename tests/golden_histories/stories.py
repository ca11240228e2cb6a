"""The stories that golden histories are recorded from.

A history is what the service made of its story on the day it was recorded; a later service may decide
otherwise, and the recorded history stays. Most stories script what the gate finds, so that each turn
leads to one kind of event; the mixed one speaks to the real gate.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scenarios.scripted import (
    ScriptedExtractor,
    SteppingClock,
    WillingJudge,
    city,
    day,
    dropped,
    habit,
    standing,
    taste,
)

from memstrata import Memstrata, Selector, Turn
from memstrata.adapters.storage import open_store
from memstrata.adapters.storage.views import SqlViews, ViewProjector
from memstrata.application.importing import ImportedMemory
from memstrata.bootstrap import load_policy, offline_gate, value_of
from memstrata.domain.candidate import Signal, TimeFrame
from memstrata.domain.events import Endorsed, Erased, Event, Updated
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent
from memstrata.pipeline.controller import Gate
from memstrata.pipeline.relate import WordRelations
from memstrata.pipeline.text import tokens
from memstrata.projections.memories import Shaping
from memstrata.service import Parts

from .history import create_store

ANE = "harbour/ane"
BO = "harbour/bo"
OPERATOR = "operator:signe"

# Slots and tokens are no part of a history, so any will do.
SHAPING = Shaping(slot_key=lambda statement: statement.attribute, tokens=tokens)


class CountedIds:
    """Ids that follow from how many were given: 16 scattered digits, then the number."""

    def __init__(self) -> None:
        self._given = 0

    def new_id(self) -> str:
        self._given += 1
        return f"{self._given * 0x9E3779B97F4A7C15 % (1 << 64):016x}{self._given:016x}"


class Telling:
    """A real store in a file, on a clock that ticks by the second from the first of October."""

    def __init__(self, path: Path, pepper: str) -> None:
        self.clock = SteppingClock(day(10, 1))
        create_store(path, pepper, self.clock)
        self.policy = load_policy()
        self.extractor = ScriptedExtractor()
        self.scripted = Gate(
            fast_reject=lambda prepared: None,
            extractors=(self.extractor,),
            judges=(WillingJudge(),),
            normalise=lambda judgement, candidates: judgement,
            relations_of=WordRelations,
        )
        self.store = open_store(str(path), clock=self.clock, projector=ViewProjector(SHAPING))
        self.store.keep_policy(self.policy.fingerprint, self.policy.canonical)
        self._ids = CountedIds()
        self.memory = self._on(lambda: self.scripted)
        self.owners: set[str] = set()
        self.owner = ANE

    def _on(self, gate: Callable[[], Gate]) -> Memstrata:
        views = SqlViews(self.store, SHAPING)
        parts = Parts(
            store=self.store,
            views=views,
            policy=self.policy,
            policy_of=lambda _: self.policy,
            build_gate=gate,
            clock=self.clock,
            ids=self._ids,
            value_of=value_of,
        )
        return Memstrata(parts, self.store, views, SHAPING)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    # --- telling ---------------------------------------------------------------------------------

    def at(self, month: int, date: int, hour: int = 9) -> Self:
        self.clock.time = day(month, date, hour)
        return self

    def speaks(self, owner: str) -> Self:
        self.owner = owner
        return self

    def with_the_real_gate(self) -> Self:
        self.memory = self._on(offline_gate)
        return self

    def says(
        self, text: str, *candidates: dict[str, Any], session: str = "s1", revise: bool = False, **turn: Any
    ) -> str:
        """Let the owner say something in which the gate finds the candidates; returns the turn's id."""
        self.owners.add(self.owner)
        self.extractor.script[text] = list(candidates)
        said = Turn(user=text, session=session, **{"assistant": "好。", "tz": "Asia/Shanghai", **turn})
        return self.memory.ingest(self.owner, [said], revise=revise).turns[0].turn_id

    def id_of(self, content: str) -> str:
        """The memory that once said it, or waits to."""
        for entry in self.memory.log(self.owner):
            statement = getattr(entry.event, "statement", None)
            target = getattr(entry.event, "target", entry.stream_id)
            if statement is not None and statement.content == content and target == entry.stream_id:
                return entry.stream_id
        raise AssertionError(f"nothing ever said {content!r}")

    def rolls_back(self, **selector: Any) -> str:
        plan = self.memory.plan_rollback(self.owner, Selector(**selector))
        return self._applied(plan)

    def undoes(self, batch: str) -> str:
        return self._applied(self.memory.plan_undo(self.owner, batch))

    def _applied(self, plan: Any) -> str:
        report = self.memory.apply(self.owner, plan, actor=OPERATOR, reason="looked wrong")
        assert report.batch_id is not None
        return report.batch_id

    def appends(self, stream_id: str, *events: Event) -> None:
        """Put events in by hand that no command of today writes."""
        owner = Owner.parse(self.owner)
        version = len(self.store.read_stream(owner, stream_id))
        new = [NewEvent(stream_id, version + n, event) for n, event in enumerate(events, start=1)]
        self.store.append(Append(owner, new, self.store.owner_position(owner)))

    def header(self, actor: str) -> dict[str, Any]:
        moment = self.clock.now()
        return {
            "actor": actor,
            "correlation_id": self._ids.new_id(),
            "policy": self.policy.fingerprint,
            "said_at": moment,
        }


# --- candidates ----------------------------------------------------------------------------------


def during(start: datetime | None, end: datetime | None, words: str) -> TimeFrame:
    return TimeFrame(start=start, end=end, words=words)


def only(thing: str) -> dict[str, Any]:
    signal = Signal(kind="exclusive", text="只", start=0, end=1)
    return taste(thing, exclusive=True, content=f"用户只喜欢{thing}", signals=(signal,))


def for_this_one(content: str, **more: Any) -> dict[str, Any]:
    limiting = Signal(kind="limiting", text="this", start=0, end=1)
    return {
        "kind": "constraint",
        "attribute": "instruction",
        "content": content,
        "importance": 4,
        "signals": (limiting,),
        **more,
    }


def everywhere(content: str) -> dict[str, Any]:
    lasting = Signal(kind="lasting", text="always", start=0, end=1)
    everything = Signal(kind="everything", text="everything", start=0, end=1)
    return {
        "kind": "preference",
        "attribute": "instruction",
        "content": content,
        "importance": 4,
        "signals": (lasting, everything),
    }


def stage_of_search(value: str, *, final: bool = False) -> dict[str, Any]:
    return {
        "kind": "state",
        "attribute": "job_search_status",
        "value": value,
        "content": f"求职进度：{value}",
        "importance": 4,
        "final": final,
    }


def salary(value: str) -> dict[str, Any]:
    return {
        "kind": "fact",
        "attribute": "expected_salary",
        "value": value,
        "content": f"期望薪资{value}",
        "category": "important_fact",
        "importance": 4,
    }


# --- stories -------------------------------------------------------------------------------------


def a_town_told_four_ways(tell: Telling) -> None:
    """Created, replaced, corrected, a past period; said again, doubted, ended, retracted."""
    tell.at(10, 1).says("I live down in Viborg", city("Viborg"), session="s1")
    tell.at(10, 3).says("Viborg it still is", city("Viborg"), session="s2")
    tell.at(10, 8).says("moved over to Ribe", city("Ribe"), session="s3")
    tell.at(10, 9).says("perhaps Skive one day", city("Skive", certainty="uncertain"), session="s3")
    wrong = during(day(10, 8), day(10, 9), "on the 8th")
    tell.at(10, 12).says("not Ribe, Tønder", city("Tønder", intent="correct", time=wrong), session="s4")
    past = during(day(5, 1), day(7, 1), "in May and June")
    tell.at(10, 15).says("May and June in Nibe", city("Nibe", intent="late", time=past), session="s5")
    tell.at(10, 20).says("I like rye bread", taste("rye bread"), session="s6")
    tell.at(10, 21).says("no more of rye bread", dropped("taste", "rye bread", "end"), session="s7")
    tell.at(10, 22).says("and not Tønder, forget it", dropped("city", "Tønder", "retract"), session="s7")
    tell.at(11, 2).says("in Viborg again", city("Viborg"), session="s8")


def more_said_of_the_same(tell: Telling) -> None:
    """Every kind of update that keeps the period, and a wider scope."""
    tell.at(10, 1).says("plums are fine", taste("plums"), session="s1")
    tell.at(10, 2).says("plums and nothing else", only("plums"), session="s2")
    tell.at(10, 3).says("well, pears too", taste("pears"), session="s3")
    week = during(None, day(10, 20), "until the 20th")
    tell.at(10, 5).says("in Møns Klint till the 20th", city("Møn", time=week), session="s4")
    longer = during(None, day(10, 27), "until the 27th")
    tell.at(10, 9).says("Møn, a week longer", city("Møn", time=longer), session="s5")
    dog = {
        "kind": "fact",
        "attribute": "fact",
        "content": "the dog is called Pelle",
        "importance": 4,
        "category": "important_fact",
    }
    tell.at(10, 10).says("the dog is called Pelle", dog, session="s6")
    more = {
        **dog,
        "content": "Pelle limps a little",
        "intent": "add",
        "target_words": "the dog is called Pelle",
    }
    tell.at(10, 11).says("by the way, Pelle limps a little", more, session="s7")
    tell.at(10, 12).says("letters: short ones", standing("letters: short ones", "writing"), session="s8")
    tell.at(10, 14).says("short ones everywhere", everywhere("short ones everywhere"), session="s9")
    for content in ("用户喜欢pears", "letters: short ones"):  # of what stands, and of what was replaced
        memory_id = tell.id_of(content)
        first = tell.memory.history(ANE, memory_id)[0].statement
        assert first is not None
        lighter = first.model_copy(update={"confidence": 0.7})
        header = tell.at(10, 16).header("job:decay")
        tell.appends(memory_id, Updated(**header, kind="reweigh", of=1, statement=lighter))


def a_chain_without_its_middle(tell: Telling) -> None:
    """Three standing wishes, each better than the last; the middle one is undone and comes back."""
    wishes = ("minutes: start with names", "minutes: start with dates", "minutes: start with votes")
    for number, wish in enumerate(wishes, 1):
        said = standing(wish, "writing", extractor=f"x{number}")
        tell.at(10, number).says(wish, said, session=f"s{number}")
    tell.at(10, 4).says("tea is good", taste("tea"), session="s4")
    tell.at(10, 5).says("only coffee, really", only("coffee"), session="s5")
    middle = tell.at(10, 6).rolls_back(extractor="x2")
    tell.at(10, 7).undoes(middle)
    tell.at(10, 8).rolls_back(session="s5")
    tell.at(10, 9).rolls_back(extractor="x3")
    tell.at(10, 10).says("only coffee, I said", only("coffee"), session="s6")


def hints_that_add_up(tell: Telling) -> None:
    """Held three times and let in; a leg is lost, found again; another hint is turned down."""
    legs = [
        tell.at(10, number).says(
            f"table no. {number}",
            habit("tables instead of prose", "writing"),
            session="s",
            task_id=f"t{number}",
        )
        for number in (1, 2, 3)
    ]
    tell.at(10, 3).says("table no. 3b", habit("tables instead of prose", "writing"), task_id="t3")
    lost = tell.at(10, 4).rolls_back(turn=legs[1])
    tell.at(10, 5).says("footnote", habit("footnotes at the end", "writing"), task_id="t4")
    tell.at(10, 6).memory.reject(ANE, tell.id_of("footnotes at the end"), actor=OPERATOR, note="once only")
    tell.at(10, 7).says("footnote 2", habit("footnotes at the end", "writing"), task_id="t5")
    tell.at(10, 8).undoes(lost)
    tell.at(10, 9).says("I may live in Hobro", city("Hobro", certainty="uncertain"), session="s9")
    tell.at(10, 10).memory.confirm(ANE, tell.id_of("用户住在Hobro"), actor=OPERATOR)
    tell.at(10, 11).rolls_back(turn=legs[0])


def a_task_that_was_not_over(tell: Telling) -> None:
    """What holds for a task ends with it, and stands again when the end is undone."""
    tell.at(10, 1).memory.start_task(ANE, "annual-report")
    tell.owners.add(ANE)
    tell.says("reports: main point first", standing("reports: main point first", "writing"), session="s1")
    in_task = {"session": "s2", "task_id": "annual-report", "task": "annual report"}
    tell.at(10, 2).says("this one by date", for_this_one("this report goes by date"), **in_task)
    tell.at(10, 3).says("this one without pictures", for_this_one("no pictures in this report"), **in_task)
    finished = tell.at(10, 4).memory.finish_task(ANE, "annual-report").batch_id
    assert finished is not None
    tell.at(10, 5).says("this one in two columns", for_this_one("this report in two columns"), **in_task)
    undone = tell.at(10, 6).undoes(finished)
    tell.at(10, 7).memory.finish_task(ANE, "annual-report", actor=OPERATOR)
    tell.at(10, 8).memory.start_task(ANE, "annual-report", actor=OPERATOR)
    tell.at(10, 9).undoes(undone)


def a_search_and_its_end(tell: Telling) -> None:
    """A long process from stage to stage; what was asked for its sake goes with it."""
    tell.at(10, 1).says("I started applying", stage_of_search("投递"), session="s1")
    tell.at(10, 2).says("期望薪资一万八", salary("18k"), session="s1")
    tell.at(10, 6).says("two interviews so far", stage_of_search("面试"), session="s2")
    tell.at(10, 9).says("at least twenty", salary("20k"), session="s3")
    hired = tell.at(10, 15).says("they took me", stage_of_search("入职", final=True), session="s4")
    undone = tell.at(10, 16).rolls_back(turn=hired)
    tell.at(10, 18).says("third interview", stage_of_search("三面"), session="s5")
    tell.at(10, 20).undoes(undone)
    tell.at(10, 22).says("looking again, sadly", stage_of_search("投递"), session="s6")


def a_message_edited_twice(tell: Telling) -> None:
    """The same message with another text takes back what the first one produced."""
    tell.at(10, 1).says("I live in Struer", city("Struer"), session="s1", message_id="m1")
    tell.at(10, 2).says("kale is great", taste("kale"), session="s1", message_id="m2")
    tell.at(10, 3).says("I live in Thisted", city("Thisted"), session="s1", message_id="m1", revise=True)
    tell.at(10, 4).says("kale, and more kale", taste("kale"), session="s2", message_id="m3")
    tell.at(10, 5).says("never mind", session="s1", message_id="m2", revise=True)
    tell.at(10, 6).says("I live in Lemvig", city("Lemvig"), session="s1", message_id="m1", revise=True)
    revisions = [b.batch_id for b in tell.memory.batches(ANE) if b.kind == "revise"]
    tell.at(10, 7).undoes(revisions[-1])


def what_people_said_of_it(tell: Telling) -> None:
    """Confirmed, pinned, unpinned, corrected, forgotten, rejected, marked wrong; one of them undone."""
    tell.at(10, 1).says("I live in Holstebro", city("Holstebro"), session="s1")
    tell.at(10, 2).says("chess is my thing", taste("chess"), session="s1")
    tell.at(10, 3).says("maybe bridge as well", taste("bridge", certainty="uncertain"), session="s2")
    tell.at(10, 4).says("go, so they say", taste("go", certainty="reported"), session="s2")
    town, chess = tell.id_of("用户住在Holstebro"), tell.id_of("用户喜欢chess")
    memory = tell.at(10, 5).memory
    memory.confirm(ANE, town, actor=OPERATOR, note="asked on the telephone")
    memory.pin(ANE, chess, actor=OPERATOR)
    memory.confirm(ANE, tell.id_of("用户喜欢bridge"), actor=OPERATOR)
    memory.reject(ANE, tell.id_of("用户喜欢go"), actor=OPERATOR, note="she laughed at it")
    memory.correct(ANE, town, "用户住在Herning", actor="operator:tove")
    tell.at(10, 6).memory.pin(ANE, chess, pinned=False, actor=OPERATOR)
    memory.forget(ANE, chess, actor=OPERATOR, note="no longer plays")
    header = tell.at(10, 7).header(OPERATOR)
    tell.appends(
        tell.id_of("用户喜欢bridge"), Endorsed(**header, verdict="wrong", note="confused with whist")
    )
    tell.at(10, 8).rolls_back(actor="operator:tove")


def rollbacks_that_overlap(tell: Telling) -> None:
    """Several undos name the same events, and are undone in an order of their own."""
    for number, name in enumerate(("Faaborg", "Assens", "Bogense", "Kerteminde"), 1):
        tell.at(10, number).says(f"now in {name}", city(name), session=f"s{number}")
    tell.at(10, 5).says("I may be back in Odense", city("Odense", source="repeated_behaviour"), session="s5")
    first = tell.at(10, 6).rolls_back(session="s2")
    second = tell.at(10, 7).rolls_back(since=day(10, 2), until=day(10, 4))
    third = tell.at(10, 8).rolls_back(since=day(10, 3), until=day(10, 5))
    tell.at(10, 9).undoes(first)
    again = tell.at(10, 10).undoes(third)
    tell.at(10, 11).undoes(second)
    tell.at(10, 12).undoes(again)
    tell.at(10, 13).rolls_back(session="s1")
    tell.at(10, 14).says("settled in Middelfart", city("Middelfart"), session="s6")


def two_languages_and_a_tombstone(tell: Telling) -> None:
    """The real gate on Chinese and English, an import, secrets masked, and one memory erased."""
    tell.with_the_real_gate()
    brought = [
        ImportedMemory(content="用户养了一只叫芝麻的猫", attribute="pet", value="芝麻"),
        ImportedMemory(content="The user speaks Danish", attribute="language", value="Danish"),
    ]
    tell.owners.add(ANE)
    batch = tell.at(10, 1).memory.import_memories(ANE, brought, actor=OPERATOR).batch_id
    assert batch is not None
    tell.at(10, 2).says("我住在青岛，平时喜欢喝茉莉花茶")
    tell.at(10, 3).says("I'm allergic to peanuts, so please never suggest peanut sauce")
    tell.at(10, 4).says("我的密码是 kR7-pass-0417，别告诉别人。另外我搬到烟台了")
    tell.at(10, 5).says("哈哈好的", session="s2")
    tell.at(10, 6).says("以后写 weekly report 都先写 blockers，再写 next steps", session="s3")
    tell.at(10, 7).says("这次的周报简短一点就好", session="s3", task_id="week-41", task="写周报")
    tell.at(10, 8).says("我不喜欢喝茉莉花茶了，改喝菊花茶 🍵", session="s4")
    tell.at(10, 9).says("帮我翻译：“我住在巴黎，最爱吃可颂”", session="s4")
    tell.at(10, 10).undoes(batch)
    gone = next(m.memory_id for m in tell.memory.memories(ANE) if m.memory.attribute == "city")
    tell.appends(gone, Erased(**tell.at(10, 11).header(OPERATOR), reason="asked for by letter"))
    tell.at(10, 12).says("我现在住在威海", session="s5")


def two_people_in_one_store(tell: Telling) -> None:
    """Two owners in turn: the same words, and nothing of one in the other."""
    for number, (owner, name) in enumerate(
        [(ANE, "Rønne"), (BO, "Rønne"), (ANE, "Nexø"), (BO, "Gudhjem")], 1
    ):
        tell.at(10, number).speaks(owner).says(f"home is {name}", city(name), session="s1")
    tell.at(10, 5).speaks(ANE).says("herring, always", taste("herring"), session="s2")
    tell.at(10, 6).speaks(BO).says("herring, always", taste("herring", polarity="negative"), session="s2")
    tell.at(10, 7).memory.finish_task(BO, "roof")
    batch = tell.at(10, 8).speaks(ANE).rolls_back(since=day(10, 3), until=day(10, 7))
    tell.at(10, 9).speaks(BO).rolls_back(session="s2")
    tell.at(10, 10).speaks(ANE).undoes(batch)


STORIES: dict[str, Callable[[Telling], None]] = {
    "01-a-town-told-four-ways": a_town_told_four_ways,
    "02-more-said-of-the-same": more_said_of_the_same,
    "03-a-chain-without-its-middle": a_chain_without_its_middle,
    "04-hints-that-add-up": hints_that_add_up,
    "05-a-task-that-was-not-over": a_task_that_was_not_over,
    "06-a-search-and-its-end": a_search_and_its_end,
    "07-a-message-edited-twice": a_message_edited_twice,
    "08-what-people-said-of-it": what_people_said_of_it,
    "09-rollbacks-that-overlap": rollbacks_that_overlap,
    "10-two-languages-and-a-tombstone": two_languages_and_a_tombstone,
    "11-two-people-in-one-store": two_people_in_one_store,
}
