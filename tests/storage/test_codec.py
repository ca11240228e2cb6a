"""Bytes to events and back, also from shapes of the past."""

import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import orjson
import pytest
from contracts.event_store import LIN, NOON, ManualClock, append, new_stream, opened, run_of, task
from pydantic import BaseModel

from memstrata.adapters.storage import Codec, SqlEventStore, open_store
from memstrata.domain.errors import UnknownEventError, VerificationFailedError
from memstrata.domain.events import EVENT_TYPES, Event, Payload

COMMON: dict[str, Any] = {"actor": "user", "correlation_id": "t1", "policy": "p1", "said_at": NOON}


class HabitOfOld(Event):
    TOPIC: ClassVar[str] = "test.habit"

    text: str


class Habit(Event):
    TOPIC: ClassVar[str] = "test.habit"
    SCHEMA_VERSION: ClassVar[int] = 3

    words: tuple[str, ...]
    mood: Literal["calm", "unknown"]


def split_text(payload: Payload) -> Payload:
    return {**{k: v for k, v in payload.items() if k != "text"}, "words": payload["text"].split()}


def add_mood(payload: Payload) -> Payload:
    return {**payload, "mood": "unknown"}


OLD = Codec({"test.habit": HabitOfOld}, {})
NEW = Codec({"test.habit": Habit}, {("test.habit", 1): split_text, ("test.habit", 2): add_mood})


def test_an_event_of_an_old_shape_is_lifted_when_it_is_read(path: Path, clock: ManualClock) -> None:
    stream = new_stream()
    with open_store(str(path), clock=clock, codec=OLD) as store:
        store.append(append(LIN, 0, *run_of(stream, 1, HabitOfOld(text="tea at four", **COMMON))))

    with open_store(str(path), clock=clock, codec=NEW) as store:
        (recorded,) = store.read_stream(LIN, stream)
        (trusted,) = store.read_log_trusted()
        assert recorded.event == Habit(words=("tea", "at", "four"), mood="unknown", **COMMON)
        assert trusted.payload["words"] == ["tea", "at", "four"]
        assert store.verify().ok


def test_a_shape_of_the_future_is_refused(path: Path, clock: ManualClock) -> None:
    stream = new_stream()
    with open_store(str(path), clock=clock, codec=NEW) as store:
        store.append(append(LIN, 0, *run_of(stream, 1, Habit(words=("tea",), mood="calm", **COMMON))))

    with open_store(str(path), clock=clock, codec=OLD) as store:
        with pytest.raises(UnknownEventError) as caught:
            store.read_stream(LIN, stream)
        assert (caught.value.topic, caught.value.schema_version) == ("test.habit", 3)
        assert store.verify().ok  # what cannot be read can still be vouched for


def test_an_unknown_topic_is_refused_when_it_is_read(path: Path, clock: ManualClock) -> None:
    stream = new_stream()
    with open_store(str(path), clock=clock, codec=OLD) as store:
        store.append(append(LIN, 0, *run_of(stream, 1, HabitOfOld(text="tea", **COMMON))))

    with open_store(str(path), clock=clock) as store, pytest.raises(UnknownEventError, match=r"test\.habit"):
        store.read_log_trusted()


def test_an_event_that_could_never_be_read_is_not_written(store: SqlEventStore) -> None:
    with pytest.raises(UnknownEventError):
        store.append(append(LIN, 0, *run_of(new_stream(), 1, HabitOfOld(text="tea", **COMMON))))

    assert store.head_position() == 0


def test_a_missing_upcaster_is_found_when_the_codec_is_built() -> None:
    with pytest.raises(ValueError, match=r"missing: \[\('test\.habit', 1\)\]"):
        Codec({"test.habit": Habit}, {("test.habit", 2): add_mood})


def test_an_unknown_codec_is_no_json() -> None:
    encoded = Codec().encode(task())._replace(codec=7)

    for read in (Codec().decode, Codec().decode_trusted):
        with pytest.raises(VerificationFailedError, match="codec 7"):
            read(encoded)


def test_trusted_payloads_are_what_was_written(store: SqlEventStore) -> None:
    stream = new_stream()
    store.append(append(LIN, 0, *run_of(stream, 1, task(), opened())))

    trusted = store.read_log_trusted()

    assert [e.payload for e in trusted] == [
        orjson.loads(event.model_dump_json(exclude_none=True)) for event in (task(), opened())
    ]
    assert [(e.position, e.stream_id, e.stream_version, e.recorded_at, e.topic) for e in trusted] == [
        (1, stream, 1, NOON, "ledger.task_changed"),
        (2, stream, 2, NOON, "ledger.batch_opened"),
    ]


def test_the_log_is_read_in_pages(store: SqlEventStore) -> None:
    store.append(append(LIN, 0, *run_of(new_stream(), 1, *[task()] * 5)))

    assert [e.position for e in store.read_log(limit=2)] == [1, 2]
    assert [e.position for e in store.read_log(after_position=2, limit=2)] == [3, 4]
    assert [e.position for e in store.read_log_trusted(after_position=4)] == [5]
    assert store.read_log(after_position=5) == []


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from models_in(inner)


def models_of_all_events() -> set[type[BaseModel]]:
    found: set[type[BaseModel]] = set()
    waiting: list[type[BaseModel]] = list(EVENT_TYPES.values())
    while waiting:
        model = waiting.pop()
        if model not in found:
            found.add(model)
            waiting += [m for f in model.model_fields.values() for m in models_in(f.annotation)]
    return found


def accepts_none(annotation: object) -> bool:
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return (
        annotation is None
        or annotation is type(None)
        or (union and any(accepts_none(inner) for inner in typing.get_args(annotation)))
    )


@pytest.mark.parametrize("model", sorted(models_of_all_events(), key=lambda m: m.__name__))
def test_a_field_left_out_because_it_is_none_is_none_when_it_is_read(model: type[BaseModel]) -> None:
    # The codec leaves nulls out; a field that may be None but defaults to something else would change.
    wrong = [
        name
        for name, field in model.model_fields.items()
        if accepts_none(field.annotation)
        and (
            field.is_required() or field.get_default(call_default_factory=True, validated_data={}) is not None
        )
    ]

    assert wrong == []
