"""Conversations from files: lines of turns, and messages in the manner of chat APIs, become turns."""

from .fields import Defaults, UnreadableError
from .lines import Placed, Problem, ReadTurns, read_turns

__all__ = ["Defaults", "Placed", "Problem", "ReadTurns", "UnreadableError", "read_turns"]
