"""A second opinion on a turn: what the rules have no words for, a learned model may still propose.

It reads clauses that no rule had anything to say about. What a rule refused stays refused, masked
secrets and shown material are not looked at, and the policy decides about its proposals as about any.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from ...domain.candidate import Candidate, ModelOpinion, Signal, TimeFrame
from ...domain.evidence import Span, bind
from ...domain.ports import Prepared
from ..extract.reading import Reading, Spoken, speaks_of_self, trimmed
from ..planting import speaks_of_machinery
from ..segment import MASK
from ..signals import to_signals
from ..text import language_of, normalise
from .features import token_count
from .kinds import Kind, kinds
from .model import Model, the_model
from .piece import Piece


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which probability on a clause is proposed: by itself, and beside what a rule found."""

    alone: float
    beside: float


_ASSERTING = ("statement", "request", "hedge")
"""Moods of what may be remembered; the policy lets what is hedged wait."""

_OF_A_PROJECT = ("fact", "constraint", "preference")
"""What may be said of a project."""

_ONE_THOUGHT = 3
"""Clauses that may make one thought together, as in what the model was trained on."""

ATTRIBUTE_FROM = 0.6
"""Probability from which on an attribute is believed: by a wrong one a statement takes another's place."""

_LEAST_TOKENS = 3
"""Hanzi and words below which a clause tells too little to be judged by its words alone."""

_LONGEST_CALL = 4
"""Words of a call for attention in front of a colon."""

_FEW_TOKENS = 5
"""Hanzi and words below which a clause is proposed only as what stands beside a rule's finding would be."""

_HOPELESS = 0.3
"""Probability of a sentence below which its clauses are not asked about one by one."""

MAX_PROPOSALS = 8
"""Proposals of one turn: nobody tells more of themself in one message, a pasted text does."""


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
        proposed: list[Candidate] = []
        for spoken in reading.spoken:
            if not spoken.masked and len(proposed) < MAX_PROPOSALS:
                proposed += _in_sentence(spoken, reading, spoken_for)
        return [*candidates, *proposed]


def _in_sentence(spoken: Spoken, reading: Reading, spoken_for: Sequence[Span]) -> list[Candidate]:
    """The sentence as one thought, else the clauses of it that are worth keeping by themselves."""
    sentence, limits = spoken.sentence, threshold()
    whole = Piece(spoken, sentence.start, sentence.end, sentence.text)
    clauses = [Piece(spoken, one.start, one.end, one.text) for one in sentence.clauses]
    free = [piece for piece in clauses if not piece.overlaps(spoken_for, reading)]
    if len(free) == len(clauses) <= _ONE_THOUGHT:
        found = _proposal(whole, reading, limits.alone)
        if found is not None:
            return [found]
        if len(clauses) == 1 or whole.probability < _HOPELESS:
            return []
    limit = limits.alone if len(free) == len(clauses) else limits.beside
    return [found for piece in free if (found := _proposal(piece, reading, limit)) is not None]


def _proposal(piece: Piece, reading: Reading, limit: float) -> Candidate | None:
    words = token_count(piece.text)
    if piece.asks or words < _LEAST_TOKENS or _leads_in(piece, words, reading):  # sooner told than the rest
        return None
    model, probability = the_model(), piece.probability
    if words < _FEW_TOKENS:  # every word of a short clause weighs much
        limit = max(limit, threshold().beside)
    if probability < limit or speaks_of_machinery(piece.text, piece.spoken.sentence.pieces):
        return None
    says, about, mood = (model.answer(question, piece.known) for question in ("says", "about", "mood"))
    kind = _kind_of(says, about, piece, reading) if mood in _ASSERTING else None
    if kind is None:
        return None
    context = reading.prepared.context
    first, last = reading.parts.norm.span(piece.start, piece.end)
    span = Span(start=first, end=last)
    quote = trimmed(reading.prepared.text[span.start : span.end])
    if not quote or MASK in quote:
        return None
    opinion = ModelOpinion(action="CREATE", reason=_reason(model, piece, probability)[:300])
    return Candidate(
        kind=kind.kind,
        intent=kind.intent,
        attribute=kind.attribute,
        content=_content(quote),
        channel="model",
        extractor=model.name,
        rule=f"opinion.{says}",
        category=kind.category,
        importance=kind.importance,
        signals=_signals(piece, reading, span),
        certainty="uncertain" if mood == "hedge" else _certainty(piece.spoken),
        time=_time(reading, piece),
        family=kind.family or _family(piece, kind),
        target_words=quote if kind.kind == "retraction" or kind.intent == "correct" else None,
        evidence=(bind(context.turn_id, reading.prepared.text, (span,)),),
        opinion=opinion,
    )


def _leads_in(piece: Piece, words: int, reading: Reading) -> bool:
    """Whether it says only what stands behind the colon at its end; "one thing:" does not."""
    return words > _LONGEST_CALL and reading.parts.norm.text[piece.end : piece.end + 1] == ":"


def _kind_of(says: str, about: str, piece: Piece, reading: Reading) -> Kind | None:
    """What the clause becomes; None for what is not to be kept after all."""
    known = kinds()
    if says not in known.says or about in ("other", "quoted", "world"):
        return None
    project = reading.prepared.context.project
    if project and says in _OF_A_PROJECT and (about == "project" or _is_on(project, says, piece)):
        return known.says["project"]
    if about == "project" and says in _OF_A_PROJECT:
        return known.says["constraint"] if reading.has_task else None
    if says == "constraint":
        return known.says["constraint"] if reading.has_task else None
    kind = known.says[says]
    attribute, sure = the_model().sure_answer("attribute", piece.known)
    if sure >= ATTRIBUTE_FROM and attribute in known.about:
        if kind.kind == "retraction":
            return replace(kind, attribute=known.about[attribute].attribute or kind.attribute)
        return known.about[attribute].on(kind)
    if says == "correction" or "correction" in piece.spoken.kinds:  # of nobody knows what
        return None
    if says == "preference" and (piece.spoken.directed or piece.spoken.order or piece.spoken.answer):
        return known.says["instruction" if piece.spoken.family else "style"]
    return kind


def _is_on(project: str, says: str, piece: Piece) -> bool:
    """Whether a clause names the project in hand, or tells facts in which nobody speaks of themself."""
    named = normalise(project).text in piece.text
    return named or (says != "preference" and not speaks_of_self(piece.text))


def _signals(piece: Piece, reading: Reading, span: Span) -> tuple[Signal, ...]:
    """Those of its sentence; and that it is about somebody else, where its words begin with them."""
    signals = to_signals(piece.spoken.seen, reading.parts.norm, piece.spoken.sentence.start)
    subject = piece.subject
    if subject.kind != "other":
        return signals
    quote = reading.prepared.text[span.start : span.end]
    other = Signal(kind="third_party", text=quote, start=span.start, end=span.end, value=subject.words)
    return (*signals, other)


def _family(piece: Piece, kind: Kind) -> str | None:
    named = piece.spoken.family
    return named[0] if named is not None and kind.attribute == "instruction" else None


def _certainty(spoken: Spoken) -> Any:
    if "hedge" in spoken.kinds:
        return "uncertain"
    return "reported" if "reported" in spoken.kinds else "certain"


def _time(reading: Reading, piece: Piece) -> TimeFrame | None:
    end = reading.end_named_in(piece.spoken)
    if end is None or end.end is None:
        return None
    said = reading.original(piece.spoken.sentence.start, piece.spoken.sentence.end)
    return TimeFrame(end=end.end, words=said[end.span_start : end.span_end])


def _content(quote: str) -> str:
    return f"The user says: “{quote}”" if language_of(quote) == "en" else f"用户说：“{quote}”"


def _reason(model: Model, piece: Piece, probability: float) -> str:
    weightiest = ", ".join(json.dumps(one, ensure_ascii=False) for one in model.weightiest(piece.features, 5))
    shown = min(probability, 0.99)  # no sum of words makes certain
    return f"worth keeping with probability {shown:.2f}, by {weightiest}"
