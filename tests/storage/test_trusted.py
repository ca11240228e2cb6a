"""Excerpts are the events they are taken from, but for what was left out."""

import json
from pathlib import Path
from typing import Any

import pytest
from contracts.histories import created, judged, statement, stream
from contracts.random_histories import histories
from hypothesis import given, settings
from pydantic import BaseModel

from memstrata.adapters.storage import Codec
from memstrata.adapters.storage.codec import Encoded
from memstrata.adapters.storage.trusted import ExcerptDecoder, Unread
from memstrata.domain.errors import UnknownEventError, VerificationFailedError
from memstrata.domain.events import EVENT_TYPES, Event, Judged
from memstrata.domain.many_objects import many_objects
from memstrata.domain.statement import Statement
from memstrata.domain.stream import NewEvent
from memstrata.projections.fold import UNREAD, needs_whole

GOLDEN = sorted((Path(__file__).resolve().parent.parent / "golden").glob("*/v*/*.json"))
CODEC = Codec()
WHOLE = ExcerptDecoder(CODEC, {}, lambda event: False)
FOLDED = ExcerptDecoder(CODEC, UNREAD, needs_whole)


def without(value: Any, unread: Unread) -> Any:
    """What a value says, the fields aside that are not read."""
    if isinstance(value, BaseModel):
        left = unread.get(type(value), frozenset())
        return {
            name: without(getattr(value, name), unread)
            for name in type(value).model_fields
            if name not in left
        }
    if isinstance(value, tuple):
        return [without(item, unread) for item in value]
    return value


def test_excerpts_that_leave_nothing_out_are_the_golden_events() -> None:
    for path in GOLDEN:
        topic, payload = path.parent.parent.name, json.loads(path.read_text("utf-8"))
        version = int(path.parent.name.removeprefix("v"))
        stored = Encoded(topic, version, 0, b"", json.dumps(payload).encode())

        assert WHOLE.decode(*stored) == CODEC.decode(stored)


@settings(max_examples=60, deadline=None)
@given(history=histories(stream(0xF1), erasing=True))
def test_excerpts_of_any_event_say_what_the_event_says(history: list[list[NewEvent]]) -> None:
    for event in (new.event for events in history for new in events):
        stored = CODEC.encode(event)

        assert WHOLE.decode(*stored) == event
        excerpt = FOLDED.decode(*stored)
        unread = {} if needs_whole(event) else UNREAD
        assert without(excerpt, unread) == without(event, unread)


def test_what_was_left_out_cannot_be_read_by_mistake() -> None:
    gate, made = judged(stream(1), "words"), created(statement("15k"))

    with pytest.raises(AttributeError, match="judgement"):
        _ = FOLDED.decode(*CODEC.encode(gate)).judgement  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="evidence"):
        _ = FOLDED.decode(*CODEC.encode(made)).statement.evidence  # type: ignore[attr-defined]


@pytest.mark.parametrize("state", [b"{", b"[]", b"null", b'{"actor":"user"}', b'{"statement":7}'])
def test_bytes_that_are_no_event_are_refused_as_everywhere(state: bytes) -> None:
    stored = Encoded("memory.created", 1, 0, b"", state)

    with pytest.raises(VerificationFailedError):
        CODEC.decode(stored)
    with pytest.raises(VerificationFailedError):
        FOLDED.decode(*stored)


def test_a_missing_field_is_found() -> None:
    payload = json.loads(CODEC.encode(created(statement("15k"))).state)
    del payload["policy"]

    with pytest.raises(VerificationFailedError):
        FOLDED.decode("memory.created", 1, 0, b"", json.dumps(payload).encode())


def test_an_unknown_topic_and_an_unknown_codec_are_refused() -> None:
    stored = CODEC.encode(created(statement("15k")))

    with pytest.raises(UnknownEventError):
        FOLDED.decode(*stored._replace(topic="memory.dreamt"))
    with pytest.raises(VerificationFailedError, match="codec 7"):
        FOLDED.decode(*stored._replace(codec=7))


def test_an_event_of_an_old_shape_is_lifted() -> None:
    class Later(Judged):
        SCHEMA_VERSION = 2

    types: dict[str, type[Event]] = {**EVENT_TYPES, Judged.TOPIC: Later}
    lifting = Codec(types, {(Judged.TOPIC, 1): lambda payload: {**payload, "text": "lifted"}})
    stored = CODEC.encode(judged(stream(1), "words"))

    lifted = ExcerptDecoder(lifting, UNREAD, needs_whole).decode(*stored)

    assert isinstance(lifted, Later)
    assert lifted.text == "lifted"


def test_cycles_are_looked_for_again_afterwards() -> None:
    import gc

    for before in (True, False):
        (gc.enable if before else gc.disable)()
        with many_objects():
            assert not gc.isenabled()
        after = gc.isenabled()
        gc.enable()
        assert after is before


def test_the_fields_that_are_left_out_exist() -> None:
    for cls, names in UNREAD.items():
        assert names <= set(cls.model_fields), cls
    assert "evidence" in UNREAD[Statement]
