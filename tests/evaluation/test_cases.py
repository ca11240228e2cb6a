"""A malformed case is an error that names file, line and field."""

import json
from pathlib import Path
from typing import Any

import pytest
from evaluation.scripting import case_of, fact, play_all

from memstrata.application.evaluation import parse_case, read_cases
from memstrata.domain.errors import InvalidInputError

GOOD = case_of({"write": True, "action": "WRITE", "contains": [["a", "b"]]})
MEMORY = {"id": "m1", "content": "用户住在杭州"}


def changed(**fields: Any) -> dict[str, Any]:
    return {**GOOD, **fields}


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != name}


@pytest.mark.parametrize(
    ("case", "field"),
    [
        (without("id"), "id"),
        (without("expect"), "expect"),
        (without("turns"), "turns"),
        (changed(turns=[]), "turns"),
        (changed(id=""), "id"),
        (changed(lang="fr"), "lang"),
        (changed(notes="x"), "notes"),
        (changed(now="2026-03-02T10:00:00"), "now"),
        (changed(now="tomorrow"), "now"),
        (changed(turns=[{"assistant": "x"}]), "turns.0.user"),
        (changed(turns=[{"user": "x", "sesion": {}}]), "turns.0.sesion"),
        (changed(turns=[{"user": "x", "session": {"taks": "x"}}]), "turns.0.session.taks"),
        (changed(given={"memories": [{"id": "m1"}]}), "given.memories.0.content"),
        (changed(given={"memories": [{**MEMORY, "scope": "writing"}]}), "given.memories.0.scope"),
        (changed(given={"memories": [{**MEMORY, "type": "fact"}]}), "given.memories.0.type"),
        (changed(given={"memories": [{**MEMORY, "confidence": 2}]}), "given.memories.0.confidence"),
        (changed(given={"memories": [MEMORY, MEMORY]}), "the case"),
        (changed(expect={"write": "yes"}), "expect.write"),
        (changed(expect={"action": "STORE"}), "expect.action.0"),
        (changed(expect={"action": []}), "expect.action"),
        (changed(expect={"scope": ["global", "everywhere"]}), "expect.scope"),
        (changed(expect={"expires": "soon"}), "expect.expires"),
        (changed(expect={"contains": ["a"]}), "expect.contains.0"),
        (changed(expect={"contains": [[]]}), "expect.contains.0"),
        (changed(expect={"absent": [""]}), "expect.absent.0"),
        (changed(expect={"absent_in": "events"}), "expect.absent_in"),
        (changed(expect={"unchanged": ["m1"]}), "the case"),
        (changed(expect={"target": "m1"}), "the case"),
        (changed(expect={"actions": ["WRITE"]}), "expect.actions"),
    ],
)
def test_the_field_is_named(case: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_case(json.dumps(case), "cases.jsonl:7")

    assert caught.value.field == f"cases.jsonl:7: {field}"


@pytest.mark.parametrize("line", ["{", "[]", '"x"', "nonsense"])
def test_a_line_that_is_no_object_is_named(line: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_case(line, "cases.jsonl:7")

    assert caught.value.field == "cases.jsonl:7"


def test_lines_are_counted_in_the_file_and_empty_ones_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(GOOD) + "\n\n" + json.dumps(changed(lang="fr")) + "\n", "utf-8")

    with pytest.raises(InvalidInputError) as caught:
        read_cases([path])

    assert caught.value.field == f"{path}:3: lang"


def test_an_id_that_stands_twice_is_named_with_both_places(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for path in (one, two):
        path.write_text(json.dumps(GOOD) + "\n", "utf-8")

    with pytest.raises(InvalidInputError, match="stands at") as caught:
        read_cases([one, two])

    assert caught.value.field == f"{two}:1: id"
    assert f"{one}:1" in caught.value.problem


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"\xff\xfe{}")

    for path in (tmp_path / "none.jsonl", tmp_path, broken):
        with pytest.raises(InvalidInputError) as caught:
            read_cases([path])
        assert caught.value.field == str(path)


def test_a_turn_that_cannot_be_taken_is_named() -> None:
    case = case_of({"write": False}, "fine", "a\x00b")

    with pytest.raises(InvalidInputError) as caught:
        play_all([case], {})

    assert caught.value.field == "made-up:1: turns.1.user"


def test_a_given_memory_that_cannot_be_taken_is_named() -> None:
    case = case_of({"write": False}, given={"memories": [MEMORY, {"id": "m2", "content": "无"}]})

    with pytest.raises(InvalidInputError) as caught:
        play_all([case], {"the words": [fact("x")]})

    assert caught.value.field == "made-up:1: given.memories[1].content"
