"""The words that say how something is meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.pipeline.signals import entries, family_of, find_signals, to_signals
from memstrata.pipeline.text import normalise
from memstrata.pipeline.words import WordIndex


def _kinds(text: str) -> set[str]:
    return {str(one.entry.kind) for one in find_signals(normalise(text).text) if one.entry.kind}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("这次简单说", "limiting"),
        ("本次行程", "limiting"),
        ("这个PR别动表结构", "limiting"),
        ("这个项目用Go", "project"),
        ("從今以後用繁體", "lasting"),
        ("每次都先给结论", "lasting"),
        ("不管聊什么", "everything"),
        ("所有回答都短一点", "everything"),
        ("今天不吃辣", "passing"),
        ("好像对头孢过敏", "hedge"),
        ("我妈说我小时候爱哭", "reported"),
        ("气死我了", "emotion"),
        ("开玩笑的", "joke"),
        ("如果我住在海边", "hypothetical"),
        ("记住哈", "remember"),
        ("这个不用记", "no_memory"),
        ("老样子", "repetition"),
        ("只考虑杭州", "exclusive"),
        ("改成下午", "change"),
        ("你记错了", "correction"),
        ("这条作废", "retraction"),
        ("这回例外", "exception"),
    ],
)
def test_a_word_says_how_it_is_meant(text: str, kind: str) -> None:
    assert kind in _kinds(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("以后再说吧", "lasting"),
        ("十一点以后别发消息", "lasting"),
        ("下班以后一起吃饭", "lasting"),
        ("写汇报时先给结论再展开", "limiting"),
        ("哈哈哈哈", "joke"),
    ],
)
def test_a_longer_phrase_hides_the_signal_within_it(text: str, kind: str) -> None:
    assert kind not in _kinds(text)


def test_of_two_signals_of_one_kind_the_longer_stands() -> None:
    lasting = [one for one in find_signals("从今以后用中文") if one.entry.kind == "lasting"]
    assert [(one.start, one.end) for one in lasting] == [(0, 4)]


def test_ids_are_unique_and_patterns_have_words_that_call_for_them() -> None:
    listed = entries()
    assert len({entry.id for entry, _, _ in listed}) == len(listed)
    assert all(called for entry, _, called in listed if entry.patterns)


@pytest.mark.parametrize(
    ("task", "family"),
    [
        ("写项目周报", "writing"),
        ("写 README", "writing"),
        ("订场", "booking"),
        ("写解析脚本", "coding"),
        ("求职辅导", "job_search"),
        ("hotel search", "booking"),
        ("monthly report", "writing"),
        ("散步", None),
        ("", None),
        (None, None),
    ],
)
def test_a_task_belongs_to_a_family(task: str | None, family: str | None) -> None:
    assert family_of(task) == family


def test_a_latin_word_is_found_as_a_whole_and_beside_hanzi() -> None:
    index = WordIndex([("ios", "os"), ("allerg*", "allergy"), ("用", "use")])
    assert [of for *_, of in index.scan("curiosity")] == []
    assert [of for *_, of in index.scan("我用ios的")] == ["use", "os"]
    assert [of for *_, of in index.scan("allergic")] == ["allergy"]


def test_an_empty_word_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        WordIndex([("*", 1)])


@given(st.text(alphabet="以后这次记住不用改成１２ＡＢ啦㎏ﬀ，。 é\u0301繁體", max_size=60))
def test_signals_are_quoted_in_the_original(text: str) -> None:
    norm = normalise(text)
    for signal in to_signals(find_signals(norm.text), norm):
        assert text[signal.start : signal.end] == signal.text != ""
