"""What is remembered changes by the plainest words that people use for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memstrata import Memstrata, Turn
from memstrata.application.importing import ImportedMemory

OWNER = "acme/lin"
BEFORE, NOW = datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 11, 8, 9, tzinfo=UTC)


def told(known: str, words: str) -> list[str]:
    """What holds when somebody of whom one thing was known has said the words.

    `known` is `content @attribute=value`.
    """
    content, _, slot = known.partition(" @")
    attribute, _, value = slot.partition("=")
    one = ImportedMemory(content=content, attribute=attribute or None, value=value or None, valid_from=BEFORE)
    with Memstrata.open(":memory:") as memory:
        memory.import_memories(OWNER, [one])
        memory.ingest(OWNER, [Turn(user=words, session="s", at=NOW)])
        return [row.statement.content for row in memory.memories(OWNER) if row.statement is not None]


@pytest.mark.parametrize(
    ("known", "words", "holds"),
    [
        ("The user lives in Leeds @city=Leeds", "we live in York now", "The user lives in York"),
        (
            "The user works as a teacher @job_title=teacher",
            "I'm a headteacher now",
            "The user is a headteacher",
        ),
        ("The user likes coffee @taste=coffee", "I've gone off coffee", "The user doesn't like coffee"),
        ("The user is single @marital_status=single", "I got married on Saturday", "The user is married"),
        ("The user is 34 @age=34", "I turned 35 yesterday", "The user is 35 years old"),
        ("用户住在苏州 @city=苏州", "现在住无锡", "用户住在无锡"),
        ("用户喜欢喝咖啡 @taste=咖啡", "我现在不爱喝咖啡了", "用户不爱喝咖啡"),
        ("用户单身 @marital_status=单身", "我上周结婚了", "用户结婚了"),
        ("用户今年34岁 @age=34", "我昨天满35了", "用户今年35岁"),
        ("用户的主管是陈姐 @manager=陈姐", "我领导换成老高了", "用户的主管是老高"),
        ("用户期望月薪15k @expected_salary=15k", "期望改成18k", "用户期望月薪18k"),
    ],
)
def test_a_new_value_takes_the_place_of_the_old_one(known: str, words: str, holds: str) -> None:
    assert told(known, words) == [holds]


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("The user has a dog called Max @pet=dog", "Max died last week"),
        ("The user is vegetarian @diet=vegetarian", "I'm not vegetarian any more"),
        ("The user is allergic to nuts @allergy=nuts", "turns out I'm not allergic to nuts"),
        ("The user plays tennis on Mondays", "I've stopped playing tennis"),
        ("The user is learning Spanish", "I gave up on Spanish"),
        ("用户养了一只狗叫旺财 @pet=狗", "旺财上周走了"),
        ("用户吃素 @diet=素食", "我不吃素了"),
        ("用户每周一打网球", "我不打网球了"),
        ("用户在学西班牙语", "西班牙语不学了"),
        ("用户抽烟", "我戒烟了"),
    ],
)
def test_what_is_over_goes(known: str, words: str) -> None:
    assert told(known, words) == []
