"""The rules of memory, pure: no clock, no random ids, no input or output."""
