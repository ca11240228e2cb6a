"""A second opinion on a turn: what the rules have no words for, a learned model may still propose.

It reads clauses that no rule had anything to say about. What a rule refused stays refused, masked
secrets and shown material are not looked at, and the policy decides about its proposals as about any.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

from ...domain.candidate import Candidate, CandidateKind, Intent, ModelOpinion, TimeFrame
from ...domain.evidence import Span, bind
from ...domain.judgement import Category
from ...domain.ports import Prepared
from ..extract.reading import Reading, Spoken, trimmed
from ..segment import MASK
from ..signals import Seen, kinds_of, to_signals
from ..text import language_of
from .features import features_of
from .model import Model, the_model


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which probability on a clause is proposed, and from which on it needs no repetition."""

    propose: float
    sure: float


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a kind of saying becomes."""

    kind: CandidateKind
    attribute: str
    category: Category
    importance: int
    intent: Intent = "assert"


_KINDS = {
    "fact": _Kind("fact", "fact", "important_fact", 4),
    "preference": _Kind("preference", "preference", "preference", 3),
    "boundary": _Kind("boundary", "preference", "boundary", 4),
    "goal": _Kind("plan", "goal", "important_fact", 3),
    "constraint": _Kind("constraint", "constraint", "preference", 4),
    "retraction": _Kind("retraction", "fact", "important_fact", 3, "end"),
    "correction": _Kind("fact", "fact", "important_fact", 4, "correct"),
}
_STYLE = _Kind("style", "answer_style", "conversation_style", 3)
_INSTRUCTION = _Kind("preference", "instruction", "preference", 3)
_PROJECT = _Kind("project_fact", "project_fact", "important_fact", 4)


@cache
def threshold() -> Threshold:
    """As it was chosen when the model was trained."""
    about = json.loads(resources.files(__package__).joinpath("model.json").read_text("utf-8"))
    return Threshold(**about["threshold"])


class LearnedReviewer:
    """Proposes clauses that the rules passed over. Deterministic, without any service."""

    def review(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The candidates, and behind them those that the model proposes; it takes none away."""
        reading = Reading.of(prepared)
        spoken_for = [s for one in candidates if one.kind != "hint" for e in one.evidence for s in e.spans]
        proposed = []
        for spoken in reading.spoken:
            if spoken.masked:
                continue
            for piece in _pieces(spoken):
                first, last = reading.parts.norm.span(piece.start, piece.end)
                if any(span.start < last and first < span.end for span in spoken_for):
                    continue
                candidate = _proposal(piece, reading, Span(start=first, end=last))
                if candidate is not None:
                    proposed.append(candidate)
                    spoken_for.append(Span(start=first, end=last))
        return [*candidates, *proposed]


@dataclass(frozen=True)
class _Piece:
    """A sentence, or a clause of it; offsets into the normalised text."""

    spoken: Spoken
    start: int
    end: int
    text: str

    @cached_property
    def seen(self) -> tuple[Seen, ...]:
        """The signals that stand in it."""
        begin = self.spoken.sentence.start
        return tuple(
            one for one in self.spoken.seen if self.start <= begin + one.start and begin + one.end <= self.end
        )

    @cached_property
    def features(self) -> list[str]:
        return features_of(self.text, kinds_of(self.seen) | ({"asks"} if self.asks else set()))

    @property
    def asks(self) -> bool:
        clauses = self.spoken.sentence.clauses
        return any(one.question for one in clauses if self.start <= one.start and one.end <= self.end)


_ONE_THOUGHT = 3
"""Clauses that may make one thought together, as in what the model was trained on."""


def _pieces(spoken: Spoken) -> Iterator[_Piece]:
    """The sentence as a whole if it is short, then each of its clauses."""
    sentence = spoken.sentence
    clauses = sentence.clauses
    if len(clauses) <= _ONE_THOUGHT:
        yield _Piece(spoken, sentence.start, sentence.end, sentence.text)
    if len(clauses) > 1:
        for one in clauses:
            yield _Piece(spoken, one.start, one.end, one.text)


def _proposal(piece: _Piece, reading: Reading, span: Span) -> Candidate | None:
    model, limits = the_model(), threshold()
    known = model.known(piece.features)
    probability = model.worth_keeping(known)
    if probability < limits.propose:
        return None
    says, about = model.answer("says", known), model.answer("about", known)
    kind = _kind_of(says, about, piece, reading)
    if kind is None:
        return None
    context = reading.prepared.context
    quote = trimmed(reading.prepared.text[span.start : span.end])
    if not quote or MASK in quote:
        return None
    opinion = ModelOpinion(action="CREATE", reason=_reason(model, piece, probability)[:300])
    return Candidate(
        kind=kind.kind,
        intent=kind.intent,
        attribute=kind.attribute,
        content=_content(quote),
        source="explicit_user_statement" if probability >= limits.sure else "other",
        channel="model",
        extractor=model.name,
        rule=f"opinion.{says}",
        category=kind.category,
        importance=kind.importance,
        signals=to_signals(piece.spoken.seen, reading.parts.norm, piece.spoken.sentence.start),
        certainty=_certainty(piece.spoken),
        time=_time(reading, piece),
        family=piece.spoken.family[0] if piece.spoken.family and kind is _INSTRUCTION else None,
        target_words=quote if kind.kind == "retraction" or kind.intent == "correct" else None,
        evidence=(bind(context.turn_id, reading.prepared.text, (span,)),),
        opinion=opinion,
    )


def _kind_of(says: str, about: str, piece: _Piece, reading: Reading) -> _Kind | None:
    """What the clause becomes; None for what is not to be kept after all."""
    kind = _KINDS.get(says)
    if kind is None or about in ("other", "quoted", "world"):
        return None
    if about == "project" and says in ("fact", "constraint", "preference"):
        if reading.prepared.context.project:
            return _PROJECT
        return _KINDS["constraint"] if reading.has_task else None
    if says == "constraint":
        return kind if reading.has_task else None
    if says == "preference" and (piece.spoken.directed or piece.spoken.order or piece.spoken.answer):
        return _INSTRUCTION if piece.spoken.family else _STYLE
    return kind


def _certainty(spoken: Spoken) -> Any:
    if "hedge" in spoken.kinds:
        return "uncertain"
    return "reported" if "reported" in spoken.kinds else "certain"


def _time(reading: Reading, piece: _Piece) -> TimeFrame | None:
    end = reading.end_named_in(piece.spoken)
    if end is None or end.end is None:
        return None
    said = reading.original(piece.spoken.sentence.start, piece.spoken.sentence.end)
    return TimeFrame(end=end.end, words=said[end.span_start : end.span_end])


def _content(quote: str) -> str:
    return f"The user says: “{quote}”" if language_of(quote) == "en" else f"用户说：“{quote}”"


def _reason(model: Model, piece: _Piece, probability: float) -> str:
    weightiest = ", ".join(json.dumps(one, ensure_ascii=False) for one in model.weightiest(piece.features, 5))
    return f"worth keeping with probability {probability:.2f}, by {weightiest}"
