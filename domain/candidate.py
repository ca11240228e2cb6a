"""One thing that could be remembered, with evidence and signals; not yet a memory.

A candidate carries what was *observed* in the words. Scope, confidence, end and decision are
computed from it by the policy, and only there: otherwise a replay under another policy would have
nothing to decide anew.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .evidence import Evidence
from .judgement import Category, Stability
from .values import Certainty, Channel, Moment, Polarity, Source, Value

CandidateKind = Literal[
    "fact",
    "preference",
    "boundary",
    "style",
    "relationship",
    "project_fact",
    "state",
    "plan",
    "constraint",
    "answer_instruction",
    "request_parameter",
    "hint",
    "retraction",
]
"""What is being said.

`fact`, `preference`, `boundary`, `style` (a manner of answering), `relationship`, `state` (a stage
of a long process), `plan`: about the person. `project_fact`: about the project in hand.
`constraint`: about the artefact in hand ("this report"). `answer_instruction`: about this one
answer. `request_parameter`: a detail of one request (time, venue). `hint`: what one task may reveal
of a habit. `retraction`: takes something back and asserts nothing in its place.
"""

Intent = Literal["assert", "change", "correct", "add", "end", "retract", "late"]
"""How it relates to what was so: `change` (改成, no longer), `correct` (it was never so), `add` (a
further value), `end` (no longer so, from now), `retract` (take it back), `late` (about the past)."""

SignalKind = Literal[
    "limiting",
    "project",
    "family",
    "lasting",
    "everything",
    "passing",
    "hedge",
    "reported",
    "emotion",
    "joke",
    "hypothetical",
    "question",
    "quoted",
    "third_party",
    "remember",
    "no_memory",
    "repetition",
    "exclusive",
    "change",
    "correction",
    "retraction",
    "exception",
]


class Signal(Value):
    """A word or phrase of the user's that says how the candidate is meant.

    `start` and `end` are half-open code points of the turn's stored text; `value` is what the
    lexicon says about it (the family's name for `family`).
    """

    kind: SignalKind
    text: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    value: str | None = None


class TimeFrame(Value):
    """What the words say about when the candidate holds, resolved against the turn's clock.

    Half-open `[start, end)`; None is open on that side. `words` is the phrase that said so.
    """

    start: Moment | None = None
    end: Moment | None = None
    words: str = ""


class ModelOpinion(Value):
    """What a model thought of the relation to existing memories: input to the policy, no more."""

    action: Literal["CREATE", "UPDATE", "DELETE", "IGNORE"]
    target_id: str | None = None
    reason: str = Field(default="", max_length=300)


class Candidate(Value):
    """One thing that could be remembered.

    `content` is a sentence in the turn's language about the user; `value` is the normalised value
    of the attribute (`15000-20000`, `杭州`), None when the attribute has no value apart from the
    content. `topic` are the content's key words, for comparing free text.
    """

    kind: CandidateKind
    intent: Intent = "assert"
    subject: str = "user"
    attribute: str = Field(min_length=1)
    value: str | None = None
    former_value: str | None = None
    """The value that a change or correction says was so before."""
    content: str
    polarity: Polarity = "positive"
    certainty: Certainty = "certain"
    exclusive: bool = False
    source: Source = "explicit_user_statement"
    channel: Channel = "rule"
    extractor: str
    """Name and version of the extractor, such as `rules/1` or a model's name."""
    rule: str
    """The id of the rule that found it, or the prompt's template hash for a model."""
    category: Category
    stability: Stability = "stable"
    importance: int = Field(default=3, ge=0, le=5)
    signals: tuple[Signal, ...] = ()
    time: TimeFrame | None = None
    family: str | None = None
    """The family of tasks that the words name (`writing`), None when they name none."""
    process: str | None = None
    """The long process (`job_search`) that a state belongs to."""
    final: bool = False
    """For a state: the process is over (hired, graduated)."""
    target_words: str | None = None
    """For retractions, corrections and changes: the words that name the memory meant."""
    target_id: str | None = None
    """A memory named by id, by a model or a person; checked before it is believed."""
    hint_key: str | None = None
    """For hints and repeated behaviour: what is counted, the same words for the same habit."""
    evidence: tuple[Evidence, ...] = ()
    opinion: ModelOpinion | None = None

    def has(self, *kinds: SignalKind) -> bool:
        """Whether any signal of these kinds was observed."""
        return bool(self.signals) and any(signal.kind in kinds for signal in self.signals)
