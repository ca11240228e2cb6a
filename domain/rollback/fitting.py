"""What came later has the last word over what is decided anew."""

from __future__ import annotations

from dataclasses import replace

from ..decision import ChangeProcess, Command, Decision, EndMemory, SupersedeMemory, UpdateMemory
from ..events import ProcessChanged
from ..history import KEEPS_PLACE
from ..memory import Memory
from ..timeline import Place, key_of
from .grounds import has_a_say
from .outlook import Outlook


def fitted(outlook: Outlook, decision: Decision, place: Place) -> Decision | None:
    """The decision as it can be written now, behind all that was said since; None: not at all.

    A value that another one followed gets its closed period and does not become current; what
    was opened or taken back since is not touched by an end that came before.
    """
    commands = [_fitted(outlook, command, place) for command in decision.commands]
    kept = tuple(command for command in commands if command is not None)
    if decision.commands and not kept:
        return None
    return replace(decision, commands=kept)


def _fitted(outlook: Outlook, command: Command, place: Place) -> Command | None:
    if isinstance(command, ChangeProcess):
        return None if process_moved_since(outlook, command.process, place) else command
    memory = outlook.after.memories.get(command.memory_id) if command.memory_id is not None else None
    if memory is None or not spoke_since(outlook, memory, place):
        return command
    if isinstance(command, SupersedeMemory | EndMemory):
        return None
    if isinstance(command, UpdateMemory) and command.kind in KEEPS_PLACE:
        return command
    if memory.closing is not None and memory.closing.kind == "retracted":
        return None
    return UpdateMemory(memory.memory_id, "late", command.statement, based_on=command.based_on)


def spoke_since(outlook: Outlook, memory: Memory, place: Place) -> bool:
    """Whether something that decides how the memory stands counts from after the place."""
    places = outlook.places
    return any(places.get(key_of(e), place) > place for e in memory.in_force() if has_a_say(e.event))


def process_moved_since(outlook: Outlook, process: str, place: Place) -> bool:
    """Whether a transition of the process counts from after the place."""
    ledger = outlook.after.ledger
    return any(
        isinstance(e.event, ProcessChanged)
        and e.event.process == process
        and outlook.places.get(key_of(e), place) > place
        for e in ledger.in_force()
    )
