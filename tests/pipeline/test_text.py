"""The normalised text is comparable, and its offsets lead back into the original."""

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memstrata.pipeline.text import (
    _simplified,
    check_text,
    fold_for_comparison,
    is_han,
    language_of,
    normalise,
    tokens,
    undisguised,
)

ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=())),
    st.text(alphabet="aÅÅßİﬁ①㎏½각각กำ́̇👩‍👧🇨🇳שלום１Ａ，國 "),
)


@given(ANY_TEXT)
@example("ﬁn ㎏ ①")
@example("\u0301abc")
@example("각각")
@example("a" + "\u0315\u0300" * 100)
def test_the_whole_maps_to_the_whole(text: str) -> None:
    norm = normalise(text)
    assert norm.span(0, len(norm.text)) == (0, len(text))


@given(ANY_TEXT)
def test_cells_are_in_bounds_in_order_and_leave_no_gap(text: str) -> None:
    norm = normalise(text)
    spans = [norm.span(i, i + 1) for i in range(len(norm.text))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert (next_start, next_end) == (start, end) or next_start == end


@given(ANY_TEXT, st.data())
def test_a_span_covers_what_its_parts_cover(text: str, data: st.DataObject) -> None:
    norm = normalise(text)
    start = data.draw(st.integers(0, len(norm.text)))
    end = data.draw(st.integers(start, len(norm.text)))
    first, last = norm.span(start, end)
    assert 0 <= first <= last <= len(text)
    if start < end:
        assert (first, last) == (norm.span(start, start + 1)[0], norm.span(end - 1, end)[1])
        assert norm.text[start:end] in normalise(text[first:last]).text
    else:
        assert first == last


@given(ANY_TEXT)
@example("\uff76\uff9e\uffa1\uffc2")
@example("\u09c7\u09be\u0301")
@example("a" + "\u0323\u0301" * 15)
def test_with_case_kept_it_is_nfkc_in_simplified_characters(text: str) -> None:
    plain = unicodedata.normalize("NFKC", text)

    assert normalise(text, fold_case=False).text == "".join(_simplified().get(ch, ch) for ch in plain)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ｐｙｔｈｏｎ３．１１，ＯＫ", "python3.11,ok"),
        ("體重72㎏", "体重72kg"),
        ("e\u0301te\u0301", "\u00e9t\u00e9"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("Straße", "strasse"),
        ("我後天喫火鍋", "我后天吃火锅"),
    ],
)
def test_one_form_for_width_case_and_script(text: str, expected: str) -> None:
    assert normalise(text).text == expected


def test_a_span_behind_an_expanded_character_is_quoted_exactly() -> None:
    norm = normalise("重㎏㎏，手机１３８")
    at = norm.text.index("138")
    assert norm.span(at, at + 3) == (6, 9)
    assert norm.quote(at, at + 3) == "１３８"


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1), (0, 4)])
def test_a_span_outside_the_text_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="no span"):
        normalise("abc").span(start, end)


@pytest.mark.parametrize("text", ["a B" * 350_000, "我後天去北京，" * 150_000, "ﬁé é①" * 170_000])
def test_offsets_hold_at_the_end_of_a_megabyte(text: str) -> None:
    norm = normalise(text)

    assert norm.span(0, len(norm.text)) == (0, len(text))
    assert norm.quote(len(norm.text) - 1, len(norm.text)) in text[-2:]


def test_comparison_ignores_punctuation_emoji_space_and_width() -> None:
    assert fold_for_comparison("好的，谢谢！！👍🏽 ") == fold_for_comparison("好的 谢谢")
    assert fold_for_comparison("Ｏ.K. 1️⃣") == "ok1"
    assert fold_for_comparison("…😀") == ""
    assert fold_for_comparison("不吃辣") != fold_for_comparison("吃辣")


@pytest.mark.parametrize(
    ("query", "text"),
    [("火锅", "川菜火锅"), ("北京", "我要去北京出差"), ("火鍋", "川菜火锅"), ("python", "用Ｐython写")],
)
def test_a_query_is_found_in_the_text(query: str, text: str) -> None:
    assert set(tokens(query)) <= set(tokens(text))


def test_tokens_are_in_order_with_repeats() -> None:
    assert tokens("吃火锅 C++ v3") == ("吃", "火", "锅", "吃火", "火锅", "c++", "v3")
    assert tokens("") == ()
    assert tokens("ok OK") == ("ok", "ok")


def test_han() -> None:
    assert all(is_han(ch) for ch in "中〇々𠀀")
    assert not any(is_han(ch) for ch in "aひ，1")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我住成都", "zh"),
        ("期望薪资 15-20k，base 只考虑杭州", "zh"),
        ("I'm based in Toronto", "en"),
        ("我 base 新加坡，remote 也 OK", "mixed"),
        ("👍", "en"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language


def test_text_that_cannot_be_stored_is_named() -> None:
    assert check_text("a\ud800") == "lone_surrogate"
    assert check_text("a\0") == "nul"
    assert check_text("好👍") is None


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ("k\u200be\u200be\u200bp th\u00adis", "keep this"),
        ("留\u2060存\u200d这\ufeff条", "留存这条"),
        ("k\u0435\u0435p th\u0456s", "keep this"),
        ("k\u0336e\u0336e\u0336p", "keep"),
        ("".join(chr(0xE0000 + ord(ch)) for ch in "keep this"), "keep this"),
        ("k33p th1s n0te", "keep this note"),
        ("r e t a i n  it", "retain  it"),
        ("r.e.t.a.i.n", "retain"),
        ("留 存 这 一 条", "留存这一条"),
    ],
)
def test_hidden_words_are_found(hidden: str, words: str) -> None:
    assert undisguised(normalise(hidden).text) == words


@pytest.mark.parametrize(
    "text",
    ["i live in leeds", "call me at 10am on 2026-01-03", "我 住在 成都", "a b c", "жизнь прекрасна", "café"],
)
def test_a_text_that_hides_nothing_stays_as_it_is(text: str) -> None:
    assert undisguised(text) == text


@pytest.mark.parametrize("flood", ["a ", "a.b", "3a", "我 ", "a", "ab1 ", "\u200b", "é\u0301"])
def test_a_megabyte_is_undisguised_in_time(flood: str) -> None:
    text = flood * (1_000_000 // len(flood))
    began = time.process_time()

    undisguised(text)

    assert time.process_time() - began < 2
