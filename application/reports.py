"""What a caller is told about the work done: plain values, fit for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ..domain.candidate import Candidate
from ..domain.errors import MemstrataError
from ..domain.judgement import Judgement
from ..domain.statement import Statement
from ..domain.values import Action, Outcome

_STRENGTH: dict[str, int] = {"DELETE": 3, "UPDATE": 3, "WRITE": 3, "MERGE": 3, "HOLD": 2, "SKIP": 1}


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """What was decided about one candidate.

    `statement` is what stands or would stand; None where the policy refused before computing it.
    `memory_id` is the memory that it concerns, None when it stays with its turn.
    """

    candidate: Candidate
    action: Action
    outcome: Outcome
    reason: str
    rule: str
    statement: Statement | None
    memory_id: str | None


@dataclass(frozen=True, slots=True)
class TurnReport:
    """What became of one turn.

    `status`: `new`; `known` (the same content came before: this is the report of then, nothing was
    written); `revised`; `failed` (`error` says why, nothing was written).
    """

    status: Literal["new", "known", "revised", "failed"]
    turn_id: str
    session: str
    message_id: str | None
    said_at: datetime | None
    judgement: Judgement | None = None
    candidates: Sequence[CandidateReport] = ()
    masked: Sequence[str] = ()
    """Kinds of the secrets that were masked."""
    error: MemstrataError | None = None

    @property
    def action(self) -> Action:
        """The strongest action of the turn's candidates: a change, then HOLD, then SKIP."""
        actions = [c.action for c in self.candidates]
        return max(actions, key=lambda action: _STRENGTH[action], default="SKIP")


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of the turns of one call, in their order."""

    turns: Sequence[TurnReport]

    @property
    def failed(self) -> Sequence[TurnReport]:
        """The turns that were not taken."""
        return [turn for turn in self.turns if turn.status == "failed"]


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a batch wrote. `batch_id` is None when there was nothing to do and nothing was written."""

    batch_id: str | None
    written: int = 0
    memories: Sequence[str] = field(default_factory=tuple)
    """Ids of the memories that it touched."""
