"""Files of conversations become turns; what cannot be read is reported with its line."""

import json
from datetime import UTC, datetime

import pytest

from memstrata.adapters.importers import Defaults, ReadTurns, read_turns

TURN = {"user": "我住在杭州", "session": "s1", "at": "2026-10-08T09:30:00+08:00"}


def read(*lines: object, session: str | None = None) -> ReadTurns:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return read_turns(text.encode(), Defaults(session=session, name="chat"))


def problem(line: object) -> str:
    result = read(line)
    assert result.turns == []
    (found,) = result.problems
    assert found.line == 1
    return found.text


def test_each_line_is_a_turn_and_empty_lines_count_but_say_nothing() -> None:
    result = read(TURN, "", {**TURN, "user": "b", "context": [{"role": "tool", "text": "t"}]}, "")

    assert [(placed.line, placed.turn.user) for placed in result.turns] == [(1, "我住在杭州"), (3, "b")]
    assert result.turns[1].turn.context[0].text == "t"
    assert result.problems == []


def test_a_malformed_line_is_reported_and_the_rest_goes_on() -> None:
    result = read(TURN, '{"user": "half', {**TURN, "user": "c"})

    assert [placed.line for placed in result.turns] == [1, 3]
    assert [found.line for found in result.problems] == [2]
    assert "is no JSON" in result.problems[0].text


def test_a_malformed_first_line_does_not_hide_the_others() -> None:
    result = read("{broken", TURN)

    assert [placed.line for placed in result.turns] == [2]
    assert [found.line for found in result.problems] == [1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"taskid": "x"}, "taskid: is an unknown field; did you mean 'task_id'?"),
        ({"qqq": 1}, "qqq: is an unknown field; known are user, assistant"),
        ({"user": 5}, "user: is no text"),
        ({"at": "2026-10-08T09:30:00"}, "has no offset from UTC"),
        ({"at": "yesterday"}, "'yesterday' is no time"),
        ({"at": 1760000000}, "at: is no text"),
        ({"session": ""}, "session: is empty"),
        ({"allow_extraction": "no"}, "allow_extraction: is neither true nor false"),
        ({"context": [{"role": "user", "text": "x"}]}, "context.0.role: is none of the known words"),
        ({"context": [{"role": "tool", "text": "x", "a": 1}]}, "context.0.a: is an unknown field"),
        ({"recent_tasks": "x"}, "recent_tasks: is no list"),
    ],
)
def test_a_wrong_field_is_named_with_what_to_do(change: dict[str, object], says: str) -> None:
    assert says in problem({**TURN, **change})


def test_a_turn_needs_words_and_a_session() -> None:
    assert problem({"session": "s"}) == "user: is missing"
    assert "session: is missing; name it in the line or with --session" in problem({"user": "a"})


@pytest.mark.parametrize("line", ["5", '"text"', "[1]", "null"])
def test_what_is_no_object_is_no_turn(line: str) -> None:
    assert "is no object" in problem(line) or "is no list" in problem(line)


def test_the_session_of_the_call_holds_for_lines_without_one() -> None:
    result = read({"user": "a"}, {"user": "b", "session": "own"}, session="given")

    assert [placed.turn.session for placed in result.turns] == ["given", "own"]


def test_bytes_that_are_not_utf_8_are_a_problem_of_their_line() -> None:
    result = read_turns(json.dumps(TURN).encode() + b'\n{"user": "\xff"}', Defaults())

    assert len(result.turns) == 1
    assert "is not UTF-8 at byte 11" in result.problems[0].text


def test_a_line_separator_inside_of_a_text_does_not_split_the_line() -> None:
    result = read(json.dumps({**TURN, "user": "a\u2028b"}, ensure_ascii=False))

    assert [placed.turn.user for placed in result.turns] == ["a\u2028b"]


def test_a_byte_order_mark_is_passed_over() -> None:
    assert len(read_turns(b"\xef\xbb\xbf" + json.dumps(TURN).encode(), Defaults()).turns) == 1


def test_very_deep_json_is_a_problem_and_no_crash() -> None:
    assert "too deep" in problem('{"user": ' + "[" * 200_000)


CONVERSATION = {
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "I live in Leeds.", "id": "m1"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
        {"role": "tool", "content": "weather: rain", "tool_call_id": "c"},
        {"role": "assistant", "content": "It rains."},
        {"role": "user", "content": [{"type": "text", "text": "Thanks"}, {"type": "image_url"}]},
    ]
}


def test_messages_become_turns_with_reply_and_context() -> None:
    first, second = (placed.turn for placed in read({**CONVERSATION, "id": "c9"}).turns)

    assert (first.user, first.assistant, first.message_id) == ("I live in Leeds.", "It rains.", "m1")
    assert [(item.role, item.text) for item in first.context] == [
        ("system", "Be kind."),
        ("tool", "weather: rain"),
    ]
    assert (second.user, second.assistant, second.session) == ("Thanks", None, "c9")


def test_a_conversation_may_be_spread_over_lines_or_be_a_bare_list() -> None:
    pretty = read(json.dumps(CONVERSATION, indent=2))
    bare = read(CONVERSATION["messages"])

    assert [p.turn.user for p in pretty.turns] == [p.turn.user for p in bare.turns]
    assert {p.turn.session for p in pretty.turns} == {"chat"}
    assert pretty.problems == bare.problems == []


def test_conversations_without_an_id_are_told_apart_by_their_place() -> None:
    result = read(CONVERSATION, CONVERSATION)

    assert sorted({p.turn.session for p in result.turns}) == ["chat#1", "chat#2"]


def test_a_list_of_conversations_in_one_document_is_read_item_by_item() -> None:
    result = read(json.dumps([CONVERSATION, {"messages": []}, TURN], indent=1))

    assert [p.line for p in result.turns] == [1, 1, 3]
    assert [p.line for p in result.problems] == [2]


def test_times_of_messages_may_be_unix_seconds() -> None:
    message = {"role": "user", "content": "a", "created_at": 1760000000}

    (placed,) = read({"messages": [message], "session": "s"}).turns

    assert placed.turn.at == datetime.fromtimestamp(1760000000, UTC)


def test_the_conversations_time_holds_for_messages_without_one() -> None:
    (placed,) = read(
        {"messages": [{"role": "user", "content": "a"}], "created_at": "2026-10-08T09:30:00+08:00"}
    ).turns

    assert placed.turn.at == datetime(2026, 10, 8, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"messages": "x"}, "messages: is no list"),
        ({"messages": []}, "holds no message of the role 'user'"),
        ({"messages": [5]}, "messages.0: is no object"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role: 'robot' is unknown"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content: is neither a text nor a list"),
        ({"messages": [{"role": "user", "content": [5]}]}, "messages.0.content: holds a part that is none"),
        ({"messages": [{"role": "user", "content": "x", "mood": 1}]}, "messages.0.mood: is an unknown field"),
        ({"messages": [{"role": "user", "content": "x"}], "mood": 1}, "mood: is an unknown field"),
    ],
)
def test_what_is_wrong_with_messages_is_named(document: object, says: str) -> None:
    assert says in problem(document)
