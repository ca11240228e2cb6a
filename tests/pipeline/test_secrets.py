"""Values that let somebody in or find somebody are masked; words about them are not."""

import json
import os
import re
import time
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.pipeline.secrets import (
    PLACEHOLDER,
    SecretRule,
    find_secrets,
    mask,
    secret_rules,
    speaks_of_secret,
    values_told,
)

ROOT = Path(__file__).resolve().parents[2]


def outside_data(variable: str, folder: str) -> Path:
    """A folder beside the repository; absent on a laptop, demanded where CI is set."""
    path = Path(os.environ.get(variable) or ROOT.parent / "shared" / folder)
    if not path.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{path} is missing; set {variable}")
        pytest.skip(f"{path} is missing; set {variable}")
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def masked(text: str) -> str:
    return mask(text, find_secrets(text))


POSITIVE = [
    pytest.param(rule, text, secret, id=f"{rule.rule_id}-{number}")
    for rule in secret_rules()
    for number, (text, secret) in enumerate(rule.positive)
]
NEGATIVE = [
    pytest.param(text, id=f"{rule.rule_id}-{number}")
    for rule in secret_rules()
    for number, text in enumerate(rule.negative)
]


@pytest.mark.parametrize(("rule", "text", "secret"), POSITIVE)
def test_each_rule_finds_its_examples(rule: SecretRule, text: str, secret: str) -> None:
    normal = text.replace("：", ":").replace("，", ",")
    assert secret in [normal[start:end] for start, end in rule.spans(normal)]
    assert secret not in masked(text)


@pytest.mark.parametrize("text", NEGATIVE)
def test_no_rule_finds_anything_in_the_counter_examples(text: str) -> None:
    assert find_secrets(text) == ()


def test_each_rule_has_examples_both_ways_and_an_id_of_its_own() -> None:
    rules = secret_rules()
    assert len({rule.rule_id for rule in rules}) == len(rules)
    assert all(rule.positive and rule.negative and rule.description for rule in rules)


def gold(name: str) -> list[tuple[str, list[str]]]:
    """Texts with the values that have to be masked; all of them are invented.

    `\\n` is a line break; a value that begins with `?` may be masked and need not be.
    """
    lines = (Path(__file__).parent / "gold" / f"secrets_{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.replace("\\n", "\n").split("\t") for line in lines[1:]]
    return [(text, [] if secrets == "-" else secrets.split(" ¦ ")) for text, secrets in rows]


GOLD = [*gold("zh"), *gold("en")]


def hides(text: str, secret: str) -> bool:
    """Whether of one occurrence of `secret` every letter and digit is masked."""
    after = masked(text)
    places = [at for at in range(len(text)) if text.startswith(secret, at)]
    return any(
        all(after[at + i] == PLACEHOLDER for i, ch in enumerate(secret) if ch.isalnum()) for at in places
    )


@pytest.mark.parametrize(("text", "secrets"), [row for row in GOLD if row[1]])
def test_values_are_masked_however_they_are_said(text: str, secrets: list[str]) -> None:
    assert [secret for secret in secrets if not hides(text, secret)] == []


@pytest.mark.parametrize("text", [text for text, secrets in GOLD if not secrets])
def test_numbers_and_words_of_other_kinds_stay(text: str) -> None:
    assert find_secrets(text) == ()


def counted(name: str) -> tuple[float, float]:
    """Recall of the values and precision of the masked stretches in one file, without a word of it."""
    due, hidden, found, right = 0, 0, 0, 0
    for text, secrets in gold(name):
        areas = [
            (at, at + len(value))
            for value in (secret.removeprefix("?") for secret in secrets)
            for at in range(len(text))
            if text.startswith(value, at)
        ]
        needed = [secret for secret in secrets if not secret.startswith("?")]
        due += len(needed)
        hidden += sum(hides(text, secret) for secret in needed)
        spans = find_secrets(text)
        found += len(spans)
        right += sum(any(start < one.end and one.start < end for start, end in areas) for one in spans)
    return hidden / due, right / found


@pytest.mark.parametrize(
    ("name", "recall", "precision"),
    [
        ("en_development", 0.97, 0.98),
        ("zh_development", 0.98, 0.99),
        ("en_heldout", 0.89, 0.95),
        ("zh_heldout", 0.92, 0.95),
    ],
)
def test_what_was_reached_on_own_messages_does_not_fall(name: str, recall: float, precision: float) -> None:
    reached = counted(name)
    assert (reached[0] >= recall, reached[1] >= precision) == (True, True), reached


KEYWORDS_ZH = ["密码", "wifi密码", "支付密码", "登录口令", "邮箱密碼", "门禁密码"]
BETWEEN_ZH = [
    "是",
    "：",
    " ",
    "是：",
    "改成了",
    "就是 ",
    "现在是",
    "换成",
    "为",
    "设成",
    "呢是",
    ":「",
    "我告诉你哈，",
]
KEYWORDS_EN = ["my password", "the wifi password", "root pw", "our passphrase", "admin passcode"]
BETWEEN_EN = [" is ", ": ", " = ", " is now ", "'s ", ", it's ", " changed to ", " is: ", " will be ", "? "]
VALUES = ["tulip0000fake", "Fake#0731", "f4k3-P4ss", "073100", "FAKE_2026_x"]


@pytest.mark.parametrize("value", VALUES)
def test_every_word_for_a_password_goes_with_every_way_to_say_is(value: str) -> None:
    pairs = [*product(KEYWORDS_ZH, BETWEEN_ZH), *product(KEYWORDS_EN, BETWEEN_EN)]
    texts = [f"{word}{between}{value}" for word, between in pairs]
    assert [text for text in texts if value in masked(text)] == []


@pytest.mark.parametrize(
    "text",
    ["my password is our first dog's name", "pin is twice the usual one", "code: banana split"],
)
def test_a_promised_value_that_was_not_found_is_noticed(text: str) -> None:
    assert speaks_of_secret(masked(text))


@pytest.mark.parametrize(
    "text",
    [
        "密码学研究",
        "密码是多少",
        "密码是8位的",
        "密码是f4k3P4ss",
        "my pin is 0077",
        "password is required",
        "what is the password?",
        "the door is open",
        "我喜欢喝茶",
    ],
)
def test_words_about_secrets_and_masked_values_promise_nothing_more(text: str) -> None:
    assert not speaks_of_secret(masked(text))


@pytest.mark.parametrize(
    "text",
    [
        "密码学研究",
        "变量名不要用 token",
        "I work on password managers",
        "记住密码的功能怎么关",
        "订单号 202603021234567890",
        "薪水想要 18-22k，只看苏州",
        "pay should be somewhere in 80-90k",
        "雅思 2026-03-15 考",
        "Python 3.9 和 3.11 都要支持",
        "24小时营业",
        "look at PR #482",
        "the service listens on port 6543",
        "see you at 9am",
        "我身高178cm，体重72kg",
        "The bus to 2026 Winter Games leaves at 10:30",
        "我 2019 年毕业，2021年入职",
        "房租 3500 一个月",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("手机号１３８００００１１１１，以后都留这个", "１３８００００１１１１"),
        ("打我１３８ ００００ １１１１", "１３８ ００００ １１１１"),
        ("密码是八三九二零一", "八三九二零一"),
        ("密碼是 839201", "839201"),
        ("my pin is four four one two, thanks", "four four one two"),
        ("卡号4111-1111-1111-1111记一下", "4111-1111-1111-1111"),
        ("寄到幸福路00号3栋2单元501", "幸福路00号3栋2单元501"),
        ("㎏㎏ token=fake0Zk39dQpX71bLm", "fake0Zk39dQpX71bLm"),
    ],
)
def test_offsets_are_those_of_the_original(text: str, secret: str) -> None:
    assert masked(text) == text.replace(secret, PLACEHOLDER * len(secret))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("token=abcDEF123456ghiJKL (abcDEF123456ghiJKL)", "token=■ (■)"),
        ("wifi password: Zx9!kk22; I typed ZX9!KK22 twice", "wifi password: ■; I typed ■ twice"),
        ("密码是 kR7-pass-04，别写成 ｋｒ７-PASS-04", "密码是 ■，别写成 ■"),
        ("pin is 4471, yes 4471, not 44710", "pin is ■, yes ■, not 44710"),
        ("my password is sunshine, and sunshine is a song", "my password is ■, and ■ is a song"),
        ("我的密码是「一二三芝麻开门」，就是一二三芝麻开门", "我的密码是「■」，就是■"),
        ("my pin is 471, flat 3471", "my pin is ■, flat 3471"),
        (
            "see kR7passKR7pass99\npassword: kR7passKR7pass99\nand in path_kR7passKR7pass99_b",
            "see ■\npassword: ■\nand in path_■_b",
        ),
    ],
)
def test_a_value_that_was_told_is_masked_wherever_it_stands(text: str, kept: str) -> None:
    assert re.sub("■+", "■", masked(text)) == kept
    assert len(masked(text)) == len(text)


def test_a_value_that_was_told_elsewhere_is_masked_without_a_word_for_it() -> None:
    told = dict(values_told("密码是 kR7-pass-04", find_secrets("密码是 kR7-pass-04")))

    assert find_secrets("reset kR7-pass-04") == ()
    assert [(s.start, s.end, s.kind) for s in find_secrets("reset kR7-PASS-04", told)] == [
        (6, 17, "password")
    ]


@given(st.text(alphabet=st.one_of(st.sampled_from("密码是:0123456789ab-@. pin"), st.characters())))
def test_masking_keeps_length_and_what_is_outside(text: str) -> None:
    spans = find_secrets(text)
    after = mask(text, spans)
    inside = {index for secret in spans for index in range(secret.start, secret.end)}
    assert len(after) == len(text)
    assert all(after[i] == (PLACEHOLDER if i in inside else text[i]) for i in range(len(text)))
    assert all(one.end <= other.start for one, other in pairwise(spans))


@pytest.mark.parametrize(
    "text",
    [
        "1" * 100_000,
        "密码a" * 30_000,
        "pin 1 " * 20_000,
        "路1号" * 30_000,
        "a@" * 50_000,
        "密码" * 50_000,
        "路" * 100_000,
        "1 a " * 25_000,
        "one " * 25_000,
    ],
)
def test_a_hostile_text_costs_no_more_than_its_length(text: str) -> None:
    started = time.process_time()
    find_secrets(text)
    assert time.process_time() - started < 5


def test_golden_secrets_are_masked_whole() -> None:
    cases = [
        case
        for path in sorted(outside_data("MEMSTRATA_GOLDEN_DIR", "golden").glob("*.jsonl"))
        for case in read_jsonl(path)
        if case["kind"] == "secret"
    ]
    assert len(cases) >= 10
    leaks = [
        (case["id"], secret)
        for case in cases
        for secret in case["expect"]["absent"]
        for turn in case["turns"]
        if secret in masked(turn["user"])
    ]
    assert leaks == []


MINIMUM_RECALL = {
    "CREDIT_CARD": 0.98,
    "EMAIL_ADDRESS": 0.98,
    "IBAN_CODE": 0.95,
    "PHONE_NUMBER": 0.98,
    "US_DRIVER_LICENSE": 0.95,
    "STREET_ADDRESS": 0.65,
    "US_SSN": 0.95,
}
"""Floors below what was measured when the rules were written, over 1,500 synthetic sentences."""


def test_recall_on_synthetic_personal_data_does_not_fall() -> None:
    rows = read_jsonl(outside_data("MEMSTRATA_DATA_DIR", "data") / "presidio_pii" / "synth_v2.jsonl")
    hits: dict[str, list[bool]] = {kind: [] for kind in MINIMUM_RECALL}
    for row in rows:
        found = find_secrets(row["text"])
        for span in row["spans"]:
            if span["entity_type"] in hits:
                start, end = span["start_position"], span["end_position"]
                hits[span["entity_type"]].append(any(one.start < end and start < one.end for one in found))
    recall = {kind: sum(seen) / len(seen) for kind, seen in hits.items()}
    assert {kind: share for kind, share in recall.items() if share < MINIMUM_RECALL[kind]} == {}


def test_everyday_talk_is_left_alone() -> None:
    rows = read_jsonl(outside_data("MEMSTRATA_DATA_DIR", "data") / "memorybank" / "dialogue.jsonl")
    touched = [row["query"] for row in rows if find_secrets(row["query"])]
    assert len(touched) <= len(rows) // 500
