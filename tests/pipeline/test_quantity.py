"""Amounts are read with their bounds, whatever the writing."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.pipeline.numerals import chinese_number, english_number
from memstrata.pipeline.quantity import (
    QuantityRule,
    canonical,
    find_quantities,
    quantities_of,
    quantity_rules,
)
from memstrata.pipeline.text import normalise

POSITIVE = [
    pytest.param(rule, text, amount, id=f"{rule.rule_id}-{number}")
    for rule in quantity_rules()
    for number, (text, amount) in enumerate(rule.positive)
]
NEGATIVE = [
    pytest.param(rule, text, id=f"{rule.rule_id}-{number}")
    for rule in quantity_rules()
    for number, text in enumerate(rule.negative)
]


@pytest.mark.parametrize(("rule", "text", "amount"), POSITIVE)
def test_each_rule_reads_its_examples(rule: QuantityRule, text: str, amount: str) -> None:
    assert amount in [canonical(one) for one in quantities_of(rule, normalise(text).text)]
    assert (rule.rule_id, amount) in [(one.rule_id, canonical(one)) for one in find_quantities(text)]


@pytest.mark.parametrize(("rule", "text"), NEGATIVE)
def test_no_rule_reads_its_counter_examples(rule: QuantityRule, text: str) -> None:
    assert quantities_of(rule, normalise(text).text) == ()


@pytest.mark.parametrize(
    ("text", "unit", "amount", "currency", "period"),
    [
        ("期望薪资 15-20k，base 只考虑杭州", "money", "15000-20000", None, None),
        ("薪资这块，20k 以下不考虑了", "money", "<20000", None, None),
        ("salary wise I'm looking for 95-110k", "money", "95000-110000", None, None),
        ("I won't go below 120k anymore on salary", "money", "120000+", None, None),
        ("expected salary 改成 10k SGD 吧", "money", "10000", "SGD", None),
        ("年薪30万", "money", "300000", None, "year"),
        ("月薪１５Ｋ以上", "money", "15000+", None, "month"),
        ("$120k a year", "money", "120000", "USD", "year"),
        ("a hundred and ten grand", "money", "110000", None, None),
        ("房租3500元一个月", "money", "3500", "CNY", "month"),
        ("我干测试干了六年", "years", "6", None, None),
        ("正好满五年工作经验啦", "years", "5", None, None),
        ("I've got 7 yrs of experience in QA", "years", "7", None, None),
        ("离职交接要一个月", "months", "1", None, None),
        ("my notice period is only two weeks", "weeks", "2", None, None),
        ("年糕，七岁了", "age", "7", None, None),
        ("身高一米七八", "cm", "178", None, None),
        ("我 178cm", "cm", "178", None, None),
        ("干了十几年", "years", "10+", None, None),
        ("三年半", "years", "3.5", None, None),
    ],
)
def test_one_quantity(text: str, unit: str, amount: str, currency: str | None, period: str | None) -> None:
    [found] = find_quantities(text)
    assert (found.unit, canonical(found), found.currency, found.period) == (unit, amount, currency, period)
    assert text[found.start : found.end] == found.text


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-15",
        "3月15号",
        "version 3.11",
        "PR #482",
        "port 6543",
        "万一不行",
        "千万别",
        "一块儿去",
        "9am",
        "六年级",
        "",
    ],
)
def test_what_is_no_amount_is_left_out(text: str) -> None:
    assert find_quantities(text) == ()


def test_offsets_are_those_of_the_original() -> None:
    text = "㎏，期望１５－２０ｋ，干了６年"
    money, years = find_quantities(text)
    assert (text[money.start : money.end], text[years.start : years.end]) == ("１５－２０ｋ", "６年")


@given(st.text(alphabet="0123456789一二两三十百千万半kK年岁个月米-~到, .$元以上下不低于abweks"))
def test_any_jumble_gives_ordered_disjoint_spans(text: str) -> None:
    found = find_quantities(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(one.low is not None or one.high is not None for one in found)


@pytest.mark.parametrize(
    "text", ["3" * 50_000, "十" * 50_000, "one " * 20_000, "1,0" * 10_000, "五年" * 20_000]
)
def test_a_hostile_text_costs_no_more_than_its_length(text: str) -> None:
    started = time.process_time()
    find_quantities(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("两万", 20000),
        ("一万五", 15000),
        ("1万5", 15000),
        ("1.5万", 15000),
        ("两千零五", 2005),
        ("廿三", 23),
        ("一百五", 150),
        ("一百零五", 105),
        ("三亿两千万", 320_000_000),
        ("二〇二六", 2026),
        ("半", 0.5),
        ("三半", 3.5),
        ("十", 10),
        ("个", None),
        ("", None),
        ("五三十", None),
    ],
)
def test_chinese_numbers(text: str, value: float | None) -> None:
    assert chinese_number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,200", 1200),
        ("twenty-five", 25),
        ("a hundred and ten", 110),
        ("two hundred thousand", 200_000),
        ("a couple of", 2),
        ("half a", 0.5),
        ("foo", None),
        ("", None),
    ],
)
def test_english_numbers(text: str, value: float | None) -> None:
    assert english_number(text) == value


@given(st.integers(1, 99_999_999))
def test_a_number_written_in_hanzi_is_read_back(number: int) -> None:
    assert chinese_number(in_hanzi(number)) == number


def in_hanzi(number: int) -> str:
    if number >= 10_000:
        high, low = divmod(number, 10_000)
        joint = "零" if 0 < low < 1000 else ""
        return in_hanzi(high) + "万" + joint + (in_hanzi(low) if low else "")
    text, pending_zero = "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            text += ("零" if pending_zero and text else "") + "零一二三四五六七八九"[digit] + name
        pending_zero = digit == 0
    return text
