"""Histories on disk: stored events, loaded into a fresh store as they are, and rows to compare with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, insert, select, update

from memstrata import Memstrata
from memstrata.adapters.storage import SqlEventStore, open_store, tables
from memstrata.adapters.storage.codec import Codec, Encoded
from memstrata.adapters.storage.ids import id_to_bytes, id_to_text
from memstrata.adapters.storage.keyed import GENESIS, chain, from_microseconds, leaf_of
from memstrata.application.explain import Why
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Clock
from memstrata.domain.stream import RecordedEvent
from memstrata.projections.ports import DecisionQuery, Listed, Views
from memstrata.projections.rows import PeriodRow, VersionRow

HERE = Path(__file__).resolve().parent
HISTORIES = HERE / "histories"
POLICIES = HERE / "policies"

RECOMPUTED = {"slot_key", "tokens"}
"""Fields of rows that follow from the registry and the tokeniser, which may change."""

Rows = dict[str, list[Any]]


# --- values as plain JSON ------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A row, an event or a value as JSON would hold it; times in UTC."""
    if isinstance(value, BaseModel):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.name not in RECOMPUTED}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def as_recorded(actual: Any, recorded: Any) -> Any:
    """`actual` without the fields that the recorded value never had: later versions may add some."""
    if isinstance(actual, dict) and isinstance(recorded, dict):
        return {key: as_recorded(item, recorded[key]) for key, item in actual.items() if key in recorded}
    if isinstance(actual, list) and isinstance(recorded, list) and len(actual) == len(recorded):
        return [as_recorded(one, other) for one, other in zip(actual, recorded, strict=True)]
    return actual


def rows_of(views: Views, owner: Owner) -> Rows:
    """The rows of every projection, as the port gives them."""
    memories = [listed.memory for listed in views.memories(owner)]
    ids = [row.memory_id for row in memories]
    return {
        "memories": plain(memories),
        "versions": plain([row for m in ids for row in views.versions(owner, m)]),
        "periods": plain([row for m in ids for row in views.known_periods(owner, m)]),
        "decisions": plain(views.decisions(owner, DecisionQuery())),
        "turns": plain(views.turns(owner)),
        "batches": plain(views.batches(owner)),
        "counts": [plain(views.counts(owner))],
    }


# --- questions and answers -----------------------------------------------------------------------


def answer(memory: Memstrata, question: Mapping[str, Any]) -> Any:
    """What the service answers to a recorded question."""
    owner = Owner.parse(question["owner"])
    at = {name: _moment(question[name]) for name in ("as_of", "valid_at") if question.get(name) is not None}
    match question["ask"]:
        case "memories":
            return [_listed(one) for one in memory.memories(owner, **at)]
        case "history":
            return [_version(row) for row in memory.history(owner, question["memory"], **at)]
        case "periods":
            return [_period(row) for row in memory.periods(owner, question["memory"], **at)]
        case "why":
            return _why(memory.why(owner, question["memory"]))
    raise AssertionError(question)


def _moment(given: int | str) -> int | datetime:
    return datetime.fromisoformat(given) if isinstance(given, str) else given


def _listed(one: Listed) -> dict[str, Any]:
    assert one.period is not None
    return {"memory": one.memory_id, "status": one.memory.status, "says": one.content, **_period(one.period)}


def _period(row: PeriodRow) -> dict[str, Any]:
    when = {"from": plain(row.valid_from), "to": plain(row.valid_to)}
    return {"version": row.number, "kind": row.kind, **when}


def _version(row: VersionRow) -> dict[str, Any]:
    return {
        "version": row.number,
        "kind": row.kind,
        "of": row.of,
        "in_force": row.in_force,
        "struck_by": row.struck_by,
        "says": None if row.statement is None else row.statement.content,
    }


def _why(why: Why) -> dict[str, Any]:
    return {
        "status": why.memory.status,
        "links": [
            {
                "version": link.version.number,
                "kind": link.version.kind,
                "in_force": link.version.in_force,
                "says": link.version.statement.content,
                "proposal": _ref(link.proposal),
                "judged": _ref(link.judged),
                "undone_by": link.undone_by,
            }
            for link in why.links
        ],
        "confirmations": [_ref(entry) for entry, _ in why.confirmations],
        "held": [_ref(entry) for entry, _ in why.held],
        "refusals": [[_ref(entry), event.reason, event.rule] for entry, event in why.refusals],
        "verdicts": [[_ref(entry), event.verdict, event.actor] for entry, event in why.verdicts],
        "words": dict(sorted(why.words.items())),
        "replaces": sorted(why.replaces),
        "batches": sorted(batch.batch_id for batch in why.batches),
    }


def _ref(entry: RecordedEvent | None) -> str | None:
    return None if entry is None else f"{entry.stream_id} v{entry.stream_version}"


# --- a history as recorded -----------------------------------------------------------------------

ENVELOPE = ("part", "pos", "owner_ref", "stream_id", "stream_version", "topic", "schema_version")
CODED = ("recorded_at", "codec", "key_id")
"""Columns of a stored event in the order of a line; payload and digests follow."""


@dataclass(frozen=True)
class History:
    """One recorded history."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def store(self) -> dict[str, Any]:
        return json.loads((self.folder / "store.json").read_text("utf-8"))  # type: ignore[no-any-return]

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        lines = (self.folder / "events.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    @cached_property
    def projections(self) -> dict[str, Rows]:
        """Rows by owner and projection."""
        return json.loads((self.folder / "projections.json").read_text("utf-8"))  # type: ignore[no-any-return]

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """Questions with their answers."""
        return json.loads((self.folder / "answers.json").read_text("utf-8"))  # type: ignore[no-any-return]

    @property
    def owners(self) -> list[Owner]:
        return [Owner.parse(name) for name in self.store["owners"]]

    def decoded(self) -> Iterator[RecordedEvent]:
        """The events in today's shape, by position."""
        codec = Codec()
        for line in self.events:
            row = stored_row(line)
            coded = Encoded(row["topic"], row["schema_version"], row["codec"], row["key_id"], row["state"])
            yield RecordedEvent(
                row["pos"],
                line["stream_id"],
                row["stream_version"],
                from_microseconds(row["recorded_at"]),
                codec.decode(coded),
                row["owner_ref"],
            )


def all_histories() -> list[History]:
    return [History(folder) for folder in sorted(HISTORIES.iterdir()) if folder.is_dir()]


def line_of(row: Mapping[str, Any]) -> str:
    """One stored event as a line; its payload is written so that its bytes can be told from it."""
    line = {name: row[name] for name in (*ENVELOPE, *CODED)}
    line |= {name: row[name].hex() for name in ("owner_ref", "key_id")}
    line["stream_id"] = id_to_text(row["stream_id"])
    line |= {"state": json.loads(row["state"]), "leaf": row["leaf"].hex(), "digest": row["digest"].hex()}
    return compact(line)


def stored_row(line: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of the event that a line tells of, digests as recorded."""
    row = dict(line)
    row |= {name: bytes.fromhex(line[name]) for name in ("owner_ref", "key_id", "leaf", "digest")}
    row["stream_id"] = id_to_bytes(line["stream_id"])
    row["state"] = compact(line["state"]).encode()
    return row


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def leaf_of_row(row: Mapping[str, Any]) -> bytes:
    return leaf_of(
        row["owner_ref"],
        row["stream_id"],
        row["stream_version"],
        row["topic"],
        row["schema_version"],
        row["recorded_at"],
        row["codec"],
        row["key_id"],
        row["state"],
    )


# --- stores --------------------------------------------------------------------------------------


def create_store(path: Path, pepper: str, clock: Clock) -> None:
    """A store in a file that names owners and turns by this pepper (64 hex digits)."""
    with open_store(str(path), clock=clock) as store, store.writing() as connection:
        connection.execute(
            update(tables.meta).where(tables.meta.c.name == "pepper").values(value=pepper),
        )


def load(history: History, path: Path, clock: Clock) -> None:
    """Put the events as they were stored into a fresh store, past all that would encode them anew."""
    create_store(path, history.store["pepper"], clock)
    with open_store(str(path), clock=clock) as store, store.writing() as connection:
        rows = [stored_row(line) for line in history.events]
        connection.execute(insert(tables.event), rows)
        _set_heads(connection, rows)
        for fingerprint in history.store["policies"]:
            document = (POLICIES / f"{fingerprint}.json").read_text("utf-8")
            connection.execute(insert(tables.policy), {"fingerprint": fingerprint, "document": document})


def _set_heads(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    owners = {(row["part"], row["owner_ref"]): row["pos"] for row in rows}
    places = [{"part": part, "owner_ref": ref, "pos": pos} for (part, ref), pos in owners.items()]
    connection.execute(insert(tables.owner), places)
    for last in {row["part"]: row for row in rows}.values():
        moved = {name: last[name] for name in ("pos", "recorded_at", "digest")}
        connection.execute(update(tables.head).where(tables.head.c.part == last["part"]).values(**moved))


def stored_lines(store: SqlEventStore) -> list[str]:
    """Every event of the store as a line, by position.

    Raises:
        AssertionError: the line would not give the stored bytes back.
    """
    lines = []
    with store.reading() as connection:
        query = select(tables.event).order_by(tables.event.c.part, tables.event.c.pos)
        for row in connection.execute(query).mappings():
            lines.append(line_of(row))
            again = stored_row(json.loads(lines[-1]))
            assert {name: again[name] for name in row} == dict(row)
    return lines


def check_digests(history: History) -> str | None:
    """The first event whose digests are not those of its columns, None when all agree."""
    digest = GENESIS
    for line in history.events:
        row = stored_row(line)
        leaf = leaf_of_row(row)
        digest = chain(digest, row["pos"], leaf)
        if (leaf, digest) != (row["leaf"], row["digest"]):
            return f"{history.name}: event {row['pos']}"
    return None
