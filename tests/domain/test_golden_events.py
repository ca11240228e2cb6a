"""Payloads written once, that every later version must still read: never edit a golden file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from memstrata.domain.errors import UnknownEventError
from memstrata.domain.events import EVENT_TYPES, Created, Event
from memstrata.domain.upcasting import UPCASTERS, check_upcasters, upcast

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
FILES = sorted(GOLDEN.glob("*/v*/*.json"))


def read(path: Path) -> tuple[str, int, dict[str, object]]:
    topic, version = path.parent.parent.name, int(path.parent.name.removeprefix("v"))
    return topic, version, json.loads(path.read_text("utf-8"))


def test_every_type_and_version_has_a_golden_file() -> None:
    wanted = {(topic, v) for topic, cls in EVENT_TYPES.items() for v in range(1, cls.SCHEMA_VERSION + 1)}

    assert {read(path)[:2] for path in FILES} == wanted


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}")
def test_a_golden_payload_is_read_and_written_alike(path: Path) -> None:
    topic, version, payload = read(path)

    event = EVENT_TYPES[topic].model_validate(upcast(topic, version, payload))

    if version == EVENT_TYPES[topic].SCHEMA_VERSION:
        assert json.loads(event.model_dump_json(exclude_none=True)) == payload


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.parent.name)
def test_an_unknown_field_is_refused(path: Path) -> None:
    topic, version, payload = read(path)

    with pytest.raises(ValidationError):
        EVENT_TYPES[topic].model_validate(upcast(topic, version, {**payload, "surprise": 1}))


def test_the_upcasters_of_today_are_complete() -> None:
    check_upcasters()


def test_a_missing_and_a_superfluous_step_are_named() -> None:
    class CreatedLater(Created):
        SCHEMA_VERSION = 3

    types: dict[str, type[Event]] = {"memory.created": CreatedLater}

    with pytest.raises(
        ValueError, match=r"missing: \[\('memory.created', 2\)\].*superfluous: \[\('x', 1\)\]"
    ):
        check_upcasters(types, {("memory.created", 1): dict, ("x", 1): dict})


def test_a_payload_is_lifted_step_by_step() -> None:
    class CreatedLater(Created):
        SCHEMA_VERSION = 3

    steps = {
        ("memory.created", 1): lambda payload: {**payload, "one": 1},
        ("memory.created", 2): lambda payload: {**payload, "two": payload["one"] + 1},
    }

    lifted = upcast("memory.created", 1, {}, {"memory.created": CreatedLater}, steps)

    assert lifted == {"one": 1, "two": 2}


@pytest.mark.parametrize(("topic", "version"), [("memory.unheard", 1), ("memory.created", 99)])
def test_what_a_later_program_wrote_is_refused(topic: str, version: int) -> None:
    with pytest.raises(UnknownEventError, match="upgrade"):
        upcast(topic, version, {}, EVENT_TYPES, UPCASTERS)
