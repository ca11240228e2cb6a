"""Time expressions mean what a calendar says, on the day they are said."""

import csv
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.pipeline.timeexpr import Prefer, find_times, month_day

GOLD = Path(__file__).parent / "gold"
NOW = datetime.fromisoformat("2026-03-02T10:00:00+08:00")
SHANGHAI = ZoneInfo("Asia/Shanghai")


def gold_rows(language: str) -> list[dict[str, str]]:
    with (GOLD / f"time_{language}.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


ROWS = [
    pytest.param(row, id=f"{language}-{number}")
    for language in ("zh", "en")
    for number, row in enumerate(gold_rows(language))
]


def moment(text: str, now: datetime) -> datetime | None:
    return None if text == "-" else datetime.fromisoformat(text).replace(tzinfo=now.tzinfo)


@pytest.mark.parametrize("row", ROWS)
def test_a_phrase_means_what_the_gold_file_says(row: dict[str, str]) -> None:
    now = datetime.fromisoformat(row["now"])
    assert now.tzinfo is not None
    [found] = find_times(row["phrase"], now=now, zone=now.tzinfo)
    expected = (moment(row["start"], now), moment(row["end"], now), row["bound"])
    assert (found.start, found.end, found.bound) == expected


def test_the_gold_files_are_long_enough() -> None:
    assert len(gold_rows("zh")) >= 150
    assert len(gold_rows("en")) >= 150


@pytest.mark.parametrize(
    "text",
    [
        "我有一点困",
        "三点建议",
        "24/7 support",
        "加 1/2 杯糖",
        "3-5天能到吗",
        "坐5号线",
        "住3号楼",
        "我有3年经验",
        "期望 15-20k",
        "四十岁之前开书店",
        "may I ask something",
        "march on",
        "I may be late",
        "三年前端经验",
        "毕业以后想去北京",
        "吃完以后再说",
        "version 3.11 of python",
        "I have been here for two weeks",
        "I worked there for 3 years",
        "一周三次",
        "每次都这样",
        "2月30号",
        "February 30",
        "比例是 16:9",
        "it takes two weeks",
        "9999999年后",
        "",
    ],
)
def test_what_is_no_time_or_cannot_be_one_is_left_out(text: str) -> None:
    assert find_times(text, now=NOW, zone=SHANGHAI) == ()


@pytest.mark.parametrize(
    ("text", "prefer", "start"),
    [
        ("8号那次", "past", "2026-02-08"),
        ("9月份", "past", "2025-09-01"),
        ("周五", "past", "2026-02-27"),
        ("5月6日", "past", "2025-05-06"),
        ("中秋", "past", "2025-10-06"),
        ("8号", "future", "2026-03-08"),
        ("上次8号那回", "future", "2026-02-08"),
        ("she was born in November", "future", "2025-11-01"),
        ("周一", "past", "2026-03-02"),
    ],
)
def test_a_bare_date_is_the_nearest_one_in_the_direction_meant(text: str, prefer: Prefer, start: str) -> None:
    [found] = find_times(text, now=NOW, zone=SHANGHAI, prefer=prefer)
    assert found.start == datetime.fromisoformat(start).replace(tzinfo=SHANGHAI)


def test_days_are_those_of_the_speakers_zone() -> None:
    late = datetime(2026, 3, 2, 20, 0, tzinfo=UTC)  # the 3rd in Shanghai
    [found] = find_times("明天", now=late, zone=SHANGHAI)
    assert found.start == datetime(2026, 3, 4, tzinfo=SHANGHAI)


def test_a_day_with_a_clock_change_still_ends_at_midnight() -> None:
    zone = ZoneInfo("America/New_York")
    now = datetime(2026, 3, 7, 12, 0, tzinfo=zone)
    [found] = find_times("until tomorrow", now=now, zone=zone)
    assert found.end == datetime(2026, 3, 9, tzinfo=zone)
    [found] = find_times("tomorrow at 9am", now=now, zone=zone)
    assert found.start == datetime(2026, 3, 8, 9, tzinfo=zone)


def test_spans_are_those_of_the_original() -> None:
    text = "㎏，到３月１５號為止都在上海，以后短一点"
    first, second = find_times(text, now=NOW, zone=SHANGHAI)
    assert text[first.span_start : first.span_end] == "到３月１５號為止"
    assert text[second.span_start : second.span_end] == "以后"
    assert (first.bound, second.bound) == ("until", "standing")


def test_several_times_in_one_sentence_stand_in_order() -> None:
    found = find_times("周三下午三点开会，下周五前交稿，from now on 每天复盘", now=NOW, zone=SHANGHAI)
    assert [one.bound for one in found] == ["point", "before", "standing", "recurring"]


def test_a_naive_clock_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        find_times("明天", now=NOW.replace(tzinfo=None), zone=SHANGHAI)


PIECES = [
    "到",
    "从",
    "下",
    "上",
    "这",
    "周",
    "月",
    "日",
    "号",
    "3",
    "15",
    "二十",
    "三",
    "年",
    "底",
    "初",
    "前",
    "后",
    "内",
    "起",
    "点",
    "半",
    "明天",
    "晚上",
    "春节",
    "until",
    "before",
    "next",
    "in",
    "two",
    "weeks",
    "Friday",
    "March",
    "may",
    "9am",
    "-",
    "/",
    ":",
    "(",
    ")",
    ",",
    "2026",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=14),
    st.sampled_from(["", " "]),
    st.datetimes(timezones=st.just(UTC)),
)
def test_any_jumble_gives_ordered_disjoint_spans(pieces: list[str], glue: str, now: datetime) -> None:
    text = glue.join(pieces)
    found = find_times(text, now=now, zone=SHANGHAI) if 2 < now.year < 9900 else ()
    assert all(0 <= one.span_start < one.span_end <= len(text) for one in found)
    assert all(one.span_end <= other.span_start for one, other in pairwise(found))
    assert all(one.start <= one.end for one in found if one.start and one.end)


@pytest.mark.parametrize("text", ["3" * 50_000, "周三到" * 10_000, "in two " * 8_000, "二十" * 20_000])
def test_a_hostile_text_costs_no_more_than_its_length(text: str) -> None:
    started = time.process_time()
    find_times(text, now=NOW, zone=SHANGHAI)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我生日是11月23号", "11-23"),
        ("我生日是11月23，不是10月", "11-23"),
        ("十一月二十三日", "11-23"),
        ("June 5", "06-05"),
        ("the 5th of June", "06-05"),
        ("11-23", "11-23"),
        ("2月29号", "02-29"),
        ("1990-05-06", "05-06"),
        ("born in January", "01"),
        ("明天", None),
        ("13-45", None),
        ("没有日期", None),
    ],
)
def test_a_birthday_is_month_and_day(text: str, expected: str | None) -> None:
    assert month_day(text) == expected
