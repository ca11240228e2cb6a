"""Long-term memory for AI agents that keeps the reason for everything it remembers.

from memstrata import Memstrata, Turn

with Memstrata.open("memstrata.db") as memory:
memory.ingest("acme/lin", [Turn(user="我住在成都", session="s1")])
for listed in memory.memories("acme/lin"):
print(listed.statement.content)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bootstrap import Memstrata
    from .domain.owner import Owner
    from .domain.selector import Selector
    from .domain.turn import ContextItem, Turn

__version__ = "0.1.0"

__all__ = ["ContextItem", "Memstrata", "Owner", "Selector", "Turn", "__version__"]

_HOMES = {
    "Memstrata": "bootstrap",
    "Owner": "domain.owner",
    "Selector": "domain.selector",
    "Turn": "domain.turn",
    "ContextItem": "domain.turn",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for only then: importing the package alone costs next to nothing."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{home}", __name__), name)
