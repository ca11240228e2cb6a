"""What the user wants from the agent, in Chinese: the builders of those rules."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from ..signals import families_in
from ..text import fold_for_comparison
from .builders import FAMILY_LABELS, Changes, builder, order_words, without_lead

if TYPE_CHECKING:
    from .engine import Found

_PIPELINE = __package__.rpartition(".")[0]

_LEAD = re.compile(
    r"^(?:关于|有关|对于|至于|对了|还有|另外|其实|那个|嗯|请|以后|今后|往后|你|我们?的?|我家里?的?|"
    r"咱家?的?)+"
)
_NO_TOPIC = re.compile(
    r"^(?:这|那|它|此|你|他|她|谁|什么|哪|今天|昨天|明天|刚才|现在|先|再|真的|算了|行了|好了|唉|哎|求|"
    r"拜托|题|作业|第)"
    r"|(?:让|叫|劝|求|要|请|嘱咐|说|问|跟|和|老是?)(?:我|你|他|她|大家)?$"
)
_ASK_ANOTHER = re.compile(r"[,，\s]*(?:你)?(?:去|得|该)?(?:问|找)(?!我|就|题)")
_ANOTHERS_ORDER = re.compile(
    r"(?:让|叫|劝|求|请|要求|嘱咐|吩咐|说|骂)(?:我|他|她|大家|我们)(?:以后|都|也|就)*$"
)


@builder
def topic_in_front(found: Found) -> Changes | None:
    """The subject that stands in front; somebody else's prohibition, "this" and "that" name none."""
    neg_at = found.match.start("neg") if found.has("neg") else found.match.end("value")
    if _ANOTHERS_ORDER.search(found.text[:neg_at]) or _ASK_ANOTHER.match(found.text_behind()):
        return None
    bare = _LEAD.sub("", found.norm("value")).strip()
    if not bare or len(bare) < 2 or _NO_TOPIC.search(bare):
        return None
    said = _LEAD.sub("", found.words("value")).strip() or found.words("value")
    value = _LEAD.sub("", found.plain("value")).strip()
    return {"value": value, "content": found.rule.content.format(value=said)}


_NO_NAME = re.compile(r"^(?:起床|吃饭|出门|上班|去|来|醒|做|帮|过|出|回|加班|干活|等|看|听|写|买|一声|一下)")
_AROUND_NAME = re.compile(r"^[\s“”\"「」『』'‘’]+|[\s“”\"「」『』'‘’]+$")


@builder
def not_address(found: Found) -> Changes | None:
    """A form of address, with a 的 that belongs to it (亲爱的)."""
    value = _AROUND_NAME.sub("", found.words("value", trim=False))
    if not 1 <= len(value) <= 24 or _NO_NAME.match(value.lower()):
        return None
    if re.fullmatch(r"[了啦吧呀啊哈嘛]+", value):
        return None
    return {"value": value, "content": found.rule.content.format(value=value)}


_ONCE = re.compile(r"一回|一次(?!最多|只|说|讲|给|问)|一场|一局|模拟|扮演一|演一|比如|今晚|今天|刚才|昨天")
_AS_IT_IS = re.compile(r"(?:也是|真是|真的是|已经是|就像是)(?:我|个|一个)|感到|幸运|谢谢|多亏")
_ABOUT_ANOTHER = re.compile(
    r"^(?:(?:我|我们|咱)(?:的|们|家)?(?:那个|前|大|小)?[\u4e00-\u9fff]{1,3}?|他|她|他们|别人|人家|"
    r"大家|有人|[小老][\u4e00-\u9fff])"
    r"(?:说|讲|觉得|想让|希望|把你|叫你|问)"
)


@builder
def relationship_words(found: Found) -> Changes | None:
    """The wish with what explains it; a part played for once, and other people's wishes, are none."""
    text = found.text[: found.match.end()]
    if _ONCE.search(text) or _ABOUT_ANOTHER.search(found.text) or _AS_IT_IS.search(found.text):
        return None
    said = without_lead(found.words("value"))
    return {"value": None, "content": found.rule.content.format(value=said)} if len(said) > 2 else None


_SAYS_OF_OTHERS = re.compile(
    r"(?:他|她|他们|老板|领导|客户|同事|朋友|老公|老婆|室友|妈|爸|对方)[^,。]{0,6}(?:跟|和|对|回|教|"
    r"劝)我|我(?:说话|讲话)(?!不)"
)
_PRAISE = re.compile(
    r"(?:真|太|挺|很|好|有点|有些|蛮)(?:好听|有意思|有趣|开心|舒服|治愈|温柔|冲|凶|逗|搞笑|烦)(?:了|"
    r"的|啊|呀|$)"
)


@builder
def manner_words(found: Found) -> Changes | None:
    """A wish about the assistant's manner; how others talk, and praise, are none."""
    if _SAYS_OF_OTHERS.search(found.text) or _PRAISE.search(found.match.group()):
        return None
    said = without_lead(found.words("value"))
    return {"value": None, "content": found.rule.content.format(value=said)} if len(said) > 2 else None


_TALKS = re.compile(
    r"说|讲|聊|答|回|问|夸|写|给|用|带|发|解释|分析|安慰|批评|顺着|附和|引导|提醒|啰嗦|绕|直|客套|"
    r"客气|重复|道歉|道理|总结|列|举|"
    r"一条|一步|一个一个|一问|一点一点|一口气|慢慢|先|简|详|短|长|套|怼|哄|吐槽|教|劝|像|当|句|话"
)


@builder
def taste_words(found: Found) -> Changes | None:
    """What the user likes or dislikes in the assistant's manner, told with the attitude."""
    of_the_agent = "你" in found.match.group()
    if (of_the_agent and not _TALKS.search(found.norm("value"))) or _PRAISE.search(found.match.group()):
        return None
    said = without_lead(found.original_match()).lstrip("，, ")
    return {"value": None, "content": re.sub(r"^(?:我自己|我个人|我这人|我|本人)", "用户", said)}


_REQUEST = re.compile(
    r"帮我|给我|帮忙|麻烦你|请你|看一?[看下]|你(?:来|去|觉得|看|帮|写|改|查|说)|怎么办|吃饭|吃火锅|"
    r"聚餐|下班|请假"
)


@builder
def project_words(found: Found) -> Changes | None:
    """The statement with what belongs to it; a request about the project states nothing."""
    if _REQUEST.search(found.spoken.sentence.text):
        return None
    said = without_lead(found.words("value"))
    return {"value": None, "content": found.rule.content.format(value=said)} if len(said) > 3 else None


_BARE_REQUEST = re.compile(
    r"^(?:请|麻烦)?(?:你)?(?:再|先)?(?:帮|给)我(?:写|做|改|看|想|起|拟|来|列|画|查|出|翻|润色|"
    r"检查)(?:一|几|两|个|下|一下)+[^,。]{1,8}$"
)
_IDIOM = re.compile(
    r"^(?:你|就|也)*(?:别|不要|不用|不必)(?:急|慌|担心|怕|闹|走|理|谢|客气(?!话)|等|睡|着急|紧张|介意|"
    r"误会|停|费心|管)|^要(?:去|来|不|是)|^得(?:去|走)"
)
_DONE = re.compile(
    r"(?:好|完|过|出去|上去)了$|^(?:就)?(?:按|照)(?:这个|你说的)[^,]{0,4}$|^(?:我)?(?:看|收到|发现|"
    r"觉得)"
)


@builder
def part_words(found: Found) -> Changes | None:
    """A condition, and neither a plain request to make something nor news of what was done."""
    text = found.spoken.sentence.text
    if _BARE_REQUEST.search(text) or _DONE.search(text) or _IDIOM.search(text):
        return None
    said = without_lead(found.words("value"))
    return {"value": None, "content": found.rule.content.format(value=said)} if len(said) > 2 else None


@dataclass(frozen=True, slots=True)
class _Wishes:
    """Groups of wishes that come to the same thing, and what is taken off any other wish."""

    groups: tuple[tuple[str, str, re.Pattern[str]], ...]
    strip: re.Pattern[str]
    no_wish: re.Pattern[str]
    marks: re.Pattern[str]
    """Words without which a clause that falls into no group tells of no wish."""


@cache
def _wishes() -> _Wishes:
    raw = tomllib.loads(resources.files(_PIPELINE).joinpath("lexicon/hints.toml").read_text("utf-8"))
    return _Wishes(
        tuple((one["key"], one["label"], re.compile("|".join(one["patterns"]))) for one in raw["wish"]),
        re.compile("|".join(f"(?:{pattern})" for pattern in raw["strip"]["patterns"])),
        re.compile("|".join(raw["no_wish"]["patterns"])),
        re.compile("|".join(raw["marks"]["patterns"])),
    )


_DENIED = re.compile(r"(?:别|不要|不用|不许|不能|少)[^,]{0,3}$")
_LONGEST_CLAUSE, _LONGEST_WISH = 18, 8


def _keyed(words: str) -> tuple[str, str] | None:
    """What is counted and how it is told: the group of the wish, else what it is about; None for none."""
    wishes = _wishes()
    for key, label, pattern in wishes.groups:
        match = pattern.search(words)
        if match is not None:
            denied = "别忘" not in words and _DENIED.search(words[: match.start()]) is not None
            return (f"no {key}", f"不要{label}") if denied else (key, label)
    if len(words) > _LONGEST_CLAUSE or not _wishes().marks.search(words):
        return None
    return _core(words)


def _core(words: str) -> tuple[str, str] | None:
    """What a wish is about, without the task's own words and what merely carries the wish."""
    wishes = _wishes()
    denied = re.search(r"别(?!忘)|不要|不用|不许", words)
    bare = words[denied.end() :] if denied else words
    for _, start, end in sorted(families_in(bare), key=lambda one: one[1] - one[2]):
        bare = bare[:start] + "," * (end - start) + bare[end:]
    if wishes.no_wish.search(bare.strip(", ")):
        return None
    bare = wishes.strip.sub("", bare).strip()
    if not 2 <= len(bare) <= _LONGEST_WISH or wishes.no_wish.search(bare):
        return None
    return (f"no {bare}", f"不要{bare}") if denied else (fold_for_comparison(bare), bare)


_TELLS = re.compile(r"^(?:我(?!要|想要|这|喜欢)|他|她|谢|好的|你)|[吗呢]$|谢谢|不错|很好|挺好|没问题")


@builder
def wish(found: Found) -> Changes | None:
    """What is wished for in one task, under a key that other wordings of the wish share."""
    words = found.norm("wish")
    if _TELLS.search(words):
        return None
    keyed = _keyed(found.norm("value") or words)
    if keyed is None:
        return None
    key, told = keyed
    if key.startswith("length.") and "limiting" in found.kinds:
        return None  # how long this one is to be says nothing of others
    family = found.reading.task_family or (found.spoken.family[0] if found.spoken.family else None)
    label = FAMILY_LABELS.get(family or "", "同类")
    return {"value": key, "hint_key": key, "content": f"用户在{label}任务中可能偏好：{told}"}


_COMPLAINS = re.compile(
    r"(?:好|真|太|很|超级?|特别|贼)(?:烦|累|难|痛苦|无聊|慢|困|头疼|麻烦|崩溃)|憋|犯困|头疼|头大|发愁|"
    r"拖延|想哭|害怕|好奇|感觉|不确定|不知道|觉得(?!.{0,8}(?:别|不要|你))"
)
_TELLS_THE_AGENT = re.compile(r"你|您|帮我|给我|别(?!人)|不要|请|记住|记得|必须|一律|一定|务必")


@builder
def standing_words(found: Found) -> Changes | list[Changes] | None:
    """As `order_words`; a sigh about what comes again and again orders nothing."""
    text = found.spoken.sentence.text
    if _COMPLAINS.search(text) and not _TELLS_THE_AGENT.search(text):
        return None
    return order_words(found)


_WHEN_DONE = re.compile(
    r"拖|点(?:钟)?(?:才|就)|半夜|凌晨|周[一二三四五六日末]|早上|晚上|下午|没(?:写|做|订)|不(?:会|想|"
    r"爱|敢|擅长|行)|完(?:过|了)|犯困|忘"
)


@builder
def own_way(found: Found) -> Changes | None:
    """The user's words; when or how badly the user gets it done is no way of doing it."""
    if _WHEN_DONE.search(found.text) or _COMPLAINS.search(found.text):
        return None
    said = without_lead(found.words("value"))
    return {"value": None, "content": said} if len(said) > 4 else None


_OF_THE_USER = re.compile(
    r"(?<![给帮跟和对替回教问陪让答复诉])我(?!要|想要|看|听|懂|赶|急|的?(?:问题|意思))|^(?:他|她|我们)"
)


@builder
def this_answer(found: Found) -> Changes | None:
    """The user's words; news of what the user does this time instructs nobody."""
    clause = found.clause.text
    if _OF_THE_USER.search(clause) or re.search(r"路|班|课|车|饭|药|假|会议", clause):
        return None
    said = without_lead(found.words("value"))
    return {"value": None, "content": said} if len(said) > 2 else None
