"""What becomes of a statement that somebody vouches for: it is let in, whatever words there are for it."""

from __future__ import annotations

from .decision import CreateMemory, Decision, UpdateMemory
from .errors import RefusedError
from .owner_state import OwnerState
from .statement import Statement

ATTESTED = "import.attested"
"""The rule that such decisions name."""


def attest(state: OwnerState, statement: Statement) -> Decision:
    """Open a memory, renew one that ended, replace what its slot says, or count a repetition."""
    present = state.in_slot(state.slot(statement))
    if present is None or present.status == "erased":
        return Decision(
            "WRITE", "accepted", "imported", ATTESTED, None, statement, (CreateMemory(statement),)
        )
    target = present.memory_id
    if present.current is None:
        renewed = CreateMemory(statement, target)
        return Decision("WRITE", "accepted", "imported", ATTESTED, target, statement, (renewed,))
    former = present.current.statement.valid_from
    said = statement.model_copy(update={"valid_from": max(statement.valid_from, former)})
    try:
        present.check_update("replace", said)
    except RefusedError as refusal:
        if refusal.reason in ("no_change", "evidence_restates_stored"):
            return Decision("SKIP", "confirmed", "duplicate", ATTESTED, target, said)
        return Decision("SKIP", "refused", refusal.reason, ATTESTED, target, said)
    replaced = UpdateMemory(target, "replace", said)
    return Decision("UPDATE", "accepted", "imported", ATTESTED, target, said, (replaced,))
