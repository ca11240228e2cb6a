"""What came later has the last word over what is decided anew."""

from __future__ import annotations

from dataclasses import replace

from ..decision import ChangeProcess, Command, Decision, EndMemory, SupersedeMemory, UpdateMemory
from ..events import Event, ProcessChanged
from ..history import KEEPS_PLACE
from ..memory import Memory
from ..owner_state import OwnerState
from ..timeline import Place, key_of
from .grounds import has_a_say
from .outlook import Outlook


def fitted(outlook: Outlook, decision: Decision, place: Place, before: OwnerState) -> Decision | None:
    """The decision as it can be written now, behind all that was said since; None: not at all.

    A value that another one followed gets its closed period and does not become current; what
    was opened or taken back since is not touched by an end that came before; a correction of what was
    only supposed to have been written corrects nothing. `before` is the state that was decided on.
    """
    grounded = [_on_real_ground(outlook, command, before) for command in decision.commands]
    commands = [_fitted(outlook, command, place) for command in grounded if command is not None]
    kept = tuple(command for command in commands if command is not None)
    if decision.commands and not kept:
        return None
    return replace(decision, commands=kept)


def _on_real_ground(outlook: Outlook, command: Command, before: OwnerState) -> Command | None:
    """The command under the real numbers of what it is about; None where that is not written."""
    if not isinstance(command, UpdateMemory) or command.kind not in KEEPS_PLACE or command.of is None:
        return command
    supposed, real = before.memories[command.memory_id], outlook.after.memories.get(command.memory_id)
    about = supposed.versions[command.of - 1].entry
    versions = [about.stream_version]
    versions += [ref.version for ref in command.based_on if ref.stream == command.memory_id]
    if real is None or any(_event(real, one) != _event(supposed, one) for one in versions):
        return None
    number = next(v.number for v in real.versions if v.entry.stream_version == about.stream_version)
    return replace(command, of=number)


def _event(memory: Memory, stream_version: int) -> Event | None:
    """The event while it is in force: what is supposed has the number of what will be written."""
    return next((e.event for e in memory.in_force() if e.stream_version == stream_version), None)


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
