"""What the Chinese rules make of turns: values, intents, signals, evidence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memstrata.domain.candidate import Candidate
from memstrata.domain.evidence import stands_in
from memstrata.pipeline.extract import RuleExtractor

from .reading_a_turn import prepared


def _found(text: str, **circumstances: object) -> list[Candidate]:
    return list(RuleExtractor().extract(prepared(text, **circumstances)))  # type: ignore[arg-type]


def _one(text: str, attribute: str, **circumstances: object) -> Candidate:
    found = [c for c in _found(text, **circumstances) if c.attribute == attribute]
    assert len(found) == 1, [c.content for c in found]
    return found[0]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("期望薪资 15-20k", "expected_salary", "15000-20000"),
        ("我期望薪资一万五到两万", "expected_salary", "15000-20000"),
        ("薪资这块，20k 以下不考虑了", "expected_salary", "20000+"),
        ("我生日是11月23号", "birthday", "11-23"),
        ("雅思我报了5月16号那场", "exam_date", "2026-05-16"),
        ("我干测试干了六年", "years_of_experience", "6年"),
        ("美团那边我进终面了", "job_search_status", "终面"),
        ("我养了一只橘猫叫年糕", "pet", "年糕"),
        ("我住在臺南", "city", "台南"),
        ("我不吃辣", "taste", "辣"),
    ],
)
def test_values_come_in_one_form(text: str, attribute: str, value: str) -> None:
    assert _one(text, attribute).value == value


def test_a_dislike_is_a_taste_with_the_other_sign() -> None:
    assert _one("我喜欢香菜", "taste").polarity == "positive"
    assert _one("我讨厌香菜", "taste").polarity == "negative"


def test_several_things_are_several_candidates() -> None:
    assert {c.value for c in _found("我喜欢爵士和摇滚")} == {"爵士", "摇滚"}


def test_a_further_value_adds() -> None:
    assert _one("我还会 Rust", "skill").intent == "add"


def test_a_move_is_a_change_and_a_denial_behind_a_fact_a_correction() -> None:
    assert _one("上个月我搬到重庆了", "city").intent == "change"
    corrected = _one("我在杭州工作，不是湖州", "work_city")
    assert (corrected.intent, corrected.former_value) == ("correct", "湖州")


def test_another_form_of_address_names_the_former_one() -> None:
    renamed = _one("别叫小李了，叫我老李", "preferred_name")
    assert (renamed.value, renamed.former_value, renamed.intent) == ("老李", "小李", "change")


def test_a_stay_with_a_date_is_no_move() -> None:
    found = _found("我到3月15号为止都在上海出差")
    assert [c.attribute for c in found] == ["whereabouts"]
    assert found[0].time is not None
    assert found[0].time.end is not None
    assert found[0].time.end.isoformat() == "2026-03-16T00:00:00+08:00"


def test_one_sentence_may_hold_a_constraint_and_hint_at_a_habit() -> None:
    found = _found("这次周报写短一点，只保留进展和风险。", task="写周报", task_id="w1")
    assert {c.kind: c.source for c in found} == {
        "constraint": "explicit_user_statement",
        "hint": "single_task_inference",
    }


def test_wordings_of_one_wish_share_a_key() -> None:
    texts = ("周报太长了，压到只剩关键事项", "这份周报也只留关键事项", "老样子，周报只写关键事项")
    keys = [{c.hint_key for c in _found(text, task="写周报") if c.kind == "hint"} for text in texts]
    assert set.intersection(*keys) == {"关键事项"}


@pytest.mark.parametrize(
    "texts",
    [
        ("语气改口语一点", "别那么书面", "老样子，大白话就行"),
        ("太长了，压一压", "再短点", "照旧，精简些"),
        ("附上流程图", "流程图也要带上", "还是加个流程图"),
        ("别忘了单测", "补个单元测试", "测试也写上"),
    ],
)
def test_paraphrases_of_one_wish_share_a_key(texts: tuple[str, ...]) -> None:
    keys = [{c.hint_key for c in _found(text, task="写周报") if c.kind == "hint"} for text in texts]
    assert set.intersection(*keys)


def test_a_wish_and_its_denial_are_counted_apart() -> None:
    keys = [{c.hint_key for c in _found(text, task="写周报")} for text in ("多来点表情", "别放表情")]
    assert not set.intersection(*keys)


def test_a_family_of_tasks_is_named_by_the_words_or_by_the_task() -> None:
    assert _one("以后写周报时按进展组织", "instruction").family == "writing"
    assert _one("做这类任务时先复述需求", "instruction", task="写需求文档").family == "writing"


@pytest.mark.parametrize(
    ("text", "target", "intent"),
    [
        ("忘掉我喜欢榴莲那条吧", "我喜欢榴莲", "retract"),
        ("去日本读研的计划取消了", "去日本读研", "end"),
        ("我不想去外包了", "外包", "end"),
        ("我可没说过我喜欢甜食啊", "喜欢甜食", "retract"),
    ],
)
def test_what_is_taken_back_is_named(text: str, target: str, intent: str) -> None:
    found = _found(text)
    assert [(c.kind, c.intent) for c in found] == [("retraction", intent)]
    assert target in (found[0].target_words or "")


def test_the_turn_before_is_taken_back_by_a_signal() -> None:
    found = _found("刚才那句别记，删了吧")
    assert [s.value for c in found for s in c.signals if s.kind == "retraction" and s.value] == [
        "previous_turn"
    ]
    assert not any(c.has("no_memory") for c in found)


def test_a_correction_of_the_turn_before_takes_over_what_it_was_about() -> None:
    found = _found("更正一下，是5年", history=("我有3年测试经验",))
    assert [(c.attribute, c.value, c.former_value, c.intent) for c in found] == [
        ("years_of_experience", "5年", "3年", "correct")
    ]
    assert _found("更正一下，是5年") == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("如果我住在海边，我会喜欢游泳", "hypothetical"),
        ("我住在北京，开玩笑的", "joke"),
        ("这个不用记，我喜欢那种面馆", "no_memory"),
    ],
)
def test_what_is_not_meant_carries_the_signal_that_refuses_it(text: str, kind: str) -> None:
    assert all(c.has(kind) for c in _found(text))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "翻译一下：我住在上海，我对花生过敏",
        "“我叫李雷，我今年20岁”这句英文怎么说",
        "```\n我喜欢猫\n```",
        "来玩角色扮演：我演皇帝，你演太监。朕最讨厌吃鱼，我住在紫禁城",
        "我的银行卡密码是■■■■■■，记住它",
        "我手机号■■■■■■■■■■■，以后订场都留这个",
    ],
)
def test_material_and_secrets_yield_nothing(text: str) -> None:
    assert _found(text) == []


def test_a_hedge_makes_it_uncertain_and_another_persons_word_reported() -> None:
    assert _one("我好像对头孢过敏", "allergy").certainty == "uncertain"
    assert _one("医生说我对花粉过敏", "allergy").certainty == "reported"


def test_traditional_and_full_width_text_is_read_alike() -> None:
    assert _one("我對芒果過敏", "allergy").value == "芒果"
    assert _one("我是ＩＮＦＰ", "mbti").value == "INFP"


_PIECES = (
    "我", "住在", "成都", "，", "。", "以后", "写周报", "喜欢", "不", "讨厌", "香菜",
    "１１月２３号",
    "生日是", "㎏", "ﬀ", "é", "\u0301",
    "😀", "別叫我", "寶寶", "这次", "短一点", "到3月15号为止",
    "都在", "出差", "忘掉", "那条", "对", "过敏",
    "15-20k",
    "期望薪资", "？",
    "如果", "“", "”", "\n", " ", "我妈", "A", "也", "了", "■", "I", " like ", "cats", "call me ",
    "Bo", ".", "\U00020000",
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.sampled_from(_PIECES), max_size=24).map("".join) | st.text(max_size=60))
def test_evidence_and_signals_stand_in_any_text(text: str) -> None:
    for candidate in _found(text, task="写周报"):
        assert all(stands_in(evidence, text) for evidence in candidate.evidence)
        assert candidate.evidence
        assert candidate.content.strip()
        assert "■" not in f"{candidate.content}{candidate.value}"
        for signal in candidate.signals:
            assert text[signal.start : signal.end] == signal.text
