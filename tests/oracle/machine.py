"""Random histories of two owners, deed by deed, held against the oracle.

A failing example is printed as the calls that led to it (`state.say(owner=0, …)`); each call names all
that it needs, so it can be cut, and written down as a test with `World.do`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from .words import CITIES, THINGS, Words, words
from .world import World

owners = st.sampled_from([0, 0, 0, 1])
sessions = extractors = st.integers(0, 2)
tasks = st.one_of(st.none(), st.integers(0, 2))
numbers = st.integers(0, 40)
verbs = st.sampled_from(["confirm", "reject", "correct", "forget", "pin", "unpin"])
changes = st.sampled_from(["finish", "start"])
job_deeds = st.sampled_from(["reweigh", "mark wrong"])
brought = st.one_of(
    st.tuples(st.just("city"), st.sampled_from(CITIES)), st.tuples(st.just("taste"), st.sampled_from(THINGS))
)
KINDS = (
    *("session", "session", "turn", "turn", "extractor", "extractor in session", "rule", "channel"),
    *("window", "window", "memory", "after", "actor", "policy"),
)
kinds = st.sampled_from(KINDS)

deeds: st.SearchStrategy[tuple[Any, ...]] = st.one_of(
    st.tuples(st.just("say"), owners, words, sessions, extractors, tasks),
    st.tuples(st.just("revise"), owners, numbers, words, extractors),
    st.tuples(st.just("roll back"), owners, kinds, numbers, numbers),
    st.tuples(st.just("undo"), owners, numbers),
    st.tuples(st.just("task"), owners, changes, st.integers(0, 2)),
    st.tuples(st.just("person"), owners, verbs, numbers),
    st.tuples(st.just("rebuild")),
)


class Histories(RuleBasedStateMachine):
    """What may happen; everything is compared after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memstrata-"))
        self.world = World(self.folder)
        self.failed = False

    def _do(self, *deed: Any) -> None:
        self.failed = True
        self.world.do(*deed)
        self.failed = False

    @rule(owner=owners, words=words, session=sessions, extractor=extractors, task=tasks)
    def say(self, owner: int, words: Words, session: int, extractor: int, task: int | None) -> None:
        self._do("say", owner, words, session, extractor, task)

    @rule(owner=owners, words=words, session=sessions, extractor=extractors, task=tasks)
    def say_more(self, owner: int, words: Words, session: int, extractor: int, task: int | None) -> None:
        self._do("say", owner, words, session, extractor, task)

    @rule(owner=owners, first=words, second=words, session=sessions, extractor=extractors, task=tasks)
    def say_both(
        self, owner: int, first: Words, second: Words, session: int, extractor: int, task: int | None
    ) -> None:
        self._do("say both", owner, first, second, session, extractor, task)

    @rule(owner=owners, which=numbers, words=words, extractor=extractors)
    def revise(self, owner: int, which: int, words: Words, extractor: int) -> None:
        self._do("revise", owner, which, words, extractor)

    @rule(owner=owners, first=numbers, count=st.integers(1, 4))
    def repeat(self, owner: int, first: int, count: int) -> None:
        self._do("repeat", owner, first, count)

    @rule(owner=owners, verb=verbs, which=numbers)
    def person(self, owner: int, verb: str, which: int) -> None:
        self._do("person", owner, verb, which)

    @rule(owner=owners, deed=job_deeds, which=numbers)
    def job(self, owner: int, deed: str, which: int) -> None:
        self._do("job", owner, deed, which)

    @rule(owner=owners, change=changes, task=st.integers(0, 2))
    def task(self, owner: int, change: str, task: int) -> None:
        self._do("task", owner, change, task)

    @rule(owner=owners, what=brought)
    def bring(self, owner: int, what: tuple[str, str]) -> None:
        self._do("bring", owner, *what)

    @rule(owner=owners, kind=kinds, first=numbers, second=numbers)
    def roll_back(self, owner: int, kind: str, first: int, second: int) -> None:
        self._do("roll back", owner, kind, first, second)

    @rule(owner=owners, which=numbers)
    def undo(self, owner: int, which: int) -> None:
        self._do("undo", owner, which)

    @rule(how=st.sampled_from(["interrupt", "interrupt", "kill"]), at=st.integers(1, 120), deed=deeds)
    def crash(self, how: str, at: int, deed: tuple[Any, ...]) -> None:
        self._do("crash", how, at, *deed)

    @rule(how=st.sampled_from(["close", "abandon", "abandon"]))
    def reopen(self, how: str) -> None:
        self._do("reopen", how)

    # Rarely: a registry's change rebuilds everything, and takes as long as eight other deeds.
    @precondition(lambda self: self.world.steps % 6 == 0)
    @rule(how=st.sampled_from(["many cities", "one taste", "shipped"]))
    def change_registry(self, how: str) -> None:
        self._do("reopen", how)

    @precondition(lambda self: self.world.steps % 3 == 0)  # it is compared after each deed anyway
    @rule(check=st.booleans())
    def rebuild(self, check: bool) -> None:
        self._do("rebuild", check)

    def teardown(self) -> None:
        try:
            if self.failed:
                self.world.close()
            else:
                self.world.end()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
