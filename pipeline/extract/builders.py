"""Small functions where data does not reach: they refine what a rule found, or refuse it.

A builder takes what was found and returns the fields of the draft that it changes (`value`, `content`,
`kind`, `attribute`, `intent`, `former_value`, `time`, `importance` …), an empty mapping to take the draft
as it is, a list of mappings where one match says several things, or None to refuse the match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...domain.candidate import Signal, TimeFrame
from ..numerals import chinese_number
from ..quantity import canonical, find_quantities
from ..text import fold_for_comparison
from ..timeexpr import month_day
from .reading import orders, trimmed

if TYPE_CHECKING:
    from .engine import Found

Changes = Mapping[str, Any]
Builder = Callable[["Found"], Changes | list[Changes] | None]

BUILDERS: dict[str, Builder] = {}
"""By the name that rules use."""


def builder(function: Builder) -> Builder:
    """Register a function under its own name."""
    BUILDERS[function.__name__] = function
    return function


def _number(text: str) -> float | None:
    """A number in digits or in Chinese; None for anything else."""
    try:
        return float(text)
    except ValueError:
        return chinese_number(text)


_NO_PLACE = re.compile(
    r"^(?:日后|以后|未来|今后|当前|这样|那样|院|校|宿舍|公司|学校|酒店|宾馆|民宿|家里?|楼|这|那|哪|一起|一楼|隔壁|附近|朋友|同事|别人|对面|"
    r"下来|过来|进|不|得|着|个|几|很|[一二三四五六七八九十0-9]+[楼层室号栋]|"
    r"the |a |my |an |your |here|there|this|that|fear|peace|hope|denial)"
    r"|(?:附近|楼上?|旁边|一起|对面|酒店|宿舍)$"
)


_WAY = re.compile(r"(?<=[\u4e00-\u9fff]{2})[去来]$")
"""The way that a move takes, behind the town."""


@builder
def place(found: Found) -> Changes | None:
    """Refuse what cannot be a town or a country, such as a hospital bed or the flat above."""
    value = _WAY.sub("", found.plain("value"))
    if len(value) < 2 or _NO_PLACE.search(value.lower()):
        return None
    if value == found.plain("value"):
        return {}
    said = _WAY.sub("", found.words("value"))
    return {"value": value, "content": found.rule.content.replace("{value}", said)}


_NO_PEOPLE = re.compile(
    r"^(?:好|坏|老|新|年轻|单身|个|大|小|负责|当事|主持|创始|成年|男|女|本|普通|路|外地|本地|什么|哪里|发起|联系|候选|"
    r"主人|机器|病|证|待着?|呆|过年|休息|老|农村$)"
)


@builder
def hometown(found: Found) -> Changes | None:
    """Refuse "a good man", "the one in charge" and other persons who are no natives of a place."""
    value = found.plain("value")
    return None if len(value) < 2 or _NO_PEOPLE.match(value) else {}


_NO_WORK_CITY = re.compile(
    r"^(?:家|公司|单位|学校|医院|努力|认真|一起|外面|室内|线上|远程|这|那|上(?![海饶虞])|一家|互联网|国企|外企|银行|工厂|大厂|体制)"
    r"|(?:公司|集团|厂|银行|学校|大学|医院|局|院|店|里)$"
)


@builder
def work_city(found: Found) -> Changes | None:
    """Refuse offices and manners; "not in X" makes it a correction."""
    value = found.plain("value")
    if len(value) < 2 or _NO_WORK_CITY.search(value):
        return None
    former = re.search(r"不是(?:在)?([\u4e00-\u9fff]{2,6})", found.spoken.sentence.text[found.match.end() :])
    if former:
        return {"intent": "correct", "former_value": former.group(1)}
    return {}


@builder
def birthday(found: Found) -> Changes | None:
    """`MM-DD`, whatever the spelling; a denial of another date makes it a correction."""
    value = month_day(found.norm("value"))
    if value is None:
        return None
    if re.search(r"农历|阴历", found.clause.text):
        value = f"农历{value}"
    former = re.search(r"不是([^,。!?]{2,10})", found.spoken.sentence.text)
    correct = former is not None or "correction" in found.kinds
    return {
        "value": value,
        "intent": "correct" if correct else "assert",
        "former_value": former.group(1) if former else None,
    }


@builder
def age(found: Found) -> Changes:
    """Whole years where a number was said; a decade of birth stays as it is."""
    said = found.norm("value")
    years = _number(said)
    if years is None or said.endswith(("后", "年的")):
        return {"content": f"用户是{found.words('value')}"}
    return {"value": str(int(years)), "content": f"用户今年{found.words('value')}岁"}


@builder
def height(found: Found) -> Changes | None:
    """Refuse lengths that no person has."""
    digits = re.sub(r"[^0-9]", "", found.norm("value"))
    if digits and not (1 <= int(digits[0]) <= 2 and len(digits) <= 3):
        return None
    return {}


_NO_NAME = re.compile(
    r"^(?:怎么|什么|如何|从|去|来|吃|帮|起床|做|别|不|先|的|他|她|它|你|我|这|那|啥|一声|一下|早|过|出|回|"
    r"加班|干|醒|等|上|下|看|听|写|买|later|back|when|if|a |an |the |out|up|in|at|on|tomorrow|tonight|now)"
)


@builder
def address(found: Found) -> Changes | None:
    """A form of address is short and is no order ("call me later", 叫我起床)."""
    value = found.plain("value")
    if not 1 <= len(value) <= 24 or _NO_NAME.match(value.lower()):
        return None
    return {"value": value, "content": found.rule.content.format(value=found.words("value"))}


@builder
def name(found: Found) -> Changes | None:
    """Refuse what was called for (a car, a meal) and what is no name."""
    value = found.plain("value")
    if not value or _NO_NAME.match(value.lower()) or re.match(r"^(?:了|外卖|车|滴滴|救护|什么)", value):
        return None
    return {}


@builder
def upper(found: Found) -> Changes:
    """Letters that stand for themselves are written in capitals."""
    value = found.plain("value").upper()
    return {"value": value, "content": found.rule.content.format(value=value)}


@builder
def occupation(found: Found) -> Changes | None:
    """Refuse chores; name the employer and the direction where they were told."""
    value = found.plain("value")
    if re.match(r"^(?:梦|饭|作业|菜|什么|啥|事|人|客|题|运动|核酸|饭菜|家务)", value) or len(value) < 2:
        return None
    return _whole_words(found, "用户" if found.has("employer") else "")


@builder
def with_direction(found: Found) -> Changes | None:
    """Add the clause that tells the direction of a study."""
    value = found.plain("value")
    if len(value) < 2 or re.match(r"^(?:书|会|习|得|到|过|校|完|小说|新闻|诗)", value):
        return None
    rest = found.text_behind()
    direction = re.match(r"[,，]?\s*(?:主要)?(?:方向|主攻|研究方向)(?:是)?([^,。!?]{2,14})", rest)
    content = f"用户学{found.words('value')}"
    return {"content": f"{content}，方向是{direction.group(1)}" if direction else content}


def _whole_words(found: Found, prefix: str) -> Changes:
    """Content from the whole match in the user's words, the user named in the third person."""
    said = found.original_match()
    said = re.sub(r"^(?:我们|我自己|我|本人|俺|咱们?)", "", said).strip()
    return {"content": f"用户{said}" if said else f"{prefix}{found.words('value')}"}


@builder
def with_rest(found: Found) -> Changes:
    """A condition together with the clause behind it, which tells what it means for the user."""
    rest = found.text_behind().lstrip(",， ")
    following = re.split(r"[,。!?]", rest)[0].strip() if rest else ""
    content = f"用户{found.words('value')}"
    if 2 <= len(following) <= 20 and not re.search(r"[你吗呢?]|怎么|什么", following):
        content = f"{content}，{following}"
    return {"content": content}


@builder
def added(found: Found) -> list[Changes] | None:
    """One candidate for each thing of an enumeration; 也 and 还 make it a further value."""
    template = found.rule.content
    further = re.search(r"也|还|除了|另外|also|too(?![a-z])", found.clause.text) is not None
    parts = _parts(found.plain("value"))
    if not parts:
        return None
    return [
        {"value": part, "content": template.format(value=part), "intent": "add" if further else "assert"}
        for part in parts
    ]


def _parts(value: str) -> list[str]:
    """The things that 和, 、 or "and" join; one thing stays whole."""
    value = re.sub(r"等等?(?:[^、和跟与]{0,6})?$", "", value) or value
    parts = [
        part.strip()
        for part in re.split(
            r"、|(?<=[\u4e00-\u9fff])/(?=[\u4e00-\u9fff])| and |(?<=\S)(?:以及|还有|和|跟|与)(?=\S)", value
        )
    ]
    parts = [part for part in parts if part]
    return parts if all(len(part) <= 16 for part in parts) else [value]


@builder
def pet(found: Found) -> Changes | None:
    """The pet's name is its value; without a name its kind is."""
    kind, called = found.plain("kind"), found.plain("value")
    if re.search(r"想|要|没|讨厌|喜欢|怕", found.norm("kind")):
        return None
    content = f"用户养了{kind}，叫{called}" if called else f"用户养了{kind}"
    return {"value": called or kind, "content": content}


@builder
def household(found: Found) -> Changes | None:
    """Partners and children have attributes of their own."""
    who, said = found.words("who"), found.words("value")
    child = re.search(r"女儿|儿子|孩子|闺女|双胞胎", who)
    attribute = "child" if child else "partner"
    if not said:
        return {"attribute": attribute, "value": who, "content": f"用户有{who}"}
    return {"attribute": attribute, "value": f"{who}{said}", "content": f"用户的{who}{said}"}


@builder
def allergy(found: Found) -> list[Changes] | Changes | None:
    """Refuse figures of speech; strip what is no substance; several substances are several facts."""
    value = re.sub(r"^(?:我|的|是|真的|本来|天生|从小|就)+", "", found.plain("value"))
    value = re.sub(r"(?:也|都|真的|是|会|有|还)+$", "", value).strip()
    if not value or re.search(r"你|什么|这种人|他|她|没|不", value):
        return None
    further = re.search(r"也|还|除了", found.clause.text) is not None
    former = found.plain("former") or None
    intent = "correct" if former else "add" if further else "assert"
    return [
        {
            "value": part,
            "former_value": former,
            "content": found.rule.content.format(value=part),
            "intent": intent,
        }
        for part in _parts(value)
    ]


@builder
def device(found: Found) -> Changes:
    """A former system that is denied makes it a change; phones are another attribute."""
    value = found.plain("value")
    phone = re.search(r"安卓|android|iphone|ios|鸿蒙", value.lower()) is not None
    changes: dict[str, Any] = {"attribute": "phone" if phone else "os"}
    if found.has("former"):
        ended = re.search(r"不再|了,|了，|换", found.match.group()) is not None
        changes |= {"intent": "change" if ended else "correct", "former_value": found.plain("former")}
    elif "change" in found.kinds:
        changes["intent"] = "change"
    return changes


@builder
def experience(found: Found) -> Changes | None:
    """Years as a plain number with 年; the field of work stands in the content."""
    said = found.norm("value")
    number = re.match(r"[0-9.]+|[零一二两三四五六七八九十百半]+", said)
    years = _number(number.group()) if number else None
    if years is None:
        return None
    shown = f"{int(years) if years == int(years) else years}年"
    field = re.sub(r"^(?:的|是)+|(?:的|了|是|相关)+$", "", found.words("field"))
    change = "change" in found.kinds or re.search(r"满|正好|已经", found.clause.text) is not None
    correct = "correction" in found.kinds
    return {
        "value": shown,
        "content": f"用户有{shown}{field}经验" if field else f"用户有{shown}工作经验",
        "intent": "correct" if correct else "change" if change else "assert",
    }


@builder
def salary(found: Found) -> Changes | None:
    """The canonical amount; 以下不考虑 makes the amount the least that is accepted."""
    said = found.words("value")
    amounts = [one for one in find_quantities(said) if one.unit == "money"]
    floor = re.search(r"以下|低于|最低|至少|底线|不低于|起码", found.match.group()) is not None
    value = canonical(amounts[0]) if amounts else found.plain("value")
    changed = floor or bool(found.kinds & {"change", "correction"})
    content = f"期望薪资 {said}以上" if floor and "以上" not in said else f"期望薪资 {said}"
    return {
        "value": f"{value}+" if floor and value.replace(".", "").isdigit() else value,
        "content": content,
        "intent": "correct"
        if found.rule.intent == "correct" or "correction" in found.kinds
        else "change"
        if changed
        else "assert",
    }


@builder
def salary_then(found: Found) -> Changes | None:
    """As `salary`, of a time that is over."""
    changes = salary(found)
    return {**changes, "intent": "late"} if isinstance(changes, dict) else None


@builder
def expected_city(found: Found) -> list[Changes] | None:
    """A candidate for each town; an exclusive word holds for all of them."""
    towns = [one.strip() for one in re.split(r"、|/|或者?|和|跟", found.plain("value")) if one.strip()]
    if not towns or any(_NO_PLACE.search(town) or len(town) < 2 for town in towns):
        return None
    kinds = found.kinds
    intent = found.rule.intent
    if intent == "assert" and "change" in kinds:
        intent = "change"
    only = "exclusive" in kinds
    prefix = "期望城市：只考虑" if only else "期望城市："
    return [
        {"value": town, "content": f"{prefix}{town}", "intent": intent, "exclusive": only} for town in towns
    ]


_STAGES = (
    ("hired", "已入职", True),
    ("offer", "已拿到 offer", False),
    ("final", "终面", False),
    ("interview", "面试中", False),
    ("applying", "投递中", False),
)


@builder
def job_stage(found: Found) -> Changes | None:
    """The furthest stage that the sentence names; being hired ends the search."""
    text = found.text
    for pattern in found.rule.patterns:
        match = pattern.search(text)
        if match is None:
            continue
        for group, stage, final in _STAGES:
            if group in match.re.groupindex and match.group(group):
                return {"value": stage, "content": f"用户的求职状态：{stage}", "final": final}
    return None


@builder
def named_employer(found: Found) -> Changes | None:
    """Refuse "a company" and "the office": they name nobody."""
    value = found.plain("value")
    if re.match(r"^(?:公司|一家|某|这家|那家|医院|大学|银行|事务所|研究所|一个)", value):
        return None
    return {"value": value}


@builder
def exam(found: Found) -> Changes:
    """The day itself where the words and the clock settle it, else what was said."""
    said = found.words("value")
    times = found.times(said)
    day = times[0].start.date().isoformat() if times and times[0].start else month_day(said)
    exam_name = found.words("exam").removesuffix("考试")
    changed = bool(found.kinds & {"change"})
    return {
        "value": day or found.plain("value"),
        "content": f"{exam_name}考试日期：{said}",
        "intent": "correct"
        if found.rule.intent == "correct" or "correction" in found.kinds
        else "change"
        if changed
        else "assert",
    }


@builder
def abstains(found: Found) -> Changes | None:
    """What is not eaten or drunk; 了 behind it tells of a change."""
    value = re.sub(r"^(?:任何|什么|一点|过|太)+", "", found.plain("value"))
    if not value or re.search(r"^(?:素$|斋$|药$|这|那|你|下|就|完|惯|到|起|得|了|亏|消|透|准|上)", value):
        return None
    never = "从来" if re.search(r"从来?(?=不)", found.clause.text) else ""
    ended = re.search(r"(?:不|戒)[^,]*了", found.match.group()) is not None
    return {
        "value": value,
        "content": f"用户{never}{found.words('verb')}{found.words('value')}",
        "intent": "change" if ended else "assert",
    }


_TEMPORARY_LIKE = re.compile(
    r"昨天|刚才|今天|刚刚|那家|这家|这个|那个|这首|这版|这份|上面|你(?:找|写|推荐|做|说)"
)


@builder
def likes(found: Found) -> list[Changes] | None:
    """One taste for each thing that is named; praise of what is at hand is no taste."""
    value = found.plain("value")
    if _PRONOUN.fullmatch(value):
        meant = _MAKER.search(found.spoken.sentence.text)
        value = meant.group("who") if meant else ""
    if not value or _TEMPORARY_LIKE.search(found.clause.text):
        return None
    verb = found.words("verb", trim=False) or "喜欢"
    negative = found.rule.polarity == "negative"
    kinds = found.kinds
    further = re.search(r"也|还|除了", found.spoken.sentence.text) is not None
    changed = re.search(r"现在|如今|开始|变得|越来越|不再|了$", found.clause.text) is not None
    intent = "correct" if "correction" in kinds else "change" if changed else "add" if further else "assert"
    attitude = f"对{{}}{verb}" if verb in _ATTITUDES else f"{verb if negative else '喜欢'}{{}}"
    return [
        {"value": part, "content": f"用户{attitude.format(part)}", "intent": intent}
        for part in _parts(value)
        if part
    ]


_PRONOUN = re.compile(r"(?:她|他|它|ta)(?:们)?|这个?|那个?|这家|那家|这位|那位")
_MAKER = re.compile(
    r"(?:循环|听|看|读|追|刷|迷上|入坑|关注|吃|用|玩)(?:了|着|过|的是)?"
    r"(?P<who>[a-z][a-z ]{1,20}|[\u4e00-\u9fff·]{2,5}?)(?:家)?"
    r"的(?:新|这张|那张|这首|那首|老)?(?:专辑|歌|单曲|演唱会|电影|书|小说|作品|剧|节目|视频|漫画|游戏|菜|面|火锅)"
)
"""Whose work is being enjoyed: the one that a pronoun behind it means."""

_ATTITUDES = frozenset({"不感兴趣", "没兴趣", "无感", "反感", "敏感", "没好感"})


@builder
def whole(found: Found) -> Changes:
    """Content in the user's own words, in the third person."""
    return _whole_words(found, "用户")


def trimmed_of(found: Found, start: int, end: int) -> str:
    """A stretch of the normalised text in the user's own words, end particles trimmed."""
    return trimmed(found.reading.original(start, end))


_LEAD = re.compile(
    r"\A(?:(?:请?(?:你)?(?:记住|记得|记好|帮我记(?:一)?下|备注一下)(?:了|哈|啊|一下|吧)?|remember|"
    r"另外(?:提个要求)?|对了|还有|"
    r"顺便说?(?:一句|一下|下)?|提个要求|请|麻烦(?:你)?|那(?!个|些|种)|嗯|ok|from now on|going forward|please|"
    r"(?:从今|从此)?(?:以后|以後)|今后|今後|往后|從今以後|从今往后|从现在(?:起|开始)|从今天(?:起|开始)|哈哈+)(?:[,，:：、\s]+|(?=[^\s])))+",
    re.I,
)


def without_lead(said: str) -> str:
    """Words without "remember:", "by the way", "from now on" in front of them."""
    bare = _LEAD.sub("", said.strip()).strip(" ,，:：")
    return bare or said.strip()


def _own(found: Found, group: str = "value") -> str:
    return without_lead(found.words(group))


@builder
def own_words(found: Found) -> Changes | None:
    """Content in the user's words, without what leads up to them."""
    said = _own(found)
    if len(said) < 2:
        return None
    return {"value": None, "content": found.rule.content.format_map({"value": said})}


@builder
def order_words(found: Found) -> Changes | None:
    """The clauses that order something, from the first to the last; remarks behind them are left out."""
    sentence = found.spoken.sentence
    clauses = sentence.clauses
    first = next((i for i, c in enumerate(clauses) if _begins_order(found, i)), None)
    if first is None:
        return None
    last = max(i for i, c in enumerate(clauses) if i == first or orders(c.text, sentence.pieces))
    start, end = clauses[first].start, clauses[max(first, last)].end
    said = without_lead(trimmed_of(found, start, end))
    if len(said) < 3:
        return None
    return {"value": None, "content": said}


def _begins_order(found: Found, index: int) -> bool:
    clause = found.spoken.sentence.clauses[index]
    offset = found.spoken.sentence.start
    marked = any(
        one.entry.kind in ("lasting", "everything", "family")
        and clause.start <= one.start + offset < clause.end
        for one in found.spoken.seen
    )
    return marked or orders(clause.text, found.spoken.sentence.pieces)


@builder
def topic(found: Found) -> Changes | None:
    """What is not to be spoken of; an exclamation such as 别提了 names nothing."""
    said = found.words("value")
    if (
        not said
        or re.match(r"^(?:它|这|那|了|啊|多|太|要|有(?!没有))", found.norm("value"))
        or len(said) > 24
    ):
        return None
    urged = re.search(r"催", found.match.group())
    if urged and not found.norm("value").startswith("催"):
        said = f"催{said}"
    elif len(found.norm("value")) < 2 and not urged:
        return None
    sentence = found.spoken.sentence.text
    when = re.match(
        r"^(?:以后|你)?((?:下班|周末|晚上|睡前|工作|吃饭)[^,别不]{0,6}?)\s*(?:please)?\s*(?:别|不要)",
        sentence,
    )
    content = f"{when.group(1).strip()}不要跟用户提：{said}" if when else f"不要跟用户提：{said}"
    return {"value": found.plain("value") if not urged else said, "content": content}


@builder
def contact(found: Found) -> Changes | None:
    """The whole sentence where the following clause says more about the hours."""
    if re.search(r"(?:给|跟|向)(?:他|她|它|他们|客户|老板)", found.match.group()):
        return None
    said = without_lead(found.words("value"))
    return {"value": None, "content": f"用户不接受：{said}" if len(said) > 1 else ""}


@builder
def voided(found: Found) -> Changes:
    """A plan or appointment ends; a rule is taken back."""
    plan = found.norm("plan")
    end = plan in ("计划", "打算", "安排") or (not plan and "取消" in found.match.group())
    return {
        "intent": "end" if end else "retract",
        "target_words": re.sub(r"[,，]?(?:这|那)?(?:个|条|项)?$", "", found.words("target")),
        "value": None,
    }


@builder
def previous_turn(found: Found) -> Changes:
    """The signal by which the policy looks for what the turn before left behind."""
    start, end = found.reading.parts.norm.span(
        found.base + found.match.start(), found.base + found.match.end()
    )
    words = found.prepared.text[start:end]
    mark = Signal(kind="retraction", text=words, start=start, end=end, value="previous_turn")
    return {"value": None, "target_words": "", "extra_signals": (mark,)}


def _until(found: Found) -> dict[str, Any] | None:
    end = found.reading.end_named_in(found.spoken)
    if end is None:
        return None
    said = found.reading.original(found.spoken.sentence.start, found.spoken.sentence.end)
    return {"time": TimeFrame(end=end.end, words=said[end.span_start : end.span_end])}


@builder
def dated_place(found: Found) -> Changes | None:
    """A stay with its end."""
    until = _until(found)
    if until is None or _NO_PLACE.search(found.norm("value")):
        return None
    words = trimmed_of(found, found.clause.start, found.clause.end)
    said = re.sub(r"^(?:我们|我)", "", words)
    return {**until, "value": found.plain("value"), "content": f"用户{said}"}


@builder
def dated_words(found: Found) -> Changes | None:
    """The user's words with the day up to which they hold."""
    until = _until(found)
    if until is None:
        return None
    return {**until, "value": None, "content": _own(found)}


@builder
def release(found: Found) -> Changes:
    """The day itself where the clock settles it."""
    times = found.times(found.words("value"))
    day = times[0].start.date().isoformat() if times and times[0].start else found.plain("value")
    changed = bool(found.kinds & {"change"})
    due = re.search(r"截止|ddl|deadline|交付", found.norm("what")) is not None
    return {
        "attribute": "deadline" if due else "release_date",
        "value": day,
        "content": f"项目{found.words('what')}日期：{found.words('value')}",
        "intent": "change" if changed else "assert",
    }


_COUNTED = re.compile(r"^(?:[一二三四五六七八九十两0-9]+[条点个页份]|的|是)+")


@builder
def hint(found: Found) -> Changes | None:
    """What is wished, folded to a key that other wordings of the same wish share."""
    value = _COUNTED.sub("", found.plain("value")).strip()
    if len(value) < 2 or re.search(r"你|我|什么|一下|这|那|吗|今天|明天|周[一二三四五六日]", value):
        return None
    family = found.reading.task_family or (found.spoken.family[0] if found.spoken.family else None)
    label = FAMILY_LABELS.get(family or "", "同类")
    return {
        "value": value,
        "hint_key": fold_for_comparison(value),
        "content": f"用户在{label}任务中可能偏好：{found.words('wish') if len(value) > 4 else value}",
    }


FAMILY_LABELS = {
    "writing": "写作", "coding": "编程", "booking": "预订", "travel": "行程", "job_search": "求职",
    "translation": "翻译", "study": "学习", "cooking": "做饭",
}  # fmt: skip


@builder
def corrects_previous(found: Found) -> Changes | None:
    """What the former turn said, said again with the corrected words in the place of the wrong ones."""
    from .corrections import corrected

    new = found.words("value")
    again = corrected(found.prepared, new) if new else None
    if again is None:
        return None
    former, said = again
    return {
        "kind": said.kind,
        "subject": said.subject,
        "attribute": said.attribute,
        "value": said.value,
        "former_value": former.value,
        "content": said.content,
        "polarity": said.polarity,
        "category": said.category,
        "importance": said.importance,
        "family": said.family,
        "target_words": former.content,
    }


_DEGREES = {"博": "博士", "研": "研究生", "大专": "大专", "mba": "MBA"}


@builder
def degree(found: Found) -> Changes:
    """The full name of a degree that was shortened."""
    value = _DEGREES.get(found.norm("value"), found.plain("value"))
    studying = re.search(r"在读|在念|读博|读研|正在", found.clause.text) is not None
    return {"value": value, "content": f"用户学历是{value}{'（在读）' if studying else ''}"}


@builder
def hint_limit(found: Found) -> Changes:
    """A length is its own key, whichever words set it."""
    value = found.plain("value").replace(" ", "")
    family = found.reading.task_family or (found.spoken.family[0] if found.spoken.family else None)
    label = FAMILY_LABELS.get(family or "", "同类")
    return {
        "value": value,
        "hint_key": fold_for_comparison(value),
        "content": f"用户在{label}任务中可能偏好：不超过{value}",
    }


@builder
def unsure(found: Found) -> Changes:
    """The words say that it may be so: whatever else is said, it is not certain."""
    value = found.plain("value")
    return {"value": value, "content": found.rule.content.format(value=value), "certainty": "uncertain"}


@builder
def manager(found: Found) -> Changes | None:
    """A change where a word says so; since when, where that is said."""
    value = found.words("value")
    text = found.spoken.sentence.text
    since = next((t for t in found.times(text) if t.start is not None and t.bound != "until"), None)
    begins = since is not None and re.search(r"起|开始|以来|之后", text) is not None
    changed = found.has("new") or begins or re.search(r"调走|离职|换人|现在|升职|走了", text) is not None
    changes: dict[str, Any] = {
        "value": value,
        "content": f"用户的主管是{value}",
        "intent": "change" if changed else "assert",
    }
    if begins and since is not None:
        changes["time"] = TimeFrame(start=since.start, words=text[since.span_start : since.span_end])
    return changes


@builder
def other_person(found: Found) -> Changes:
    """About somebody else, and kept only if the memory knows them, or for the project in hand."""
    who = found.words("who")
    start, end = found.match.span("who")
    first, last = found.reading.parts.norm.span(found.base + start, found.base + end)
    changes: dict[str, Any] = {"subject": who, "value": None, "content": found.original_match()}
    if any(who in content for content in found.prepared.known):
        return changes
    if found.holds("project_in_hand"):
        return changes | {"kind": "project_fact"}
    mark = Signal(kind="third_party", text=who, start=first, end=last, value=who)
    return changes | {"extra_signals": (mark,)}
