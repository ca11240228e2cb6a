"""Long-term memory for AI agents that keeps the reason for everything it remembers."""

__version__ = "0.1.0"
