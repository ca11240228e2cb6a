"""What the user wants from the agent, in Chinese: the builders of those rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .builders import Changes, builder

if TYPE_CHECKING:
    from .engine import Found

_LEAD = re.compile(r"^(?:关于|有关|对于|至于|对了|还有|另外|其实|那个|嗯|请|以后|今后|往后|你|我们?的?|我家里?的?|咱家?的?)+")
_NO_TOPIC = re.compile(
    r"^(?:这|那|它|此|你|他|她|谁|什么|哪|今天|昨天|明天|刚才|现在|先|再|真的|算了|行了|好了|唉|哎|求|拜托|题|作业|第)"
    r"|(?:让|叫|劝|求|要|请|嘱咐|说|问|跟|和|老是?)(?:我|你|他|她|大家)?$"
)
_ASK_ANOTHER = re.compile(r"[,，\s]*(?:你)?(?:去|得|该)?(?:问|找)(?!我)")
_ANOTHERS_ORDER = re.compile(r"(?:让|叫|劝|求|请|要求|嘱咐|吩咐|说|骂)(?:我|他|她|大家|我们)(?:以后|都|也|就)*$")


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
    if not 1 <= len(value) <= 24 or _NO_NAME.match(value.lower()) or re.fullmatch(r"[了啦吧呀啊哈嘛]+", value):
        return None
    return {"value": value, "content": found.rule.content.format(value=value)}
