"""A turn as the rules read it: cut, with signals, subjects and the circumstances at hand."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Any

from ...domain.ports import Prepared
from ...domain.zone import zone_of
from ..segment import MASK, Clause, Segmented, Sentence, plays_on, segment
from ..signals import Seen, family_in, family_of, find_signals, kinds_of
from ..sought import Pieces, Sought, pieces_of
from ..timeexpr import TimeExpr, find_times
from .not_kept import turn_wide
from .plain_zh import in_plain_words

_PIPELINE = __package__.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Subject:
    """Who a clause is about: `user`, `assistant`, `household` (a partner, child, pet) or `other`."""

    kind: str
    words: str = ""

    @property
    def is_other(self) -> bool:
        """Whether it is somebody else than the two who talk."""
        return self.kind in ("household", "other")


_FROM_NOW = re.compile(
    r"以后|往后|今后|日后|此后|从今|从现在|之后(?=写|的|每|都|你|给|做)"
    r"|下次开始|下回起|每[份篇封]|默认|一律|凡"
)
"""Words for what is to last with which a clause without a user's deed is an order, whatever its verb."""

_NO_FAMILY = re.compile(r"(?:别|不要|不用|不必|无需)翻译")
"""What is not to be done names no kind of task."""

_PLAIN = re.compile(r"^(?:请|麻烦|千万|就|也|都)*(?:别(?!人)|不要|帮我|给我|记得)")
"""How an order begins that needs no subject."""

_ENDING = frozenset({"until", "before", "within"})
_OF_THE_DAY = ("hour", "minute")
"""Precisions of times within a day: "before 10am until March" ends in March."""

USER = Subject("user")
ASSISTANT = Subject("assistant")


@dataclass(frozen=True, slots=True)
class _Words:
    household: Sought
    other: Sought
    user: Sought
    oneself: Sought
    assistant: Sought
    order: Sought
    answer: Sought
    job: Sought
    user_acts: Sought
    talks_task: Sought
    standing_answer: Sought
    artefact: Sought
    answerish: Sought
    task_topic: Sought
    foretells: Sought
    over: Sought
    still: Sought
    asides_ahead: Sought
    asides_behind: Sought


@cache
def _words() -> _Words:
    raw: dict[str, Any] = tomllib.loads(
        resources.files(_PIPELINE).joinpath("lexicon/circumstances.toml").read_text("utf-8")
    )
    return _Words(**{name: Sought("|".join(part["patterns"])) for name, part in raw.items()})


_TAIL = re.compile(r"(?:[的了啦啊呀吧哈呢哦嘛咯喔哟呗捏噢耶]|\s|[\"'“”‘’。,，.!！~～、;；:：])+\Z")
_HEAD = re.compile(r"\A(?:了|是|\s|[\"'“”‘’,，、:：])+")


def trimmed(said: str) -> str:
    """Words without the particles and marks at their edges."""
    return _HEAD.sub("", _TAIL.sub("", said.strip())).strip()


def orders(text: str, pieces: Pieces) -> bool:
    """Whether a normalised clause tells the assistant what to do."""
    return _words().order.search(text, pieces) is not None


def speaks_of_self(text: str) -> bool:
    """Whether the user speaks of themself alone in a normalised clause."""
    return _words().oneself.pattern.search(text) is not None


def names_subject(text: str) -> bool:
    """Whether a normalised clause says itself who it is about."""
    return _subject(text) is not None


def tells_what_is_over(text: str, pieces: Pieces) -> bool:
    """Whether a plain statement in this normalised clause is about what is over."""
    return _words().over.search(text, pieces) is not None


def puts_in_past(text: str, pieces: Pieces) -> bool:
    """Whether words put a statement into a past that a time expression beside them names."""
    return _words().still.search(text, pieces) is not None


@dataclass(frozen=True)
class Spoken:
    """A sentence of the user's with its signals; `seen` offsets count from the sentence's start."""

    sentence: Sentence
    seen: tuple[Seen, ...]
    subjects: tuple[Subject, ...]
    """One for each clause."""

    def _holds(self, sought: Sought) -> bool:
        return sought.search(self.sentence.text, self.sentence.pieces) is not None

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of its signals."""
        return kinds_of(self.seen)

    @cached_property
    def order(self) -> bool:
        """Whether the sentence tells the assistant what to do."""
        return self._holds(_words().order)

    @cached_property
    def answer(self) -> bool:
        """Whether it is about how to answer."""
        return self._holds(_words().answer)

    @cached_property
    def directed(self) -> bool:
        """Whether a clause of it tells the assistant, and not the user, to do something."""
        words = _words()
        acting = False
        for clause in self.sentence.clauses:
            text, pieces = clause.text, self.sentence.pieces
            if words.task_topic.search(text, pieces):
                text = words.task_topic.pattern.sub(" ", text)
                pieces = pieces_of(text)
            acts = words.user_acts.search(text, pieces) is not None
            told = words.assistant.search(text, pieces) is not None or self._marked(clause)
            ahead = _FROM_NOW.search(text) and not words.foretells.search(text, pieces)
            wished = ahead or words.order.search(text, pieces)
            if wished and not acts and (told or not acting):
                return True
            acting = acting or acts
        return False

    def _marked(self, clause: Clause) -> bool:
        """Whether a word for what is to last, or a plain prohibition, stands in the clause."""
        start, end = clause.start - self.sentence.start, clause.end - self.sentence.start
        lasts = (one.entry.value == "order" or one.entry.kind == "everything" for one in self.seen)
        return _PLAIN.search(clause.text) is not None or any(
            good and start <= one.start < end for good, one in zip(lasts, self.seen, strict=True)
        )

    @cached_property
    def standing(self) -> bool:
        """Whether it tells the assistant what to do from now on or in every case."""
        return self.lasts and self.directed and not self._holds(_words().foretells)

    @cached_property
    def lasts(self) -> bool:
        """Whether a word such as "from now on" or "in every answer" stands in it."""
        return "everything" in self.kinds or any(one.entry.value == "order" for one in self.seen)

    @cached_property
    def user_acts(self) -> bool:
        """Whether the user tells what they themselves do."""
        return self._holds(_words().user_acts)

    @cached_property
    def for_answers(self) -> bool:
        """A standing order about answers."""
        if not self.standing:
            return False
        if "everything" in self.kinds:
            return True
        about = self.answer or self._holds(_words().standing_answer)
        return about and self.family is None

    @cached_property
    def for_tasks(self) -> bool:
        """A standing order about tasks of one kind."""
        told = self.directed or (self.order and "remember" in self.kinds)
        words = _words()
        if not told or "everything" in self.kinds or self._holds(words.foretells):
            return False
        typed = self._holds(words.talks_task)
        limited = "limiting" in self.kinds
        kept = self.lasts or "remember" in self.kinds
        return (typed and not limited) or (kept and self.family is not None)

    @cached_property
    def names_artefact(self) -> bool:
        """Whether a thing that is made is named, and not merely an answer."""
        words = _words()
        if self._holds(words.answerish):
            return False
        return self.family is not None or self._holds(words.artefact)

    @cached_property
    def answerish(self) -> bool:
        """Whether it is about telling the user something now."""
        return self._holds(_words().answerish)

    @cached_property
    def family(self) -> tuple[str, int, int] | None:
        """The family of tasks that it names, and where in the sentence."""
        return family_in(_NO_FAMILY.sub("　　", self.sentence.text))

    @cached_property
    def core(self) -> tuple[int, int]:
        """Where it begins and ends in the normalised text without "remember that", "keep it in mind"."""
        sentence, words = self.sentence, _words()
        ahead = words.asides_ahead.search(sentence.text, sentence.pieces)
        behind = words.asides_behind.search(sentence.text, sentence.pieces)
        start = sentence.start + (ahead.end() if ahead else 0)
        end = sentence.start + behind.start() if behind else sentence.end
        return (start, end) if start < end else (sentence.start, sentence.end)

    @cached_property
    def masked(self) -> bool:
        """Whether a masked secret stands in it."""
        return MASK in self.sentence.text

    def clause_at(self, offset: int) -> int:
        """The index of the clause at `offset` (from the sentence's start), or of the last before it."""
        place = offset + self.sentence.start
        found = 0
        for index, clause in enumerate(self.sentence.clauses):
            if clause.start <= place:
                found = index
        return found


class Reading:
    """One prepared turn, read once for all rules and for the second opinion."""

    @classmethod
    def of(cls, prepared: Prepared) -> Reading:
        """The reading of a turn; those of the last few turns are kept."""
        return _reading_of(_Itself(prepared))

    def __init__(self, prepared: Prepared, *, retold: bool = False) -> None:
        self.prepared = prepared
        self.retold = retold
        played = plays_on([text for _, text in prepared.history])
        self.parts: Segmented = segment(in_plain_words(prepared.text), in_fiction=played)
        self.spoken = tuple(_spoken(sentence, self.parts.norm.text) for sentence in self.parts.sentences)
        self._ends: dict[int, TimeExpr | None] = {}
        sentences = self.parts.sentences
        self.turn_signals = tuple(
            turn_wide(sentences, index, seen)
            for index, spoken in enumerate(self.spoken)
            for seen in spoken.seen
            if seen.entry.reach == "turn"
        )

    @cached_property
    def task_family(self) -> str | None:
        """The family of the task in hand."""
        context = self.prepared.context
        return context.task_family or family_of(context.task)

    @cached_property
    def has_task(self) -> bool:
        """Whether some task is in hand, by name or id."""
        context = self.prepared.context
        return bool(context.task or context.task_id)

    @cached_property
    def job(self) -> bool:
        """Whether the talk is of looking for work: by the task, what is known, or what was said."""
        words = _words().job
        context = self.prepared.context
        history = (text for _, text in self.prepared.history)
        said = (context.task or "", context.project or "", self.prepared.text, *history)
        return any(words.pattern.search(text) for text in (*said, *self.prepared.known))

    def times(self, text: str) -> tuple[TimeExpr, ...]:
        """The time expressions of a text, by the turn's own clock and zone."""
        context = self.prepared.context
        return find_times(text, now=context.said_at, zone=zone_of(context.zone))

    def past_times(self, text: str) -> tuple[TimeExpr, ...]:
        """As `times`, where a bare date means the last one and not the next."""
        context = self.prepared.context
        return find_times(text, now=context.said_at, zone=zone_of(context.zone), prefer="past")

    def end_named_in(self, spoken: Spoken) -> TimeExpr | None:
        """The time up to which a sentence holds, where its words say one."""
        key = spoken.sentence.start
        if key not in self._ends:
            said = self.original(spoken.sentence.start, spoken.sentence.end)
            ends = [
                t
                for t in self.times(said)
                if t.end is not None and t.bound in _ENDING and not _is_of_every_day(t, spoken)
            ]
            self._ends[key] = min(ends, key=lambda one: one.precision in _OF_THE_DAY, default=None)
        return self._ends[key]

    def original(self, start: int, end: int) -> str:
        """The user's own spelling of a stretch of the normalised text."""
        first, last = self.parts.norm.span(start, end)
        return self.prepared.text[first:last]


def _is_of_every_day(time: TimeExpr, spoken: Spoken) -> bool:
    """Whether a time of the day says what is wished of each day: "never book flights before 9am"."""
    if time.precision not in _OF_THE_DAY:
        return False
    return spoken.lasts or (time.bound == "before" and spoken.order)


class _Itself:
    """A turn as a key: compared by identity, for its words would have to be compared each time."""

    __slots__ = ("prepared",)

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.prepared is self.prepared

    def __hash__(self) -> int:
        return id(self.prepared)


@lru_cache(maxsize=8)
def _reading_of(turn: _Itself) -> Reading:
    return Reading(turn.prepared)


def _spoken(sentence: Sentence, text: str) -> Spoken:
    return Spoken(sentence, tuple(find_signals(text[sentence.start : sentence.tail])), _subjects(sentence))


def _subjects(sentence: Sentence) -> tuple[Subject, ...]:
    subjects: list[Subject] = []
    present = USER
    for clause in sentence.clauses:
        present = _subject(clause.text) or present
        subjects.append(present)
    return tuple(subjects)


def _subject(text: str) -> Subject | None:
    words = _words()
    for kind, named in (("household", words.household), ("other", words.other)):
        match = named.pattern.match(text)
        if match:
            return Subject(kind, match.group().strip())
    if words.user.pattern.search(text):
        return USER
    if words.assistant.pattern.search(text):
        return ASSISTANT
    return None


__all__ = [
    "ASSISTANT",
    "USER",
    "Reading",
    "Spoken",
    "Subject",
    "kinds_of",
    "orders",
    "speaks_of_self",
    "trimmed",
]
