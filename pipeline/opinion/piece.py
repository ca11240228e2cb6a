"""A stretch of a turn that the model is asked about: a sentence, or a clause of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...domain.evidence import Span
from ..extract.reading import Reading, Spoken, Subject
from ..signals import Seen, kinds_of
from .features import features_of
from .model import the_model


@dataclass(frozen=True)
class Piece:
    """A sentence, or a clause of it; offsets into the normalised text."""

    spoken: Spoken
    start: int
    end: int
    text: str

    @cached_property
    def seen(self) -> tuple[Seen, ...]:
        """The signals that stand in it, and in the marks and emoji behind it."""
        sentence = self.spoken.sentence
        begin, until = sentence.start, sentence.tail if self.end == sentence.end else self.end
        return tuple(
            one for one in self.spoken.seen if self.start <= begin + one.start and begin + one.end <= until
        )

    @property
    def subject(self) -> Subject:
        """Who its first clause is about."""
        sentence = self.spoken.sentence
        return self.spoken.subjects[self.spoken.clause_at(self.start - sentence.start)]

    def overlaps(self, spans: Sequence[Span], reading: Reading) -> bool:
        """Whether any of these spans of the stored text reaches into it."""
        first, last = reading.parts.norm.span(self.start, self.end)
        return any(span.start < last and first < span.end for span in spans)

    @cached_property
    def known(self) -> list[int]:
        """The places of its features in the model."""
        return the_model().known(self.features)

    @cached_property
    def probability(self) -> float:
        """How probable it is that it is worth keeping."""
        return the_model().worth_keeping(self.features)

    @cached_property
    def features(self) -> list[str]:
        """See `features_of`."""
        return features_of(self.text, self.marks)

    @cached_property
    def marks(self) -> frozenset[str]:
        """What the rules' word lists say of it."""
        spoken = self.spoken
        said = {"asks": self.asks, "order": spoken.order, "answer": spoken.answer, "acts": spoken.user_acts}
        marks = {name for name, holds in said.items() if holds}
        return frozenset(marks) | kinds_of(self.seen) | {f"about {self.subject.kind}"}

    @property
    def asks(self) -> bool:
        """Whether it asks something."""
        clauses = self.spoken.sentence.clauses
        return any(one.question for one in clauses if self.start <= one.start and one.end <= self.end)
