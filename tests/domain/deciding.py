"""Candidates and a story of decisions, each carried out before the next is taken."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memstrata.domain.candidate import Candidate, Signal, TimeFrame
from memstrata.domain.decide import GateRefusal, decide
from memstrata.domain.decision import Decision
from memstrata.domain.draft import Draft, Header
from memstrata.domain.events import Created, TaskChanged
from memstrata.domain.evidence import Evidence, Span
from memstrata.domain.ledger import Ledger
from memstrata.domain.memory import Memory
from memstrata.domain.owner_state import OwnerState
from memstrata.domain.policy import Policy
from memstrata.domain.scope import GLOBAL, Scope
from memstrata.domain.statement import Provenance, Statement
from memstrata.domain.turn import TurnContext
from memstrata.pipeline.data import policy_document
from memstrata.pipeline.relate import WordRelations

START = datetime.fromisoformat("2026-03-02T10:00:00+08:00")
POLICY = Policy.from_document(policy_document())
RELATIONS = WordRelations(POLICY)
WRITING = Scope(kind="family", anchor="writing")


class Ids:
    def __init__(self) -> None:
        self.given = 0

    def new_id(self) -> str:
        self.given += 1
        return f"{self.given:032x}"


def words(text: str) -> tuple[Evidence, ...]:
    return (Evidence(turn_id="f" * 32, spans=(Span(start=0, end=len(text)),), quotes=(text,)),)


def signals(*kinds: str) -> tuple[Signal, ...]:
    """`family=writing` gives the signal a value, `passing:今天` its words."""
    made = []
    for kind in kinds:
        kind, _, value = kind.partition("=")
        kind, _, text = kind.partition(":")
        made.append(Signal(kind=kind, text=text or kind, start=0, end=1, value=value or None))  # type: ignore[arg-type]
    return tuple(made)


def candidate(content: str, *signal_kinds: str, **fields: Any) -> Candidate:
    given: dict[str, Any] = {
        "kind": "fact",
        "attribute": "fact",
        "extractor": "rules/1",
        "rule": "test",
        "category": "important_fact",
        "evidence": words(fields.pop("quote", f"“{content}”")),
        "signals": signals(*signal_kinds),
        "content": content,
    }
    return Candidate(**{**given, **fields})


def during(start: str | None = None, end: str | None = None) -> TimeFrame:
    def moment(text: str | None) -> datetime | None:
        return None if text is None else datetime.fromisoformat(text + "T00:00:00+08:00")

    return TimeFrame(start=moment(start), end=moment(end), words="then")


class Story:
    """One owner's memories, told turn by turn; a minute passes between turns."""

    def __init__(self, policy: Policy = POLICY) -> None:
        self.policy = policy
        self.relations = WordRelations(policy)
        self.ids = Ids()
        self.clock = START
        self.state = OwnerState(policy.registry, Ledger("e" * 32))

    def at(self, text: str) -> Story:
        self.clock = datetime.fromisoformat(text + "T10:00:00+08:00")
        return self

    def context(self, **fields: Any) -> TurnContext:
        given = {
            "turn_id": self.ids.new_id(),
            "session": "s1",
            "said_at": self.clock,
            "zone": "Asia/Shanghai",
        }
        return TurnContext(**{**given, **fields})

    def decide(self, said: Candidate, gate_refusal: GateRefusal | None = None, **where: Any) -> Decision:
        """The decision, carried out on the state."""
        self.clock += timedelta(minutes=1)
        context = self.context(**where)
        decision = decide(said, context, self.state, self.policy, self.relations, gate_refusal=gate_refusal)
        again = decide(said, context, self.state, self.policy, self.relations, gate_refusal=gate_refusal)
        assert again == decision, "a decision is repeatable"
        draft = Draft(self.state, self.ids)
        draft.carry_out(said, context, decision, self._header())
        self.state = draft.state
        return decision

    def given(
        self,
        content: str,
        attribute: str = "fact",
        value: str | None = None,
        scope: Scope = GLOBAL,
        kind: str = "preference",
        **fields: Any,
    ) -> str:
        """A memory that an operator imported."""
        memory_id = self.ids.new_id()
        provenance = Provenance(
            said_at=self.clock,
            zone="Asia/Shanghai",
            channel="import",
            extractor="import",
            rule="import",
            source="attestation",
        )
        statement = Statement(
            attribute=attribute,
            type=kind,  # type: ignore[arg-type]
            content=content,
            value=value,
            scope=scope,
            confidence=0.92,
            importance=3,
            valid_from=self.clock,
            evidence=(Evidence(kind="import", quotes=(content,), attested_by="operator:test"),),
            provenance=provenance,
            **fields,
        )
        draft = Draft(self.state, self.ids)
        draft.add(memory_id, Created(**self._header().fields(), statement=statement))
        self.state = draft.state
        return memory_id

    def finish(self, task_id: str) -> None:
        draft = Draft(self.state, self.ids)
        event = TaskChanged(**self._header().fields(), task_id=task_id, change="finished", at=self.clock)
        draft.add(self.state.ledger.ledger_id, event)
        self.state = draft.state

    def memory(self, memory_id: str) -> Memory:
        return self.state.memories[memory_id]

    @property
    def contents(self) -> list[str]:
        return [m.current.statement.content for m in self.state.active() if m.current]

    def _header(self) -> Header:
        return Header("user", "a" * 32, self.policy.fingerprint, self.clock)
