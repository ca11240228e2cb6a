"""The tables of the projections, live and in the making.

Each key begins with `owner_ref`. Moments are whole microseconds since 1970-01-01T00:00Z. What is
open-ended in time or in knowledge holds `OPEN`, so that "known at P" and "valid at V" are plain
comparisons. `info` says how a column's value is kept (see `shapes`).

A generation stands in the names of keys, which some databases count among the names of
the whole schema: so the tables of a rebuild can take the live ones' names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
)
from sqlalchemy.dialects.mysql import DOUBLE

from ..tables import key_bytes, long_text

RETIRED = ("memory_version", "turn")
"""Tables of earlier versions of the projections; they go when today's take their places."""

OPEN = (1 << 63) - 1
"""Later than every moment and every position."""

_float = Float(53).with_variant(DOUBLE(), "mysql", "mariadb")


def _owner() -> Column[Any]:
    return Column("owner_ref", key_bytes(16), nullable=False)


def _id(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, String(32), nullable=nullable)


def _word(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, String(32), nullable=nullable)


def _words(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, long_text, nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, Integer, nullable=nullable)


def _position(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=nullable)


def _moment(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=nullable, info={"as": "moment"})


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False)


@dataclass(frozen=True, slots=True)
class ViewTables:
    """One generation of all tables."""

    metadata: MetaData
    memory: Table
    period: Table
    decision: Table
    batch: Table

    @property
    def all(self) -> tuple[Table, ...]:
        """Every table, in a fixed order."""
        return (self.memory, self.period, self.decision, self.batch)


def view_tables(generation: int, suffix: str = "") -> ViewTables:
    """The tables of a generation; `suffix` keeps those of a rebuild apart from the live ones."""
    metadata = MetaData()

    def table(name: str, key: Sequence[str], columns: Sequence[Column[Any]]) -> Table:
        primary = PrimaryKeyConstraint("owner_ref", *key, name=f"{name}_key_{generation}")
        # One owner's rows lie side by side: reading all of them is reading a few pages.
        return Table(name + suffix, metadata, _owner(), *columns, primary, sqlite_with_rowid=False)

    return ViewTables(
        metadata,
        memory=table("memory", ["memory_id"], _of_memory()),
        period=table("memory_period", ["memory_id", "known_from", "valid_from"], _of_period()),
        decision=table("decision", ["position"], _of_decision()),
        batch=table("batch", ["batch_id"], _of_batch()),
    )


def _of_memory() -> list[Column[Any]]:
    """What lists, search and context need of each memory."""
    return [
        _id("memory_id"),
        _word("status"),
        _words("subject"),
        _words("attribute"),
        _word("type", nullable=True),
        _words("content"),
        _words("value", nullable=True),
        _word("polarity"),
        _word("certainty"),
        _word("scope_kind", nullable=True),
        _words("scope_anchor"),
        _number("scope_rank", nullable=True),
        Column("confidence", _float, nullable=True),
        _number("importance"),
        _word("source", nullable=True),
        _words("slot_key"),
        _moment("valid_from", nullable=True),
        _moment("ends_at", nullable=True),
        _number("chain_version"),
        _number("versions"),
        _number("stream_version"),
        _words("session", nullable=True),
        _words("agent", nullable=True),
        _words("turn_id", nullable=True),
        _moment("said_at", nullable=True),
        _number("confirmations"),
        _moment("confirmed_at", nullable=True),
        _number("hints"),
        _number("occasions"),
        _flag("pinned"),
        _position("created_pos"),
        _position("updated_pos"),
        _moment("created_at"),
        _moment("updated_at"),
        _word("closing", nullable=True),
        _moment("closed_at", nullable=True),
        _words("closing_reason", nullable=True),
        _id("successor", nullable=True),
        _words("tokens"),
        _position("said_pos", nullable=True),
    ]


def _of_period() -> list[Column[Any]]:
    """When which version was known to hold, on both axes of time."""
    return [
        _id("memory_id"),
        _number("number"),
        _word("kind"),
        _word("status"),
        _word("scope_kind"),
        _words("scope_anchor"),
        _moment("valid_from"),
        Column("valid_to", BigInteger, nullable=False, info={"as": "open moment"}),
        _position("known_from"),
        Column("known_to", BigInteger, nullable=False, info={"as": "open position"}),
        _position("said_pos"),
    ]


def _of_decision() -> list[Column[Any]]:
    """What judgements and proposals are found by."""
    return [
        _position("position"),
        _word("outcome", nullable=True),
        _words("turn_id"),
        _words("session"),
        _id("memory_id", nullable=True),
        _words("correlation_id"),
        _moment("said_at"),
        _words("struck_by", nullable=True),
    ]


def _of_batch() -> list[Column[Any]]:
    """Work that wrote to several streams."""
    return [
        Column("batch_id", String(128), nullable=False),
        _word("kind"),
        _words("reason"),
        _words("undoes", nullable=True),
        _words("actor"),
        _position("position"),
        _moment("recorded_at"),
        _position("closed_pos", nullable=True),
        _number("written", nullable=True),
    ]


LIVE = view_tables(1)
"""The tables that are read and that appends keep in step, of whatever generation their keys are."""
