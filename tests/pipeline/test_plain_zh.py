"""Dialect and blanks are read as plain written Chinese, place by place."""

from __future__ import annotations

import pytest

from memstrata.pipeline.extract.plain_zh import in_plain_words


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("甭跟我提这茬", "别跟我提这茬"),
        ("打小就这样", "从小就这样"),
        ("额不吃辣", "我不吃辣"),
        ("我搁沈阳上班", "我在沈阳上班"),
        ("莫叫我老师", "别叫我老师"),
        ("我唔食牛肉", "我不吃牛肉"),
        ("我系佛山人,而家住喺广州", "我是佛山人,现在住在广州"),
        ("住在成都 不吃香菜", "住在成都，不吃香菜"),
    ],
)
def test_dialect_is_read_as_plain_words(said: str, read: str) -> None:
    assert in_plain_words(said) == read


@pytest.mark.parametrize(
    "said",
    ["莫名其妙", "把这事搁置了", "耍赖可不行", "食堂不好吃", "九 一 三 七", "我 爱 你", "plain words only"],
)
def test_what_only_looks_like_dialect_stays_as_it_is(said: str) -> None:
    assert in_plain_words(said) == said


def test_every_plain_word_is_as_long_as_what_it_stands_for() -> None:
    said = "额寻思往後甭管啥 我 都冇食过嗰种嘢 唔該搵工"
    assert len(in_plain_words(said)) == len(said)
