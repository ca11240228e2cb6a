"""The real service on a real file beside the oracle; every deed is plain data, every deed is checked.

A deed is a tuple: its name and its arguments. What it is about is told by numbers that are taken modulo
what there is, so that any sequence of deeds can be carried out, cut and written down:

    world = World(tmp_path)
    world.do("say", 0, ("city", "Leeds", "assert"), 0, 0, None)
    world.do("roll back", 0, "session", 0, 0)
    world.end()

The first argument is the owner's number. `do` advances the clock by a minute, carries the deed out, and
compares; what the service refuses with an error of its own leaves no trace.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from scenarios.scripted import ScriptedExtractor, SteppingClock, WillingJudge, day
from sqlalchemy.exc import DBAPIError

from memstrata import Memstrata, Selector, Turn
from memstrata.application.importing import ImportedMemory
from memstrata.domain.errors import MemstrataError, StoreUnavailableError
from memstrata.domain.events import Endorsed, Event, Updated
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent
from memstrata.pipeline.controller import Gate
from memstrata.pipeline.relate import WordRelations

from .comparing import Comparison
from .oracle import Story
from .words import found_in, sentences

OWNERS = ("acme/lin", "acme/wei")
START = day(10, 1)
POLICIES = Path(__file__).parent / "policies"
EVERY_STATUS = ("active", "held", "ended", "retracted", "superseded", "rejected", "withdrawn")
KILLED = 9

Action = Callable[[Memstrata], object]


class World:
    """Two owners' histories in one store."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.files = folder, 0
        self.path = folder / "store0.db"
        self.clock, self.extractor = SteppingClock(START), ScriptedExtractor()
        self.gate = Gate(
            fast_reject=lambda prepared: None,
            extractors=(self.extractor,),
            judges=(WillingJudge(),),
            normalise=lambda judgement, candidates: judgement,
            relations_of=WordRelations,
        )
        self.policy: str | None = None
        self.memory = self._open()
        self.steps = 0
        self.turns: dict[int, list[Turn]] = {number: [] for number, _ in enumerate(OWNERS)}
        """The turns that were said, by owner, as last worded."""
        self.stories = {owner: Story() for owner in OWNERS}
        self.comparison = Comparison(self.stories)
        self.check()

    # --- deeds -----------------------------------------------------------------------------------

    def do(self, name: str, *arguments: Any) -> None:
        """Carry one deed out and compare."""
        self._minute()
        if name in ("crash", "reopen", "rebuild"):
            getattr(self, f"_{name}")(*arguments)
        else:
            action = self._prepared(name, *arguments)
            if action is not None:
                self._carry_out(action)
        self.check()

    def end(self) -> None:
        """What holds after every history, and is too dear to be asked after every deed."""
        try:
            self._rebuild(True)
            for owner, turns in enumerate(self.turns.values()):
                self._repeat_all(owner, turns)
            self._rebuild(False)
            self.check()
        finally:
            self.memory.close()

    def close(self) -> None:
        """Let go of the store without asking anything further."""
        self.memory.close()

    def check(self) -> None:
        """Live rows = rows folded from all events = the oracle, for everything that was touched."""
        self.comparison.check(self.memory, self.path, self.steps)

    # --- carrying out ----------------------------------------------------------------------------

    def _minute(self) -> None:
        self.steps += 1
        self.clock.time = START + timedelta(minutes=self.steps)

    def _carry_out(self, action: Action) -> None:
        before = self.memory.store.head_position()
        try:
            action(self.memory)
        except StoreUnavailableError:
            raise  # nothing ails the file: whoever gets this would get it for ever
        except MemstrataError:
            assert self.memory.store.head_position() == before, "a refusal wrote something"

    def _prepared(self, name: str, *arguments: Any) -> Action | None:
        """The deed with everything that it is about looked up; None when there is nothing of the kind."""
        prepared: Action | None = getattr(self, f"_{name.replace(' ', '_')}")(*arguments)
        return prepared

    # --- what is said ----------------------------------------------------------------------------

    def _say(self, owner: int, words: Any, session: int, extractor: int, task: int | None) -> Action:
        return self._tell(owner, len(self.turns[owner]), [words], session, extractor, task)

    def _say_both(
        self, owner: int, first: Any, second: Any, session: int, extractor: int, task: int | None
    ) -> Action:
        return self._tell(owner, len(self.turns[owner]), [first, second], session, extractor, task)

    def _revise(self, owner: int, which: int, words: Any, extractor: int) -> Action | None:
        turns = self.turns[owner]
        if not turns:
            return None
        number = which % len(turns)
        former = turns[number]
        session, task = int(former.session[1:]), former.task_id
        return self._tell(owner, number, [words], session, extractor, None if task is None else int(task[1:]))

    def _tell(
        self, owner: int, number: int, said: list[Any], session: int, extractor: int, task: int | None
    ) -> Action:
        turns, now = self.turns[owner], self.clock.time
        text = f"{self.steps}: " + " / ".join(sentences(words) for words in said)
        origin = {"extractor": f"x{extractor}"}
        self.extractor.script[text] = [
            {**found_in(words, now), **origin, "rule": f"r.{words[0]}"} for words in said
        ]
        turn = Turn(
            user=text,
            assistant="ok",
            session=f"s{session}",
            message_id=f"m{number}",
            task_id=None if task is None else f"t{task}",
            at=now,
        )
        revise = number < len(turns)
        turns[number:] = [turn, *turns[number + 1 :]]
        return lambda memory: memory.ingest(OWNERS[owner], [turn], revise=revise)

    def _repeat(self, owner: int, first: int, count: int) -> Action | None:
        turns = self.turns[owner]
        if not turns:
            return None
        start = first % len(turns)
        self._repeat_all(owner, turns[start : start + count])
        return None

    def _repeat_all(self, owner: int, turns: list[Turn]) -> None:
        """Say again what is in force: it writes nothing."""
        before = self.memory.store.head_position()
        known = [turn for turn in turns if self._is_in_force(owner, turn)]
        self.memory.ingest(OWNERS[owner], known)
        assert self.memory.store.head_position() == before, "a repeated turn wrote something"

    def _is_in_force(self, owner: int, turn: Turn) -> bool:
        row = self.memory.views.turn(self.memory._owner(OWNERS[owner]), self.turn_id(owner, turn))
        return row is not None and row.in_force and row.text == turn.user

    def turn_id(self, owner: int, turn: Turn) -> str:
        """The id of a turn that was said."""
        judged = (e for e in self.stories[OWNERS[owner]].entries if hasattr(e.event, "text_digest"))
        found = [e.stream_id for e in judged if e.event.context.message_id == turn.message_id]  # type: ignore[attr-defined]
        return found[0] if found else "0" * 32

    # --- what people, jobs and tasks do ----------------------------------------------------------

    def _person(self, owner: int, verb: str, which: int) -> Action | None:
        memory_id = self._one_of(owner, which, "held" if verb == "reject" else "active", "held")
        if memory_id is None:
            return None
        name, actor = OWNERS[owner], "operator:mo"
        match verb:
            case "correct":
                content = f"corrected at {self.steps}"
                return lambda memory: memory.correct(name, memory_id, content, actor=actor)
            case "pin" | "unpin":
                return lambda memory: memory.pin(name, memory_id, pinned=verb == "pin", actor=actor)
        return lambda memory: getattr(memory, verb)(name, memory_id, actor=actor)

    def _job(self, owner: int, deed: str, which: int) -> Action | None:
        """Events that no command writes yet, but that every fold must know."""
        memory_id = self._one_of(owner, which, "active")
        if memory_id is None:
            return None
        stream = self.stories[OWNERS[owner]].streams[memory_id]
        current = stream.current
        assert current is not None
        header = {
            "actor": "job:weigh" if deed == "reweigh" else "operator:mo",
            "correlation_id": f"{self.steps:032x}",
            "policy": self.memory.policy.fingerprint,
            "said_at": self.clock.time,
        }
        event: Event = Endorsed(**header, verdict="wrong")
        if deed == "reweigh":
            heavier = current.statement.model_copy(update={"confidence": 0.5 + (self.steps % 40) / 100})
            event = Updated(**header, kind="reweigh", of=current.number, statement=heavier)
        new = NewEvent(memory_id, len(stream.entries) + 1, event)

        def append(memory: Memstrata) -> None:
            named = memory._owner(OWNERS[owner])
            memory.store.append(Append(named, [new], memory.store.owner_position(named)))

        return append

    def _task(self, owner: int, change: str, task: int) -> Action:
        name = OWNERS[owner]
        if change == "finish":
            return lambda memory: memory.finish_task(name, f"t{task}")
        return lambda memory: memory.start_task(name, f"t{task}")

    def _bring(self, owner: int, attribute: str, value: str) -> Action:
        content = f"用户住在{value}" if attribute == "city" else f"用户喜欢{value}"
        brought = ImportedMemory(content=content, attribute=attribute, value=value)
        return lambda memory: memory.import_memories(OWNERS[owner], [brought])

    def _one_of(self, owner: int, which: int, *statuses: str) -> str | None:
        story = self.stories[OWNERS[owner]]
        found = [memory_id for memory_id, stream in story.memories.items() if stream.status in statuses]
        return found[which % len(found)] if found else None

    # --- undo ------------------------------------------------------------------------------------

    def _roll_back(self, owner: int, kind: str, first: int, second: int) -> Action | None:
        selector = self.selector(owner, kind, first, second)
        if selector is None:
            return None
        name = OWNERS[owner]

        def roll_back(memory: Memstrata) -> None:
            memory.apply(name, memory.plan_rollback(name, selector), actor="operator:ann")

        return roll_back

    def _undo(self, owner: int, which: int) -> Action | None:
        story = self.stories[OWNERS[owner]]
        standing = [batch for batch in story.opened if story.undone_by(batch) is None]
        if not standing:
            return None
        name, batch = OWNERS[owner], standing[which % len(standing)]

        def undo(memory: Memstrata) -> None:
            memory.apply(name, memory.plan_undo(name, batch), actor="operator:ann")

        return undo

    def selector(self, owner: int, kind: str, first: int, second: int) -> Selector | None:
        """A selector of the kind, about something that there is; None where nothing is."""
        story, turns = self.stories[OWNERS[owner]], self.turns[owner]
        memories = list(story.memories)
        match kind:
            case "session":
                return Selector(session=f"s{first % 3}")
            case "turn" if turns:
                return Selector(turn=self.turn_id(owner, turns[first % len(turns)]))
            case "extractor":
                return Selector(extractor=f"x{first % 3}")
            case "extractor in session":
                return Selector(extractor=f"x{first % 3}", session=f"s{second % 3}")
            case "rule":
                return Selector(rule=f"r.{RULES[first % len(RULES)]}")
            case "channel":
                return Selector(channel=("rule", "import")[first % 2])
            case "window" if story.entries:
                low, high = sorted((first % len(story.entries), second % len(story.entries)))
                since, until = story.entries[low].recorded_at, story.entries[high].recorded_at
                return Selector(since=since, until=until + timedelta(milliseconds=1))
            case "memory" if memories:
                return Selector(memory=memories[first % len(memories)])
            case "after" if memories:
                return Selector(memory=memories[first % len(memories)], after_version=second % 3 + 1)
            case "actor":
                return Selector(actor=("user", "operator:mo", "operator:import", "job:weigh")[first % 4])
            case "policy":
                return Selector(policy=self.memory.policy.fingerprint)
        return None

    # --- faults, rebuilds, openings --------------------------------------------------------------

    def _open(self) -> Memstrata:
        policy = None if self.policy is None else str(POLICIES / f"{self.policy}.toml")
        return Memstrata.open(
            str(self.path), clock=self.clock, durability="fast", policy_file=policy, gate=self.gate
        )

    def _rebuild(self, check: bool) -> None:
        """The real one; it finds nothing to mend, and leaves every row as it was."""
        before = self.comparison.rows
        report = self.memory.rebuild(check=check)
        assert report.same, [table for table in report.tables if not table.same]
        assert self.comparison.stored(self.path) == before

    def _reopen(self, how: str) -> None:
        """Close and open; or leave the store behind as a dead process does; or with another registry."""
        if how == "abandon":
            self.files += 1
            left, self.path = self.path, self.folder / f"store{self.files}.db"
            for suffix in ("", "-wal"):
                if (source := Path(f"{left}{suffix}")).exists():
                    shutil.copy(source, f"{self.path}{suffix}")
        elif how in ("many cities", "one taste", "shipped"):
            self.policy = None if how == "shipped" else how.replace(" ", "-")
            self.comparison.registry_changed()
        self.memory.close()
        self.memory = self._open()
        if how in ("many cities", "one taste", "shipped"):
            self.memory.rebuild()  # slots are worked out anew, and nothing else changes

    def _crash(self, how: str, at: int, *deed: Any) -> None:
        """Let the deed die in the middle of what it writes, then do it again."""
        if deed[0] == "rebuild":
            action: Action | None = lambda memory: memory.rebuild()  # noqa: E731
        else:
            action = self._prepared(*deed)
        if action is None:
            return
        before = self.memory.store.head_position()
        done = self._killed(action, at) if how == "kill" else self._interrupted(action, at)
        if not done:
            assert self.memory.store.head_position() == before, "half of a deed was written"
            self.check()
            self._carry_out(action)

    def _interrupted(self, action: Action, at: int) -> bool:
        """Raise inside the database after so many instructions of the writing connection."""
        with stopping(self.memory, at, lambda: True):
            try:
                action(self.memory)
            except MemstrataError:
                return True
            except DBAPIError as error:
                if getattr(error.orig, "sqlite_errorname", "") != "SQLITE_INTERRUPT":
                    raise
                return False
        return True

    def _killed(self, action: Action, at: int) -> bool:
        """Let another process carry the action out and die on the way; nobody else has the file open."""
        self.memory.close()
        with warnings.catch_warnings():
            # The threads of the test runner do not go along, and the child asks nothing of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            status = 1
            try:
                with self._open() as memory, stopping(memory, at, lambda: os._exit(KILLED)):
                    with suppress(MemstrataError):
                        action(memory)
                    status = 0
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(ended) in (0, KILLED)
        self.memory = self._open()
        return os.waitstatus_to_exitcode(ended) == 0


RULES = ("city", "taste", "report", "habit", "only", "late", "guess")


@contextmanager
def stopping(memory: Memstrata, at: int, stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` once, after `at` hundred instructions of the connection that writes."""
    left = at

    def count() -> bool:
        nonlocal left
        left -= 1
        return left == 0 and bool(stop())

    with memory.store.writing() as connection:
        raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.set_progress_handler(count, 100)
    try:
        yield
    finally:
        with closing(raw.cursor()):
            raw.set_progress_handler(None, 0)
