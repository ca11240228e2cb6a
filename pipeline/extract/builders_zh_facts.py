"""Builders for Chinese statements about the user that do not use the expected verb."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from typing import TYPE_CHECKING

from ..timeexpr import month_day
from .builders import Changes, builder, trimmed_of

if TYPE_CHECKING:
    from .engine import Found

_TOWNS = tomllib.loads(
    resources.files(__package__.rpartition(".")[0])
    .joinpath("lexicon/rules/macros_zh_facts.toml")
    .read_text("utf-8")
)["TOWNS"]
"""Names of towns, as the rules know them."""

_NO_THING = re.compile(
    r"^(?:我|你|他|她|它|这|那|谁|什么|怎么|哪|今|昨|明|刚|上次|下次|一|有|没|不|别|都|就|也|还|请|帮|给|先|再|把|被|让|"
    r"如果|要是|因为|所以|但|可是|然后|结果|其实|反正|感觉|觉得|知道|看来|时间|事情|问题|东西|大家|人家|自己|老板|同事|"
    r"客户|领导|价格|代码|文件|方案|会议|版本|接口|脚本|函数|数据|图片|邮件|文案|天气|网络|系统|手机号|机票|酒店房)"
)
"""What begins like this is no thing that one likes or dislikes."""

_NOT_A_THING = re.compile(r"[吗呢?得把被让连了]|怎么|什么|不是")
_FURTHER = re.compile(r"也|还|又|另外|除了|之外")
_TALK_BEFORE = re.compile(r"^(?:对了|还有|另外|其实|顺便说?|顺带一?提|那个|所有|凡是|但凡|任何|一样)+[,，]?")
_VAGUE_BEHIND = re.compile(r"(?:这|那)?(?:东西|玩意儿?|类|种|个|些|什么的|之类的?|啥的|的话|方面)+$")
_SPEAKER = re.compile(
    r"^(?:其实|而且|因为|对了|另外|还有|然后|,|，|我们家|我家|我们|我自己|我这人|我这个人|我|本人|俺)+"
)


@builder
def topic_taste(found: Found) -> list[Changes] | None:
    """A thing named first and what the user thinks of it; 也 makes it a further one.

    Where the words go on to speak of an allergy, that is what keeps the user from it.
    """
    value = _TALK_BEFORE.sub("", _VAGUE_BEHIND.sub("", found.plain("value")))
    if not value or _NO_THING.match(value) or _NOT_A_THING.search(value):
        return None
    sentence = found.spoken.sentence.text
    negative = found.rule.polarity == "negative"
    verb = found.words("verb") or ("不喜欢" if negative else "喜欢")
    intent = "add" if _FURTHER.search(sentence) else "assert"
    parts = [part for part in re.split(r"、|和|跟|或者?|还有|以及", value) if part]
    if len(value) <= 3:
        parts = [value]
    if negative and "过敏" in sentence:
        return [_allergic(one, intent) for one in parts]
    return [{"value": one, "content": f"用户{verb}{one}", "intent": intent} for one in parts]


def _allergic(value: str, intent: str) -> Changes:
    return {
        "kind": "fact",
        "attribute": "allergy",
        "category": "important_fact",
        "importance": 5,
        "polarity": "positive",
        "value": value,
        "content": f"用户对{value}过敏",
        "intent": intent,
    }


@builder
def own_clause(found: Found) -> Changes | None:
    """The clause in the user's words; what the pattern calls `value` is what it comes to."""
    said = _SPEAKER.sub("", trimmed_of(found, found.clause.start, found.clause.end))
    value = found.plain("value")
    if len(said) < 2 or re.match(r"(?:这|那|谁|什么|怎么|哪|你|他|她)", found.norm("value")):
        return None
    return {"value": value or None, "content": f"用户{said}"}


@builder
def own_sentence(found: Found) -> Changes | None:
    """The matched words in the third person."""
    said = _SPEAKER.sub("", found.original_match())
    if len(said) < 2:
        return None
    return {"value": found.plain("value") or None, "content": f"用户{said}"}


@builder
def free_words(found: Found) -> Changes | None:
    """As `own_sentence`, for an attribute that is told by its content alone."""
    said = _SPEAKER.sub("", found.original_match())
    return None if len(said) < 2 else {"value": None, "content": f"用户{said}"}


@builder
def field_of_study(found: Found) -> Changes | None:
    """What was studied, with the stage of study where the words name one."""
    value = re.sub(r"(?:专业|相关)+$", "", found.plain("value"))
    if not value or re.search(r"你|什么|怎么|[吗呢]", value):
        return None
    stage = re.search(r"大学|本科|研究生|硕士|博士|大专|中专", found.match.group())
    return {"value": value, "content": f"用户{stage.group() if stage else ''}学{value}"}


@builder
def upset_by(found: Found) -> Changes | None:
    """What does harm, and how."""
    thing = re.sub(r"^(?:我|对|我对|其实)+", "", found.words("value"))
    if not thing or _NO_THING.match(thing) or len(thing) > 8:
        return None
    return {"value": thing, "content": f"用户一碰{thing}就{found.words('harm')}"}


_NO_TOWN = re.compile(
    r"^(?:家|公司|单位|学校|宿舍|酒店|楼|车|路|这|那|哪|外|朋友|同事|别人|医院|网|群|里|上|下|一|几|办公|工地|村|国内|老家|"
    r"咖啡|商场|店|会议|床|线|现场|机场|高铁|地铁|火车|飞机|图书|教室|食堂|超市|你|我|他|她|忙|开会|等|看|想|找|做|写|学)|"
    r"(?:店|馆|楼|层|厅|室|院|校|司|厂|上|里|下|旁|边|中|组|部|群)$"
)


@builder
def lives(found: Found) -> Changes | None:
    """A town, district or country; the drifter's word names the town by its first character."""
    return _town(found)


def _town(found: Found) -> Changes | None:
    value = found.plain("value")
    drifts = re.search(r"([北沪深杭港])漂", found.match.group())
    if not value and drifts:
        value = {"北": "北京", "沪": "上海", "深": "深圳", "杭": "杭州", "港": "香港"}[drifts.group(1)]
    if len(value) < 2 or _NO_TOWN.search(value):
        return None
    return {"value": value, "content": f"用户住在{value}"}


@builder
def settled(found: Found) -> Changes | None:
    """As `lives`; the place that was left must be a place too."""
    former = found.plain("former")
    if former and _NO_TOWN.search(former):
        return None
    changes = _town(found)
    return None if changes is None else {**changes, "former_value": former or None}


@builder
def measure(found: Found) -> Changes:
    """Height where metres are meant, else weight; a figure that was reached is a change."""
    value = found.words("value")
    if "tall" in found.match.re.groupindex and found.match.group("tall") is not None:
        return {"attribute": "height", "value": found.plain("value"), "content": f"用户身高{value}"}
    return {
        "value": found.plain("value"),
        "content": f"用户体重{value}",
        "intent": "change" if found.has("moved") else "assert",
    }


_POINTER = re.compile(
    r"^(?:这|那|你|我|他|她|它|谁|什么|怎么|哪|说|要|因为|所以|一回事|问题|意思|吧|的|真|没|有|不|很|太|不想|想|让|开玩笑|故意)"
)
_EDGES = re.compile(r"^(?:在|去|对|个|一个|[,\s])+|(?:过敏|[,\s的了哈啊呀])+$")


@builder
def contrast(found: Found) -> Changes | None:
    """What was so and what is so; refused where either only points at something ("not this, that")."""
    former, value = _EDGES.sub("", found.plain("former")), _EDGES.sub("", found.plain("value"))
    if not former or not value or former == value or _POINTER.match(former) or _POINTER.match(value):
        return None
    return {
        "value": value,
        "former_value": former,
        "content": found.rule.content.format(former=former, value=value),
    }


@builder
def matter_changed(found: Found) -> Changes | None:
    """A matter by its name and what it is now."""
    matter, value = _EDGES.sub("", found.plain("target")), _EDGES.sub("", found.plain("value"))
    if len(matter) < 2 or not value or _NO_THING.match(matter) or _POINTER.match(value):
        return None
    return {
        "value": value,
        "former_value": None,
        "target_words": matter,
        "content": found.rule.content.format(target=matter, value=value),
    }


_GOES_OVER = re.compile(r"^[,，\s]*(?:我)?(?:现在|已经|最近|开始|后来)*(?:改|转|换)")


@builder
def ended(found: Found) -> Changes | None:
    """What is over; not where the words go on to say what has taken its place."""
    return None if _GOES_OVER.match(found.text_behind()) else {}


_TO_SEE_TO = re.compile(r"^(?:作业|题|饭|菜|活|家务|觉|课|班|会|电影|书|事|东西|外卖|车|药)$")


@builder
def does_no_more(found: Found) -> Changes | None:
    """The deed with its object; refused for errands, and where the words go on to say what comes instead."""
    verb, thing = found.norm("verb"), found.words("object")
    if _GOES_OVER.match(found.text_behind()) or _NO_THING.match(thing) or _TO_SEE_TO.match(thing):
        return None
    named = thing if verb == "吃" else f"{verb}{thing}"
    return {"value": None, "target_words": named, "content": f"用户不再{verb}{thing}"}


@builder
def denied(found: Found) -> Changes | None:
    """What is denied; refused where the words go on to say what is so."""
    return (
        None
        if re.match(
            r"^[,，\s]*(?:我|而)?(?:其实|应该|只|就|仅|光)*(?:是|对|有)|^[,，\s]*(?:就|只)",
            found.text_behind(),
        )
        else {}
    )


@builder
def parted(found: Found) -> list[Changes]:
    """One retraction for each word by which a memory may call the partner."""
    who = found.norm("who")
    said = {"她": ("女朋友", "女友"), "他": ("男朋友", "男友"), "女朋友": ("女朋友",), "男朋友": ("男朋友",)}
    names = (*said.get(who, ("女朋友", "男朋友")), "对象")
    return [{"value": None, "target_words": name, "content": f"用户和{name}分手了"} for name in names]


_ONLY_TALK = re.compile(
    r"^(?:好|坏|老实|第一|普通|大|明白|聪明|懒|负责|当事|自己|真|说|来|去|想|要|怕|在|谁|什么|被|对|同一|工作|中|俗|凡|甲|乙|本|路|"
    r"现代|中间|局外|过来|成年|正经|人)"
)


@builder
def plain_self(found: Found) -> Changes | None:
    """What one is; refused where the noun says nothing of the person (a good man, the one in charge)."""
    value = found.words("value")
    if _ONLY_TALK.match(value):
        return None
    verb = "不是" if found.has("no") else "是"
    return {
        "value": None,
        "content": f"用户{verb}{value}",
        "polarity": "negative" if found.has("no") else "positive",
    }


_AT_HAND = re.compile(
    r"^在(?:家|公司|单位|学校|群|线|网|路|外面|楼|电脑|床|图书|教室|宿舍|会议|看|等|想|写|改|找|试|认真|努力|准备)|"
    r"(?:开会|做饭|做菜|做题|做作业|做梦|开车|跑步|跑圈|带节奏|带娃|做事|开玩笑|当电灯泡|搞卫生|做家务|做实验|跑代码|做客)"
)


@builder
def plain_work(found: Found) -> Changes | None:
    """A trade by its place; refused for what is only being done now."""
    value = found.words("value")
    return None if _AT_HAND.search(value) else {"value": None, "content": f"用户{value}"}


_NO_TRADE = re.compile(
    r"开(?:车|心|玩笑|会|始|门|口|放|学|除)|打(?:车|算|的|电|游|球|扮|赌|扰|卡|工|字)|带(?:来|去|的|薪)|送(?:来|去|我|给)|"
    r"(?:跑|教|收|拉)(?:步|我|到|下|起|黑)|管(?:我|不)|装(?:傻|病|的)|写(?:字|作业|的)|画(?:画|的)|做(?:梦|饭|菜|题|人|作业|事|错)"
    r"|干(?:活|的|净|杯)|搞(?:定|笑|错)|拍(?:的|照)|看|养(?:的|成|病|老)|站(?:着|在)|修(?:的|改)|卖(?:的|给|掉)|种(?:的|地方)"
)


@builder
def trade_words(found: Found) -> Changes | None:
    """A trade by its deed; refused for deeds that are nobody's trade."""
    return None if _NO_TRADE.match(found.norm("value")) else {"content": f"用户是{found.words('value')}的"}


@builder
def free_value(found: Found) -> Changes | None:
    """The thing named, in the words of the rule; refused where it only points at something."""
    value = found.words("value")
    if len(value) < 2 or _NO_THING.match(found.norm("value")):
        return None
    return {"content": found.rule.content.format(value=value)}


@builder
def works_for(found: Found) -> Changes | None:
    """Whom one works for; a town is where, not for whom."""
    value = found.plain("value")
    if _NO_TOWN.search(value) or _is_town(value) or re.search(r"公司|单位|学校|医院|工地|厂里|家里", value):
        return None
    return {"value": value}


def _is_town(value: str) -> bool:
    return re.fullmatch(rf"(?:{_TOWNS})(?:市|县|区|那边|这边)?", value) is not None


_LUNAR = re.compile(r"农历|阴历|旧历")


@builder
def birthday_said(found: Found) -> Changes | None:
    """`MM-DD` for a day of the solar calendar, the user's words for one of the lunar."""
    said = found.plain("value").lstrip("的")
    day = _LUNAR.sub("", said).lstrip("的")
    by_moon = _LUNAR.search(found.match.group()) or re.search(r"[正冬腊闰]|月[初廿卅]|月半", day)
    value = f"农历{day}" if by_moon else month_day(day)
    if value is None:
        return None
    return {
        "value": value,
        "content": f"用户生日是{'农历' if by_moon else ''}{day}",
        "intent": "correct" if "correction" in found.kinds else "assert",
    }


_NO_FOOD = re.compile(r"^(?:饭|饱|亏|苦|药|酒店|东西|惊|瘪|力|香|上|下|到|完|多|它|什么|点|口|个)")


@builder
def harmed_by(found: Found) -> Changes | None:
    """What does harm; a substance that the user is allergic to, whatever the harm is called."""
    value = re.sub(r"^(?:点|些|个|了|我|对|这种)+|(?:的|这东西|这玩意儿?)+$", "", found.plain("value"))
    if not value or _NO_FOOD.match(value) or _NO_THING.match(value):
        return None
    harm = found.words("harm")
    content = f"用户一碰{value}就{harm}" if harm and harm != "过敏" else f"用户对{value}过敏"
    return {
        "value": value,
        "content": content,
        "intent": "add" if re.search(r"也|还|又", found.match.group()) else "assert",
    }


@builder
def not_taken(found: Found) -> Changes | None:
    """What is not eaten, drunk or smoked."""
    value, verb = found.plain("value"), found.words("verb")
    if value and ((_NO_FOOD.match(value) and value not in ("酒", "饭")) or _NO_THING.match(value)):
        return None
    return {"value": value or verb, "content": f"用户{verb}{value}"}


_ABOUT_ILLNESS = re.compile(
    r"查|书|文章|资料|怎么|什么|为什么|帮|科|医院|挂号|新闻|剧|论文|治疗方案|患者|病人|药店|科普"
)


@builder
def lasting_ill(found: Found) -> Changes | None:
    """The words of the clause; refused where the illness is only what is spoken of."""
    clause = found.clause.text
    if _ABOUT_ILLNESS.search(clause):
        return None
    said = _SPEAKER.sub("", trimmed_of(found, found.clause.start, found.clause.end))
    return {"value": None, "content": f"用户{said}"}


_NO_SKILL = re.compile(
    r"^(?:一|了|这|那|怎么|用了|题|跟|和|他|人|路|不|就|放下|接受|坚强|长大|自己|爱|珍惜|说不)"
)


@builder
def skill_words(found: Found) -> Changes | None:
    """A skill by its name; lessons of life are none."""
    value = found.words("value")
    if not value or (_NO_SKILL.match(found.norm("value")) and not value.startswith("不会")):
        return None
    further = re.search(r"也|还|又", found.clause.text) is not None
    verb = "" if value.startswith("不会") or found.norm("value").endswith(("证", "照")) else "会"
    return {"value": value, "content": f"用户{verb}{value}", "intent": "add" if further else "assert"}


@builder
def device_words(found: Found) -> Changes | None:
    """What device of which make or system; `kind` is empty for a car or a cycle."""
    value, kind = found.words("value"), found.words("kind")
    if re.match(r"(?:坏|没|不|很|太|新|旧|刚|被|卡|慢|开|关|在)", found.norm("value")):
        return None
    return {
        "value": value,
        "content": f"用户的{kind}是{value}" if kind else f"用户{_SPEAKER.sub('', found.original_match())}",
        "intent": "change" if found.kinds & {"change"} else "assert",
    }
