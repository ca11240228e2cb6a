"""A turn as the rules read it: cut, with signals, subjects and the circumstances at hand."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

from ...domain.ports import Prepared
from ..segment import MASK, Clause, Segmented, Sentence, plays_on, segment
from ..signals import Seen, family_in, family_of, find_signals, kinds_of

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


USER = Subject("user")
ASSISTANT = Subject("assistant")


@dataclass(frozen=True, slots=True)
class _Words:
    household: re.Pattern[str]
    other: re.Pattern[str]
    user: re.Pattern[str]
    assistant: re.Pattern[str]
    order: re.Pattern[str]
    answer: re.Pattern[str]
    job: re.Pattern[str]


@cache
def _words() -> _Words:
    raw: dict[str, Any] = tomllib.loads(
        resources.files(_PIPELINE).joinpath("lexicon/circumstances.toml").read_text("utf-8")
    )
    return _Words(**{name: re.compile("|".join(part["patterns"])) for name, part in raw.items()})


@dataclass(frozen=True)
class Spoken:
    """A sentence of the user's with its signals; `seen` offsets count from the sentence's start."""

    sentence: Sentence
    seen: tuple[Seen, ...]
    subjects: tuple[Subject, ...]
    """One for each clause."""

    @cached_property
    def order(self) -> bool:
        """Whether the sentence tells the assistant what to do."""
        return _words().order.search(self.sentence.text) is not None

    @cached_property
    def answer(self) -> bool:
        """Whether it is about how to answer."""
        return _words().answer.search(self.sentence.text) is not None

    @cached_property
    def family(self) -> tuple[str, int, int] | None:
        """The family of tasks that it names, and where in the sentence."""
        return family_in(self.sentence.text)

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
    """One prepared turn, read once for all rules."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        played = plays_on([text for _, text in prepared.history])
        self.parts: Segmented = segment(prepared.text, in_fiction=played)
        self.spoken = tuple(_spoken(sentence) for sentence in self.parts.sentences)
        self.turn_signals = tuple(
            (seen, spoken.sentence.start)
            for spoken in self.spoken
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
        said = (context.task or "", self.prepared.text, *(text for _, text in self.prepared.history))
        return any(words.search(text) for text in (*said, *self.prepared.known))

    def original(self, start: int, end: int) -> str:
        """The user's own spelling of a stretch of the normalised text."""
        return self.parts.norm.quote(start, end)


def _spoken(sentence: Sentence) -> Spoken:
    return Spoken(sentence, tuple(find_signals(sentence.text)), _subjects(sentence.clauses))


def _subjects(clauses: tuple[Clause, ...]) -> tuple[Subject, ...]:
    subjects: list[Subject] = []
    present = USER
    for clause in clauses:
        present = _subject(clause.text) or present
        subjects.append(present)
    return tuple(subjects)


def _subject(text: str) -> Subject | None:
    words = _words()
    for kind, pattern in (("household", words.household), ("other", words.other)):
        match = pattern.match(text)
        if match:
            return Subject(kind, match.group().strip())
    if words.user.search(text):
        return USER
    if words.assistant.search(text):
        return ASSISTANT
    return None


__all__ = ["ASSISTANT", "USER", "Reading", "Spoken", "Subject", "kinds_of"]
