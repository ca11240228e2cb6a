"""English turns as a whole: several statements in one turn, spelling, what asserts nothing, who is meant."""

import pytest

from memstrata.domain.candidate import Candidate
from memstrata.domain.evidence import stands_in
from memstrata.pipeline.extract import RuleExtractor
from memstrata.pipeline.extract.english import (
    in_third_person,
    parts,
    phrases,
    tidy,
    with_verb_in_third_person,
)

from .reading_a_turn import prepared

REFUSED = ("joke", "hypothetical", "question", "quoted", "third_party", "no_memory")


def found(text: str, **hand: object) -> list[Candidate]:
    turn = prepared(text, **hand)  # type: ignore[arg-type]
    candidates = RuleExtractor().extract(turn)
    assert all(stands_in(e, turn.text) for c in candidates for e in c.evidence)
    return [one for one in candidates if not one.has(*REFUSED)]


def told(text: str, **hand: object) -> set[tuple[str, str | None]]:
    return {(one.attribute, one.value) for one in found(text, **hand)}


@pytest.mark.parametrize(
    "text",
    [
        "I don't eat pork",
        "I don’t eat pork",
        "i dont eat pork",
        "I DON'T EAT PORK!!",
        "i do not eat pork pls",
    ],
)
def test_apostrophes_and_case_make_no_difference(text: str) -> None:
    assert [(one.attribute, (one.value or "").casefold()) for one in found(text)] == [("taste", "pork")]


def test_a_turn_may_say_several_things() -> None:
    said = told("lol thanks! btw I'm vegan, my birthday is on 9 April, and I just moved to Ghent from Lille")
    assert said == {("diet", "vegan"), ("birthday", "04-09"), ("city", "Ghent")}


def test_a_list_is_a_thing_each() -> None:
    assert told("I love ramen, pho, and tacos") == {("taste", "ramen"), ("taste", "pho"), ("taste", "tacos")}
    assert told("I like action and horror movies") == {("taste", "action and horror movies")}


@pytest.mark.parametrize(
    "text",
    [
        "ok cool",
        "I love it, thank you!",
        "I'm in a meeting rn",
        "ugh I hate this week",
        "Just landed in Oslo, quick layover",
        "If I ever moved to Oslo, I'd sell the car.",
        "oh sure, I just love being put on hold for an hour",
        "I'm 300 years old, jk",
        "my boss lives in Oslo and hates fish",
        "a guy from work moved to Oslo",
        'Translate: "I live in Oslo and I\'m allergic to nuts."',
        "```\n# always answer in French\n```\nwhy does this fail?",
        "should I go vegan?",
        "no need to save this, but I like Fridays",
        "I always forget how to do that",
        "never have I been so bored",
        "I have a question about the report",
        "things I enjoy doing are none of that",
    ],
)
def test_what_asserts_nothing_about_the_user_is_not_found(text: str) -> None:
    assert found(text) == []


def test_a_polite_request_is_no_question() -> None:
    (one,) = found("Could you put that into a table?")
    assert one.kind == "answer_instruction"


def test_a_standing_order_knows_whether_it_is_about_answers_or_tasks() -> None:
    (answers,) = found("From now on answer in plain English.")
    assert (answers.kind, answers.family) == ("style", None)
    (reports,) = found("From now on my reports should start with the risks.")
    assert (reports.kind, reports.family) == ("preference", "writing")
    (code,) = found("Whenever you write code for me, add tests.")
    assert (code.kind, code.family) == ("preference", "coding")


def test_an_order_for_the_thing_in_hand_is_a_constraint() -> None:
    (one,) = found("Keep this memo under two pages, ok?", task="memo", task_id="m-1")
    assert one.kind == "constraint"
    assert one.has("limiting")
    assert not one.has("lasting")


def test_what_was_meant_takes_the_place_of_what_was_said() -> None:
    (one,) = found("oops, I meant product manager", history=["I'm a product designer"])
    assert (one.intent, one.attribute, one.value, one.former_value) == (
        "correct",
        "job_title",
        "product manager",
        "product designer",
    )


def test_a_stay_with_an_end_leaves_the_city_alone() -> None:
    (one,) = found("I'm staying in Madrid until March 20")
    assert one.attribute == "whereabouts"
    assert one.time is not None
    assert one.time.end is not None
    assert one.time.end.isoformat() == "2026-03-21T00:00:00+08:00"


def test_wordings_of_one_wish_share_a_key() -> None:
    said = ("a hotel in Rome with a pool", "now Nice, pool required", "hotel in Bari, must have a pool")
    keys = {one.hint_key for text in said for one in found(text, task="hotel search") if one.kind == "hint"}
    assert keys == {"pool"}


def test_a_relative_of_the_household_is_no_stranger() -> None:
    assert told("my daughter Iris is allergic to eggs") == {("child", "daughter Iris is allergic to eggs")}
    assert found("my colleague Iris is allergic to eggs") == []


@pytest.mark.parametrize(
    ("said", "bare"),
    [
        ("hey, please use tabs, thanks!", "use tabs"),
        ("From now on, no emojis", "no emojis"),
        ("please", "please"),
        ("could you be brief", "be brief"),
    ],
)
def test_fillers_are_left_out(said: str, bare: str) -> None:
    assert tidy(said) == bare


def test_the_user_is_told_of_in_the_third_person() -> None:
    assert in_third_person("deaf in my left ear, I'm told") == "deaf in their left ear, they are told"
    assert in_third_person("mine, myself and me") == "theirs, themself and them"
    assert with_verb_in_third_person("teach music") == "teaches music"
    assert with_verb_in_third_person("carry boxes") == "carries boxes"
    assert with_verb_in_third_person("go out") == "goes out"


def test_things_are_parted_where_they_are_several() -> None:
    assert parts("jazz and bossa nova") == ["jazz", "bossa nova"]
    assert parts("comedies and romance films") == ["comedies", "romance films"]
    assert parts("AC/DC") == ["AC/DC"]
    assert parts("a bit of German") == ["German"]


def test_every_word_list_is_a_pattern() -> None:
    for name in ("lead", "no_place", "worker", "answering", "tasks_before"):
        assert phrases(name).pattern
