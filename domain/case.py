"""One candidate before the policy: everything that its rules ask, computed when first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from .candidate import Candidate
from .decision import Command, Decision, Relation, RelationFinder, RelationKind
from .frame import frame
from .history import Version
from .memory import Memory
from .owner_state import OwnerState
from .policy import Policy
from .scope import Scope
from .slot import Slot, fold_value
from .statement import Statement
from .turn import TurnContext
from .values import Action


class Present(NamedTuple):
    """A memory, and the version of it that stands when the candidate is said."""

    memory: Memory
    version: Version


@dataclass(frozen=True)
class Case:
    """A candidate, where it was said, what the owner's memories are, and the rules in force."""

    candidate: Candidate
    context: TurnContext
    state: OwnerState
    policy: Policy
    finder: RelationFinder

    @cached_property
    def statement(self) -> Statement:
        """What would stand; asked for only once the candidate is known to have evidence."""
        return frame(self.candidate, self.context, self.policy)

    @cached_property
    def single(self) -> bool:
        """Whether the attribute has one value at a time."""
        return self.policy.registry.get(self.candidate.attribute).cardinality == "single"

    @cached_property
    def relations(self) -> Sequence[Relation]:
        """How the memories relate to the candidate, surest first."""
        return self.finder.relations(self.candidate, self.statement, self.context, self.state)

    def all_related(self, *kinds: RelationKind) -> Iterator[Present]:
        """The standing memories that relate to the candidate in one of these ways, surest first."""
        for relation in self.relations:
            if relation.kind in kinds:
                present = self.present(self.state.memories.get(relation.memory_id))
                if present is not None:
                    yield present

    def related(self, *kinds: RelationKind) -> Present | None:
        """The surest of them."""
        return next(self.all_related(*kinds), None)

    # --- memories --------------------------------------------------------------------------------

    def present(self, memory: Memory | None) -> Present | None:
        """The memory if it is active and its date, if it has one, is not past when this was said."""
        if memory is None or memory.current is None:
            return None
        over = memory.current.statement.end.is_over(self.context.said_at)
        return None if over else Present(memory, memory.current)

    def stands(self, memory: Memory) -> bool:
        """Whether the memory holds when this is said."""
        return self.present(memory) is not None

    def slot(self, scope: Scope | None = None) -> Slot:
        """The candidate's slot, or the one that it would have in another scope."""
        return self.state.slot(self.statement, scope)

    @cached_property
    def occupant(self) -> Memory | None:
        """The memory in the candidate's slot, active or not; None when it is free."""
        return self.state.in_slot(self.slot())

    @cached_property
    def siblings(self) -> tuple[Present, ...]:
        """Active memories of the same subject and attribute, oldest first."""
        return self._standing_about(only=False)

    @cached_property
    def exclusive_siblings(self) -> tuple[Present, ...]:
        """Those of them that were said to be the only one."""
        return self._standing_about(only=True)

    def _standing_about(self, *, only: bool) -> tuple[Present, ...]:
        said = self.statement
        names = self.policy.registry.names(said.attribute)
        found = self.state.about(said.subject, *names, only=only)
        return tuple(present for memory in found if (present := self.present(memory)) is not None)

    # --- answers ---------------------------------------------------------------------------------

    def skip(self, reason: str, rule: str, target: str | None = None) -> Decision:
        """Refuse: nothing is remembered, the refusal is."""
        said = self.statement if self.candidate.evidence else None
        return Decision("SKIP", "refused", reason, rule, target, said)

    def hold(self, reason: str, rule: str, target: str | None = None) -> Decision:
        """Keep as a proposal."""
        return Decision("HOLD", "held", reason, rule, target, self.statement)

    def confirm(self, reason: str, rule: str, memory: Memory) -> Decision:
        """Count as a repetition of what the memory says."""
        return Decision("SKIP", "confirmed", reason, rule, memory.memory_id, self.statement)

    def accept(
        self,
        action: Action,
        reason: str,
        rule: str,
        commands: Sequence[Command],
        *,
        target: str | None = None,
        statement: Statement | None = None,
    ) -> Decision:
        """Let the commands be carried out."""
        said = statement or self.statement
        return Decision(action, "accepted", reason, rule, target, said, tuple(commands))


Sameness = Literal["same", "other_value", "other_polarity"]


def compare(now: Statement, said: Statement) -> Sameness:
    """How two statements of one slot differ, weight and time left aside.

    Of two values the folded forms count; where either has none, the contents.
    """
    if now.value and said.value:
        same = fold_value(now.value) == fold_value(said.value)
    else:
        same = fold_value(now.content) == fold_value(said.content)
    if not same:
        return "other_value"
    return "same" if now.polarity == said.polarity else "other_polarity"
