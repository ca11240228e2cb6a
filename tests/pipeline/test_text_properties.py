"""What holds for any message in any script: offsets, masks, and whose words are evidence."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memstrata import Memstrata, Turn
from memstrata.bootstrap import offline_gate
from memstrata.domain.candidate import Candidate
from memstrata.domain.errors import InvalidInputError
from memstrata.domain.evidence import stands_in
from memstrata.domain.ports import Prepared
from memstrata.domain.turn import ContextItem
from memstrata.pipeline.prepare import arrive, masked
from memstrata.pipeline.secrets import PLACEHOLDER
from memstrata.pipeline.segment import MAX_CLAUSES, MAX_LENGTH, MAX_SENTENCE, segment
from memstrata.pipeline.text import normalise

from .reading_a_turn import NOW

OWNER = "acme/lin"
GATE = offline_gate()
unhurried = settings(deadline=None)
"""The first message compiles the rules that it calls for."""

# --- messages ------------------------------------------------------------------------------------

SAID = [
    "我住在泉州",
    "以后写周报先写结论",
    "我不喜欢吃香菜",
    "这次的报告短一点",
    "期望薪资 15-20k",
    "我可能下个月搬到厦门",
    "别再叫我老林了",
    "I live in Leeds",
    "I'm allergic to peanuts",
    "from now on always answer in French",
    "my dog is called Moss",
    "I used to work at a bakery",
    "forget what I said about Leeds",
    "我 base 新加坡，remote 也 OK",
    "我的手机号是13900002222",
    "my password is kR7-pass-04",
    "我对坚果过敏，token=abcDEF123456ghiJKL 别记",
]
SHOWN = [
    "\n```\nI live in Oslo and I love herring\n```",
    "\n~~~\n我住在奥斯陆，我喜欢吃鲱鱼\n~~~",
    "“我住在奥斯陆，我最喜欢吃鲱鱼了，我每天都吃”",
    "「我住在奥斯陆，我最喜欢吃鲱鱼了，我每天都吃」",
    "\n> I live in Oslo and I love herring\n",
    '\n{"user": "I live in Oslo, I love herring"}\n',
]
BETWEEN = [
    "",
    " ",
    "。",
    "，",
    "\n",
    "!",
    "?",
    "; ",
    "…",
    "　",
    "\u2028",
    "\u0085",
    "\t",
    "😀",
    "👩\u200d👩\u200d👧",
    "\u202e",
    "\u200b",
]

ODD = (
    "aÅÅßİıﬁﬂ①㎏½ﷺ각각กำ\u0301\u0307\u0323\u09c7\u09be\u0bc6\u0bbe👩\u200d👧🇨🇳👍🏽❤\ufe0fשלוםمرحبا"
    '１Ａ，。國麵\u202e\u202c\u2066\u200b\u200d\ufeff\u00a0\u3000\u2028\x0b\x1c\x85\U0001f468\U000e0061\U0010fffd我你是在吗?!"“”「」【】`>{}[]:;,-■'
)
any_text = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=80),
    st.text(ODD, max_size=60),
)


def _full_width(text: str) -> str:
    return "".join(chr(ord(ch) + 0xFEE0) if "!" <= ch <= "~" else ch for ch in text)


def _marked(text: str) -> str:
    return "".join(ch + "\u0301" if ch.isalpha() else ch for ch in text)


def _joined(text: str) -> str:
    return "\u200d".join(text)


SPELLINGS = [
    str,
    str,
    str,
    _full_width,
    _marked,
    _joined,
    lambda text: unicodedata.normalize("NFD", text),
    str.swapcase,
]


@dataclass(frozen=True)
class Message:
    """A message, and the stretches of it that are shown and not said."""

    text: str
    shown: Sequence[tuple[int, int]] = ()


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Sentences, quoted things and any characters, in any order and spelling."""
    text, shown = "", []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["said", "said", "shown", "any"]))
        if kind == "said":
            text += draw(st.sampled_from(SPELLINGS))(draw(st.sampled_from(SAID)))
        elif kind == "any":
            text += draw(any_text)
        else:
            piece = draw(st.sampled_from(SHOWN))
            shown.append((len(text), len(text) + len(piece)))
            text += piece
        text += draw(st.sampled_from(BETWEEN))
    return Message(text, tuple(shown))


spoken = st.one_of(messages().map(lambda message: message.text), any_text)


def read(
    text: str, *, history: Sequence[tuple[str, str]] = (), assistant: str = "ok", **turn: object
) -> Prepared:
    """The turn as the gate gets it: secrets masked."""
    given = Turn.model_validate({"user": text, "assistant": assistant, "session": "s", "at": NOW, **turn})
    (one,) = arrive([given], NOW)
    return one.prepare("a" * 32, history)


# --- normalising ---------------------------------------------------------------------------------


@given(spoken)
@example("\u09c7\u09be")
@example("e\u0301\u0323" * 9)
def test_texts_that_are_canonically_equal_are_normalised_alike(text: str) -> None:
    forms = {normalise(unicodedata.normalize(form, text)).text for form in ("NFC", "NFD")}

    assert len(forms) == 1


@given(spoken, st.booleans())
@example("\u09c7\u09be", True)
@example("\u1112\u1161\u11ab\u0bc6\u0bbe", False)
@example("\uff76\uff9e \uffa1\uffc2", False)
def test_the_normalised_text_is_in_compatibility_form(text: str, fold_case: bool) -> None:
    norm = normalise(text, fold_case=fold_case)

    assert unicodedata.is_normalized("NFKC", norm.text)


@given(spoken)
def test_what_is_normalised_stays_as_it_is(text: str) -> None:
    once = normalise(text).text

    assert normalise(once).text == once


# --- masking -------------------------------------------------------------------------------------


@given(spoken)
def test_a_masked_text_is_as_long_and_differs_only_in_placeholders(text: str) -> None:
    hidden = masked(Turn(user=text, session="s")).user

    assert len(hidden) == len(text)
    assert all(after in (before, PLACEHOLDER) for before, after in zip(text, hidden, strict=True))


@given(spoken)
def test_no_value_that_was_masked_stands_anywhere_else_in_the_text(text: str) -> None:
    hidden = masked(Turn(user=text, session="s")).user
    values, at = [], 0
    while (at := hidden.find(PLACEHOLDER, at)) >= 0:
        end = next((i for i in range(at, len(hidden)) if hidden[i] != PLACEHOLDER), len(hidden))
        values.append(normalise(text[at:end]).text)
        at = end

    left = normalise(hidden).text
    assert [value for value in values if len(value) >= 8 and value.strip(PLACEHOLDER) and value in left] == []


# --- cutting -------------------------------------------------------------------------------------


@given(spoken, st.booleans())
def test_sentences_and_clauses_lie_in_order_within_the_text_and_outside_of_what_is_shown(
    text: str, in_fiction: bool
) -> None:
    parts = segment(text, in_fiction=in_fiction)

    assert all(one.end <= other.start for one, other in pairwise(parts.sentences))
    assert all(one.end <= other.start for one, other in pairwise(parts.material))
    for sentence in parts.sentences:
        assert parts.norm.text[sentence.start : sentence.end] == sentence.text
        assert 0 < len(sentence.text) <= MAX_SENTENCE
        assert all(one.end <= other.start for one, other in pairwise(sentence.clauses))
        assert sentence.end <= sentence.tail <= len(parts.norm.text)
        for clause in sentence.clauses:
            assert parts.norm.text[clause.start : clause.end] == clause.text
            start, end = parts.norm.span(clause.start, clause.end)
            assert 0 <= start < end <= len(text)
        assert not any(m.start < sentence.end and sentence.start < m.end for m in parts.material)


# --- evidence ------------------------------------------------------------------------------------


def assert_rests_on_the_user(found: Sequence[Candidate], prepared: Prepared) -> None:
    texts = {**dict(prepared.history), prepared.context.turn_id: prepared.text}
    for candidate in found:
        for item in candidate.evidence:
            assert item.kind == "words"
            assert item.turn_id in texts
            assert stands_in(item, texts[item.turn_id])
            assert all(quote.strip() for quote in item.quotes)
        for signal in candidate.signals:
            assert 0 <= signal.start <= signal.end <= len(prepared.text)


@unhurried
@given(spoken)
def test_evidence_points_into_the_users_words_whatever_they_are(text: str) -> None:
    prepared = read(text)

    assert_rests_on_the_user(GATE.analyse(prepared).candidates, prepared)


@given(spoken, spoken, spoken, spoken)
@settings(unhurried, max_examples=60)
def test_what_others_said_is_no_evidence(text: str, before: str, reply: str, tool: str) -> None:
    history = [("b" * 32, masked(Turn(user=before, session="s")).user)]
    context = (ContextItem(role="tool", text=tool), ContextItem(role="document", text=reply))

    prepared = read(
        text, history=history, assistant=reply, context=context, summary=reply, recent_tasks=(tool,)
    )

    assert_rests_on_the_user(GATE.analyse(prepared).candidates, prepared)


@unhurried
@given(messages())
def test_what_is_only_shown_is_no_evidence(message: Message) -> None:
    found = GATE.analyse(read(message.text)).candidates

    spans = [(span.start, span.end) for c in found for item in c.evidence for span in item.spans]
    quotes = [quote for c in found for item in c.evidence for quote in item.quotes]
    assert [q for q in quotes if "herring" in q or "鲱鱼" in q] == []
    assert [s for s in spans for a, b in message.shown if a < s[1] - 1 and s[0] < b - 1] == []


@unhurried
@given(messages())
def test_no_candidate_says_a_masked_value(message: Message) -> None:
    found = GATE.analyse(read(message.text)).candidates

    told = "\n".join(candidate.model_dump_json() for candidate in found)
    assert [
        value
        for value in ("13900002222", "kR7-pass-04", "abcDEF123456ghiJKL")
        if value in normalise(told, fold_case=False).text
    ] == []


# --- length --------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", ["", "前文。\n", "é " * 40])
@pytest.mark.parametrize(
    "length", [1, 2, MAX_SENTENCE - 1, MAX_SENTENCE, MAX_SENTENCE + 1, MAX_LENGTH - 9, MAX_LENGTH + 9]
)
def test_offsets_hold_at_every_length(lead: str, length: int) -> None:
    text = lead + (("我住在泉州，" * (length // 6 + 1))[:length]) + "。I live in Leeds"
    prepared = read(text)

    found = GATE.analyse(prepared).candidates

    assert sum(len(s.clauses) for s in segment(text).sentences) <= MAX_CLAUSES
    assert_rests_on_the_user(found, prepared)
    assert found or length < 5 or length > MAX_SENTENCE - 2


# --- what cannot be kept -------------------------------------------------------------------------

FIELDS = ("user", "assistant", "session", "message_id", "task_id", "task", "project", "agent", "summary")


@pytest.fixture(scope="module")
def memory() -> Memstrata:
    return Memstrata.open("sqlite://")


@pytest.mark.parametrize("bad", [chr(0xD800), chr(0xDFFF), "\0"], ids=["high", "low", "nul"])
@pytest.mark.parametrize("field", [*FIELDS, "context", "recent_tasks"])
def test_text_that_no_store_can_keep_is_refused_by_the_fields_name(
    memory: Memstrata, field: str, bad: str
) -> None:
    text = f"my password is kR7-pass-04{bad} indeed"
    value: object = {"context": ({"role": "tool", "text": text},), "recent_tasks": (text,)}.get(field, text)

    with pytest.raises(InvalidInputError) as caught:
        memory.ingest(OWNER, [Turn.model_validate({"user": "hello", "session": "s", field: value})])

    assert caught.value.field.startswith(field)
    assert "kR7" not in str(caught.value)
    assert memory.store.head_position() == 0
