"""The tables of the projections, live and in the making.

Each key begins with `owner_ref`. Moments are whole microseconds since 1970-01-01T00:00Z. What is
open-ended in time or in knowledge holds `OPEN`, so that "known at P" and "valid at V" are plain
comparisons that an index answers. `info` says how a column's value is kept (see `shapes`).

A generation stands in the names of keys and indexes, which some databases count among the names of
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
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import DOUBLE, LONGTEXT, VARBINARY

from ....domain.candidate import Candidate
from ....domain.judgement import Judgement
from ....domain.statement import Statement

OPEN = (1 << 63) - 1
"""Later than every moment and every position."""

_text = Text().with_variant(LONGTEXT(), "mysql", "mariadb")
_float = Float(53).with_variant(DOUBLE(), "mysql", "mariadb")


def _owner() -> Column[Any]:
    kept = LargeBinary(16).with_variant(VARBINARY(16), "mysql", "mariadb")
    return Column("owner_ref", kept, nullable=False)


def _id(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, String(32), nullable=nullable)


def _word(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, String(32), nullable=nullable)


def _words(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, _text, nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, Integer, nullable=nullable)


def _position(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=nullable)


def _moment(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=nullable, info={"as": "moment"})


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False)


def _refs(name: str) -> Column[Any]:
    return Column(name, _text, nullable=False, info={"as": "refs"})


def _model(name: str, cls: type) -> Column[Any]:
    return Column(name, _text, nullable=True, info={"as": cls})


@dataclass(frozen=True, slots=True)
class ViewTables:
    """One generation of all tables."""

    metadata: MetaData
    memory: Table
    version: Table
    period: Table
    decision: Table
    turn: Table
    batch: Table
    indexes: tuple[Index, ...]

    @property
    def all(self) -> tuple[Table, ...]:
        """Every table, in a fixed order."""
        return (self.memory, self.version, self.period, self.decision, self.turn, self.batch)


def view_tables(generation: int, suffix: str = "") -> ViewTables:
    """The tables of a generation; `suffix` keeps those of a rebuild apart from the live ones."""
    metadata = MetaData()

    def table(name: str, key: Sequence[str], *columns: Column[Any]) -> Table:
        primary = PrimaryKeyConstraint("owner_ref", *key, name=f"{name}_key_{generation}")
        return Table(name + suffix, metadata, _owner(), *columns, primary)

    memory = table(
        "memory",
        ["memory_id"],
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
        _model("statement", Statement),
    )
    version = table(
        "memory_version",
        ["memory_id", "number"],
        _id("memory_id"),
        _number("number"),
        _number("stream_version"),
        _position("position"),
        _moment("recorded_at"),
        _word("kind"),
        _number("of", nullable=True),
        _flag("in_force"),
        _words("struck_by", nullable=True),
        _words("actor"),
        _words("correlation_id"),
        _words("policy"),
        _refs("based_on"),
        _refs("caused_by"),
        _model("statement", Statement),
    )
    period = table(
        "memory_period",
        ["memory_id", "known_from", "valid_from"],
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
    )
    decision = table(
        "decision",
        ["position"],
        _position("position"),
        _id("stream_id"),
        _number("stream_version"),
        _word("kind"),
        _words("turn_id"),
        _words("session"),
        _words("agent", nullable=True),
        _moment("said_at"),
        _moment("recorded_at"),
        _words("actor"),
        _words("correlation_id"),
        _words("policy"),
        _word("channel", nullable=True),
        _words("extractor", nullable=True),
        _word("action", nullable=True),
        _word("outcome", nullable=True),
        _words("reason"),
        _words("rule"),
        _word("category", nullable=True),
        _words("attribute", nullable=True),
        _words("content"),
        Column("confidence", _float, nullable=True),
        _id("memory_id", nullable=True),
        _flag("in_force"),
        _words("struck_by", nullable=True),
        _refs("caused_by"),
        _model("candidate", Candidate),
        _model("judgement", Judgement),
    )
    decision.append_constraint(
        UniqueConstraint("stream_id", "stream_version", name=f"decision_event_{generation}")
    )
    turn = table(
        "turn",
        ["turn_id"],
        _id("turn_id"),
        _words("session"),
        _words("message_id", nullable=True),
        _words("agent", nullable=True),
        _words("task_id", nullable=True),
        _words("project", nullable=True),
        _moment("said_at"),
        Column("digest", String(64), nullable=False),
        _words("text", nullable=True),
        _number("revisions"),
        _flag("in_force"),
        _position("position"),
        _moment("recorded_at"),
        _number("stream_version"),
    )
    batch = table(
        "batch",
        ["batch_id"],
        Column("batch_id", String(128), nullable=False),
        _word("kind"),
        _words("reason"),
        _words("undoes", nullable=True),
        _words("actor"),
        _position("position"),
        _moment("recorded_at"),
        _position("closed_pos", nullable=True),
        _number("written", nullable=True),
    )
    indexes = (
        Index(f"memory_status_{generation}", memory.c.owner_ref, memory.c.status, memory.c.created_pos),
        Index(
            f"memory_period_known_{generation}",
            period.c.owner_ref,
            period.c.known_to,
            period.c.known_from,
            period.c.valid_from,
            period.c.valid_to,
        ),
        Index(f"decision_memory_{generation}", decision.c.owner_ref, decision.c.memory_id),
    )
    return ViewTables(metadata, memory, version, period, decision, turn, batch, indexes)
