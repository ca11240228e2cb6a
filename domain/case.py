"""One candidate before the policy: everything that its rules ask, computed when first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .candidate import Candidate
from .decision import Command, Decision, Relation, RelationFinder
from .frame import frame
from .history import Version
from .memory import Memory
from .owner_state import OwnerState
from .policy import Policy
from .scope import Scope
from .slot import Slot, fold_value, slot_of
from .statement import Statement
from .turn import TurnContext
from .values import Action


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

    def related(self, *kinds: str) -> Memory | None:
        """The active memory of the surest relation of these kinds."""
        for relation in self.relations:
            memory = self.state.memories.get(relation.memory_id)
            if relation.kind in kinds and memory is not None and self.stands(memory):
                return memory
        return None

    # --- memories --------------------------------------------------------------------------------

    def stands(self, memory: Memory) -> bool:
        """Whether the memory is active and its date, if it has one, is not past when this was said."""
        return memory.current is not None and not memory.current.statement.end.is_over(self.context.said_at)

    def slot(self, scope: Scope | None = None, value: str | None = None) -> Slot:
        """The candidate's slot, in another scope or with another value where one is given."""
        said = self.statement
        if value is None:
            value = said.value if said.value is not None else said.content
        return slot_of(self.state.registry, said.subject, said.attribute, value, scope or said.scope)

    @cached_property
    def occupant(self) -> Memory | None:
        """The memory in the candidate's slot, active or not; None when it is free."""
        return self.state.in_slot(self.slot())

    @cached_property
    def siblings(self) -> tuple[tuple[Memory, Version], ...]:
        """Active memories of the same subject and attribute, oldest first."""
        return self._standing_about(only=False)

    @cached_property
    def exclusive_siblings(self) -> tuple[tuple[Memory, Version], ...]:
        """Those of them that were said to be the only one."""
        return self._standing_about(only=True)

    def _standing_about(self, *, only: bool) -> tuple[tuple[Memory, Version], ...]:
        said = self.statement
        names = self.policy.registry.names(said.attribute)
        found = self.state.about(said.subject, *names, only=only)
        return tuple(
            (memory, memory.current) for memory in found if memory.current is not None and self.stands(memory)
        )

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
    if now.value is not None and said.value is not None:
        same = fold_value(now.value) == fold_value(said.value)
    else:
        same = fold_value(now.content) == fold_value(said.content)
    if not same:
        return "other_value"
    return "same" if now.polarity == said.polarity else "other_polarity"
