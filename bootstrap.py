"""Builds the object graph. The only module that knows every part; importing it has no effects."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from .adapters.storage import SqlEventStore, UuidSevenIds, VerifyReport, open_store
from .adapters.storage.damage import find_damage
from .adapters.storage.dump import cells
from .adapters.storage.views import RebuildReport, SqlViews, ViewProjector, rebuild
from .domain.errors import InvalidInputError, NotFoundError, StoreUnavailableError
from .domain.policy import Policy
from .domain.ports import Clock
from .domain.slot import slot_of
from .domain.statement import Statement
from .domain.upcasting import check_upcasters
from .pipeline.data import policy_document
from .pipeline.text import tokens
from .projections.memories import Shaping
from .service import MemoryService, Parts

__all__ = ["Memstrata", "SystemClock", "evaluate", "find_damage", "load_policy", "offline_gate", "value_of"]

if TYPE_CHECKING:  # loaded where it is used: most commands need neither the rules nor the evaluation
    from .application.evaluation import Evaluation
    from .domain.candidate import Candidate
    from .pipeline.controller import Gate


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present, UTC."""
        return datetime.now(UTC)


class Memstrata(MemoryService):
    """Long-term memory that keeps the reason for everything it remembers.

    Open one with `Memstrata.open`; it is a context manager. Safe for threads, and several processes
    may open the same store.
    """

    def __init__(self, parts: Parts, store: SqlEventStore, views: SqlViews, shaping: Shaping) -> None:
        super().__init__(parts)
        self._sql, self._sql_views, self._shaping = store, views, shaping

    @classmethod
    def open(
        cls,
        url: str = "memstrata.db",
        *,
        clock: Clock | None = None,
        durability: Literal["full", "fast"] = "full",
        policy_file: str | None = None,
        group_commit: bool = False,
        gate: Gate | None = None,
    ) -> Self:
        """Open the store at `url`, creating it when nothing is there.

        Args:
            url: A path, `sqlite:///PATH`, or `sqlite://` (or `:memory:`) for a store in memory.
            clock: Tells the time; None for the machine's clock.
            durability: `full` waits for the disk at each commit; `fast` may lose the last commits in
                a power cut.
            policy_file: A TOML document to use in place of the policy that comes with the package.
            group_commit: Let concurrent callers share transactions.
            gate: Stations of the gate in place of the offline ones.

        Raises:
            StoreUnavailableError, StoreTooNewError: see `adapters.storage.open_store`.
            InvalidInputError: the policy document cannot be used; names the key.
        """
        check_upcasters()
        clock = clock or SystemClock()
        policy = load_policy(policy_file)
        shaping = _shaping(policy)
        store = open_store(
            url,
            clock=clock,
            durability=durability,
            projector=ViewProjector(shaping),
            group_commit=group_commit,
        )
        try:
            return cls._on(store, policy, shaping, clock, gate)
        except BaseException:
            store.close()
            raise

    @classmethod
    def _on(
        cls, store: SqlEventStore, policy: Policy, shaping: Shaping, clock: Clock, gate: Gate | None
    ) -> Self:
        store.keep_policy(policy.fingerprint, policy.canonical)
        views = SqlViews(store, shaping)
        parts = Parts(
            store=store,
            views=views,
            policy=policy,
            policy_of=_policy_of(store, policy),
            build_gate=offline_gate if gate is None else lambda: gate,
            clock=clock,
            ids=UuidSevenIds(clock),
            value_of=value_of,
        )
        opened = cls(parts, store, views, shaping)
        if views.stale():  # of an earlier version of the projections: rows of then are no answers of now
            try:
                opened.rebuild()
            except StoreUnavailableError:
                if views.stale():  # else another process that opened it was faster
                    raise
        return opened

    @property
    def where(self) -> str:
        """The store's file, or `memory`."""
        return self._sql.where

    @property
    def store(self) -> SqlEventStore:
        """The event store, for tools."""
        return self._sql

    @property
    def views(self) -> SqlViews:
        """The projections, for tools."""
        return self._sql_views

    def verify(self, *, progress: Callable[[int], None] | None = None) -> list[VerifyReport]:
        """Recompute the digest chain of every partition; one report each."""
        return [self._sql.verify(part, progress=progress) for part in self._sql.partitions]

    def rebuild(
        self,
        *,
        check: bool = False,
        fresh: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> RebuildReport:
        """Recompute every projection from the first event.

        Args:
            check: Compare only, and leave the tables as they are.
            fresh: Begin anew even where an interrupted rebuild could go on.
            progress: Called now and then with the events folded and the events there are.
        """
        return rebuild(
            self._sql,
            self._shaping,
            check=check,
            fresh=fresh,
            helped_by=partial(_shaping, self.policy),
            progress=progress,
        )

    def close(self) -> None:
        """Write what waits and close the store. Closing twice is no error."""
        self._sql.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def load_policy(path: str | None = None) -> Policy:
    """The policy of the package, or of a TOML file.

    The registry and the word lists are the package's unless the file has its own.

    Raises:
        InvalidInputError: no such file, no TOML, or a key that cannot be used.
    """
    document = policy_document()
    if path is not None:
        try:
            own = tomllib.loads(Path(path).read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InvalidInputError("policy", f"{path}: {error}", "give a TOML file") from error
        document = {**document, **own}
    return Policy.from_document(document)


def offline_gate() -> Gate:
    """The gate without any service: rules propose and judge, a learned model has a second opinion."""
    from .pipeline.controller import Gate
    from .pipeline.extract import RuleExtractor
    from .pipeline.gate import fast_reject
    from .pipeline.judge import KeywordFallbackJudge, RuleJudge, normalise_judgement
    from .pipeline.opinion.reviewer import LearnedReviewer
    from .pipeline.relate import WordRelations

    return Gate(
        fast_reject=fast_reject,
        extractors=(RuleExtractor(),),
        judges=(RuleJudge(), KeywordFallbackJudge()),
        normalise=normalise_judgement,
        relations_of=WordRelations,
        reviewers=(LearnedReviewer(),),
        overhear=(RuleExtractor(),),
    )


def evaluate(
    paths: Iterable[str | Path],
    *,
    gate: Gate | None = None,
    policy_file: str | None = None,
    kinds: Collection[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Play the golden cases of the files in stores in memory, and judge what the gate did.

    Args:
        paths: Files of cases, one JSON object a line; docs/quality.md says what the fields mean.
        gate: Stations of the gate in place of the offline ones.
        policy_file: A policy in place of the one that comes with the package.
        kinds: Play only cases of these kinds; empty for all.
        progress: Called after each case with the number of cases played, and of all.

    Raises:
        InvalidInputError: a file is malformed; names file, line and field. Or no case is of these kinds.
    """
    from .application.evaluation import evaluate_files

    @contextmanager
    def open_store(clock: Clock) -> Iterator[_Searchable]:
        with Memstrata.open("sqlite://", clock=clock, policy_file=policy_file, gate=gate) as memory:
            yield _Searchable(memory)

    return evaluate_files(paths, open_store, kinds=kinds, progress=progress)


@dataclass(frozen=True, slots=True)
class _Searchable:
    """A store whose tables can be looked through."""

    memory: Memstrata

    def cells(self) -> Iterator[str | bytes]:
        """All that stands in any column of any table."""
        with self.memory.store.reading() as connection:
            yield from cells(connection)


def value_of(content: str, attribute: str) -> str | None:
    """The value of an attribute that the rules read out of a sentence; None when they find none.

    The sentence may speak of the user in the first or the third person.
    """
    from .domain.ports import Prepared
    from .domain.turn import Turn, TurnContext
    from .pipeline.extract import RuleExtractor
    from .pipeline.first_person import in_first_person

    moment = datetime(2000, 1, 1, tzinfo=UTC)
    context = TurnContext(turn_id="0" * 32, session="person", said_at=moment, zone="UTC")
    text = in_first_person(content)
    prepared = Prepared(Turn(user=text, session="person", at=moment), text, context)
    found: list[Candidate] = [c for c in RuleExtractor().extract(prepared) if c.attribute == attribute]
    return found[0].value if found else None


def _shaping(policy: Policy) -> Shaping:
    def slot_key(statement: Statement) -> str:
        return slot_of(policy.registry, statement).key

    return Shaping(slot_key=slot_key, tokens=tokens, fingerprint=policy.fingerprint)


def _policy_of(store: SqlEventStore, present: Policy) -> Callable[[str], Policy]:
    @lru_cache(maxsize=64)
    def policy_of(fingerprint: str) -> Policy:
        if fingerprint == present.fingerprint:
            return present
        document = store.policy_document(fingerprint)
        if document is None:
            raise NotFoundError("policy", fingerprint, "the store does not hold this policy's document")
        return Policy.from_document(json.loads(document))

    return policy_of
