"""What is ended, changed or taken back by words that name it loosely: found by what is remembered.

The rules that use these builders know the construction ("that matter can go", "no longer that", "that is
settled, now this"); which memory is meant is told by the words that it shares with what was said.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..quantity import find_quantities
from ..text import normalise
from .builders import Changes, builder

if TYPE_CHECKING:
    from .engine import Found

_PIPELINE = __package__.rpartition(".")[0]
_WORDS = re.compile(r"[a-z][a-z0-9+#-]+|[0-9]+|[\u4e00-\u9fff]+")
_WEEK = re.compile("礼拜|星期")
_ENOUGH = 0.6
"""Share of the told characters that a memory must hold where no whole word of it was said."""


@dataclass(frozen=True)
class _Lexicon:
    stop: frozenset[str]
    groups: tuple[tuple[str, ...], ...]
    over: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


@cache
def _lexicon() -> _Lexicon:
    raw: dict[str, Any] = tomllib.loads(
        resources.files(_PIPELINE).joinpath("lexicon/remembered_zh.toml").read_text("utf-8")
    )
    return _Lexicon(
        frozenset(raw["stop"]),
        tuple(tuple(group) for group in raw["groups"]),
        tuple((tuple(one["said"]), tuple(one["held"])) for one in raw["over"]),
    )


@dataclass(frozen=True)
class _Told:
    """Pairs, single characters, Latin words and groups that tell what a text is about."""

    pairs: frozenset[str]
    single: frozenset[str]
    latin: frozenset[str]
    groups: frozenset[int]


@lru_cache(maxsize=4096)
def _told(text: str) -> _Told:
    data = _lexicon()
    plain = _WEEK.sub("周", normalise(text).text)
    pairs: set[str] = set()
    single: set[str] = set()
    latin: set[str] = set()
    for run in _WORDS.findall(plain):
        if run[0] < "\u4e00":
            latin.add(run)
            continue
        single |= {ch for ch in run if ch not in data.stop}
        pairs |= {
            run[i : i + 2]
            for i in range(len(run) - 1)
            if not (run[i] in data.stop and run[i + 1] in data.stop)
        }
    groups = {place for place, group in enumerate(data.groups) if any(word in plain for word in group)}
    return _Told(frozenset(pairs), frozenset(single), frozenset(latin), frozenset(groups))


def _score(said: _Told, held: _Told) -> float:
    pairs = sum(1.0 for pair in said.pairs & held.pairs if not (set(pair) & _lexicon().stop))
    loose = sum(0.4 for pair in said.pairs & held.pairs if set(pair) & _lexicon().stop)
    shared = pairs + loose + 1.5 * len(said.latin & held.latin) + 1.2 * len(said.groups & held.groups)
    if shared < 1.0 and said.single and len(said.single & held.single) / len(said.single) >= _ENOUGH:
        shared += 0.5 * len(said.single & held.single)
    return shared


def meant(known: Sequence[str], words: str, *, least: float = 1.0) -> str | None:
    """The remembered content that the words are about; None where none or more than one may be."""
    said = _told(words)
    scored = sorted(((_score(said, _told(one)), one) for one in known), reverse=True)
    if not scored or scored[0][0] < least:
        return None
    if len(scored) > 1 and scored[1][0] > 0.8 * scored[0][0]:
        return None
    return scored[0][1]


_NEW = re.compile(
    r"(?:现在|如今|目前|这会儿|改|换|转|挪|搬|下周|这周|后来|直接|已经|到|去)(?:[\u4e00-\u9fff]{2,4}(?:安顿|住下|落脚|定居)|在|去|到|住|用|开|骑|归|是|成|为|做|学|吃|喝|教|养|投|入职|加入|来|当)"
)


_IS_NOW = ("是", "叫", "换", "改", "变", "归", "成了", "为")


def _goes_over(found: Found) -> bool:
    """Whether the words go on to say what has taken the place of what is over."""
    return _NEW.search(found.norm("value") if found.has("value") else "") is not None or (
        _NEW.search(normalise(found.text_behind()).text) is not None
    )


@builder
def item_goes(found: Found) -> Changes | None:
    """An item that is named as something remembered goes; which one, its words tell."""
    content = meant(found.prepared.known, found.norm("target"))
    if content is None:
        return None
    return {"value": None, "target_words": content, "content": f"用户要求不再记住：{content}"}


@builder
def is_over(found: Found) -> Changes | None:
    """The deed or thing that is over, where a memory holds all that is said of it."""
    known = found.prepared.known
    words = found.norm("value")
    content = next(
        (
            one
            for said, held in _lexicon().over
            if any(word in found.clause.text for word in said)
            for one in known
            if any(word in one for word in held)
        ),
        None,
    )
    if content is None:
        content = meant(known, words)
        if content is None or not _holds_most(_telling(found.norm("what"), words), content):
            return None
    if _goes_over(found) or _goes_on_about(content, words, normalise(found.text_behind()).text):
        return None
    return {"value": None, "target_words": content, "content": f"用户说不再如此：{content}"}


def _goes_on_about(content: str, words: str, behind: str) -> bool:
    """Whether the words behind name the matter of a memory again and say how it is now: 我的主管是老高."""
    matter = _told(content).pairs - _told(words).pairs
    return any(f"{pair}{verb}" in behind for pair in matter for verb in _IS_NOW)


def _telling(what: str, words: str) -> str:
    """The thing alone where it tells enough, else the thing with the deed."""
    return what if len(_told(what).single) > 1 else words


def _holds_most(words: str, content: str) -> bool:
    said, held = _told(words), _told(content)
    if said.groups & held.groups or said.latin & held.latin:
        return True
    return bool(said.single) and len(said.single & held.single) / len(said.single) >= _ENOUGH


@builder
def replaced(found: Found) -> Changes | None:
    """What was so, in the words of a memory, and what has taken its place."""
    new = found.words("value")
    content = meant(found.prepared.known, found.norm("former"))
    if content is None or not new or re.match(r"(?:什么|这|那|啥|谁|哪|你|他|她|再说|别)", new):
        return None
    former = _common(found.norm("former"), normalise(content).text) or _framed(found.norm("verb"), content)
    if former is None or former in new or new in content:
        return None
    return {
        "value": new,
        "former_value": former,
        "content": f"从{former}改成{new}",
        "intent": "correct" if "correction" in found.kinds else "change",
    }


def _framed(verb: str, content: str) -> str | None:
    """What stands behind the same verb in the memory: 开的是大众 for 开."""
    if not verb:
        return None
    held = re.search(rf"{re.escape(verb[0])}(?:的是|的|了|着|在)?([^,，。的]{{1,10}})$", content)
    return held.group(1) if held else None


def _common(words: str, content: str) -> str | None:
    """The longest stretch that both texts hold and that tells something."""
    stop = _lexicon().stop
    best = ""
    for start in range(len(words)):
        for end in range(start + 2, len(words) + 1):
            piece = words[start:end]
            if piece not in content:
                break
            if len(piece) > len(best) and not (piece[0] in stop or piece[-1] in stop):
                best = piece
    return best or None


@builder
def amount_now(found: Found) -> Changes | None:
    """An amount that has changed or was wrong, where one memory tells an amount of the same sort."""
    said = found.words("value")
    amounts = find_quantities(said)
    if len(amounts) != 1:
        return None
    unit = amounts[0].unit
    about = [
        (one, held) for one in found.prepared.known for held in find_quantities(one) if held.unit == unit
    ]
    if len(about) > 1:
        content = meant([one for one, _ in about], found.spoken.sentence.text)
        about = [pair for pair in about if pair[0] == content]
    if len(about) != 1:
        return None
    content, held = about[0]
    former, lead = content[held.start : held.end], ""
    if former.isascii():
        lead = re.search(r"[\u4e00-\u9fff]{0,2}$", content[: held.start]).group()  # type: ignore[union-attr]
        former = lead + former
    if (amounts[0].low, amounts[0].high) == (held.low, held.high):
        return None
    new = lead + said[amounts[0].start : amounts[0].end]
    return {
        "value": new,
        "former_value": former,
        "content": f"从{former}改成{new}",
        "intent": "correct" if "correction" in found.kinds else "change",
    }


@builder
def never_so(found: Found) -> Changes | None:
    """What is denied to have been said or to be so; the memory is the one that says it."""
    content = meant(found.prepared.known, found.norm("target"))
    if content is None or not _holds_most(found.norm("target"), content):
        return None
    verb = re.search(r"住|在|叫|姓|学|做|用|养|属|是", found.norm("target"))
    if verb and re.match(rf"[^。]{{0,3}}我{verb.group()}", normalise(found.text_behind()).text):
        return None
    return {"value": None, "target_words": content, "content": f"用户否认：{content}"}


@builder
def renamed(found: Found) -> Changes | None:
    """Another name for somebody or something whose name a memory tells."""
    content = meant(found.prepared.known, found.norm("who"))
    held = (
        re.search(r"(?:叫做?|名叫|名字是|叫作)([\u4e00-\u9fff]{1,4}|[A-Za-z]{2,12})", content)
        if content
        else None
    )
    new = found.words("value")
    if held is None or held.group(1) == new:
        return None
    return {
        "value": new,
        "former_value": held.group(1),
        "content": f"不是{held.group(1)}，是{new}",
    }


def points_at(known: Sequence[str], words: str) -> str:
    """The memory that loosely chosen words mean, where one is plainly meant; else the words."""
    return meant(known, words) or words


def goes_over(behind: str) -> bool:
    """Whether the words behind the end of something say what has taken its place."""
    return (
        _NEW.match(re.sub(r"^[,，\s]*(?:我|人|一家|全家|跟|和|猫|狗|娃|都|也|就|家)*", "", behind))
        is not None
    )


__all__ = ["goes_over", "meant", "points_at"]
