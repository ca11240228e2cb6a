"""The write gate as a whole: from a prepared turn to its judgement, candidates and decisions.

Analysing is done once per turn; deciding may be repeated when another writer was faster, on the
candidates that were found the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..domain.attesting import attest
from ..domain.candidate import Candidate, Signal
from ..domain.decide import GateRefusal, decide
from ..domain.decision import Decision, RelationFinder
from ..domain.draft import Draft, Header
from ..domain.events import Judged, Proposed
from ..domain.evidence import Span, stands_in
from ..domain.judgement import Judgement
from ..domain.owner_state import OwnerState
from ..domain.policy import Policy
from ..domain.ports import ActionClassifier, Extractor, Judge, Prepared, Reviewer
from ..domain.turn import Turn
from ..domain.values import EventRef
from .secrets import find_secrets, mask, values_told

Normalise = Callable[[Judgement, Sequence[Candidate]], Judgement]
FastReject = Callable[[Prepared], Judgement | None]

OVERHEARD = 4_000
"""Code points of each text beside the user's that are looked through for orders to remember."""

MOST_OVERHEARD = 3
"""Refused proposals that one turn may leave of them: a record of the attempt, and no flood."""

BLOCKED = Judgement(
    should_extract=False,
    confidence=1.0,
    category="unsafe",
    stability="unclear",
    importance=0,
    reason="extraction was not allowed for this turn",
    route="blocked",
    rule="gate.safety_boundary",
)
"""The judgement of a turn for which the safety boundary forbids extraction."""


@dataclass(frozen=True)
class Gate:
    """The stations of the gate, in the order in which a turn passes them.

    `judges` are asked in turn until one answers; the last one always does. `extractors` all run;
    what they find is put together. `classifiers` only add opinions.
    """

    fast_reject: FastReject
    extractors: Sequence[Extractor]
    judges: Sequence[Judge]
    normalise: Normalise
    relations_of: Callable[[Policy], RelationFinder]
    """How candidates are compared with what is remembered, under a policy's thresholds and words."""
    reviewers: Sequence[Reviewer] = ()
    """Look at what the extractors passed over."""
    classifiers: Sequence[ActionClassifier] = ()
    overhear: Sequence[Extractor] = ()
    """Read what stood in the prompt besides the user's words, for orders to remember something."""

    def analyse(self, prepared: Prepared) -> Analysis:
        """Judge a turn and find its candidates, without looking at what is remembered.

        Past the safety boundary the rules always run: what the gate turns down is recorded as
        refused, so that a replay under a milder gate has something to decide.
        """
        if not prepared.turn.allow_extraction:
            return Analysis(prepared, BLOCKED)
        candidates: list[Candidate] = []
        for extractor in self.extractors:
            candidates.extend(extractor.extract(prepared, None))
        judgement = self.fast_reject(prepared)
        if judgement is None:
            for reviewer in self.reviewers:
                candidates = list(reviewer.review(prepared, candidates))
            judgement = self.normalise(self._judge(prepared, candidates), candidates)
        for classifier in self.classifiers:
            candidates = [classifier.classify(prepared, candidate) for candidate in candidates]
        candidates += self._overheard(prepared)
        return Analysis(prepared, judgement, tuple(verified(c, prepared) for c in candidates))

    def _overheard(self, prepared: Prepared) -> list[Candidate]:
        """Orders to remember that stand in tool output, documents or system text.

        They rest on nobody's words, so the policy refuses them; what is recorded is that, and by what
        way, somebody tried.
        """
        found: list[Candidate] = []
        said = prepared.turn.user
        hidden = find_secrets(said) if prepared.masked and prepared.turn.context else ()
        told = dict(values_told(said, hidden))
        for item in prepared.turn.context if self.overhear else ():
            # Masked before it is cut: half of a secret would not be known as one.
            text = mask(item.text, find_secrets(item.text, told))[:OVERHEARD]
            read = Prepared(Turn(user=text, session=prepared.context.session), text, prepared.context)
            source = Signal(kind="quoted", text="", start=0, end=0, value=item.role)
            found += [
                candidate.model_copy(update={"evidence": (), "source": "other", "signals": (source,)})
                for extractor in self.overhear
                for candidate in extractor.extract(read, None)
                if candidate.has("remember", "lasting", "everything")
            ]
        return found[:MOST_OVERHEARD]

    def _judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement:
        for judge in self.judges:
            judgement = judge.judge(prepared, candidates)
            if judgement is not None:
                return judgement
        raise AssertionError("the last judge answers always")


@dataclass(frozen=True)
class Analysis:
    """What the gate made of a turn: independent of what is remembered, so it holds for a retry."""

    prepared: Prepared
    judgement: Judgement
    candidates: tuple[Candidate, ...] = ()

    @property
    def refusal(self) -> GateRefusal | None:
        """Why the gate lets none of the candidates through; None when it does."""
        if self.judgement.should_extract:
            return None
        return GateRefusal(reason=f"gate_{self.judgement.category}", rule=self.judgement.rule)


@dataclass(frozen=True, slots=True)
class Decided:
    """A candidate, what was decided about it, and where that is recorded."""

    candidate: Candidate
    decision: Decision
    proposal: EventRef
    memory_id: str | None


@dataclass
class Judging:
    """Decides analysed turns on a draft under one policy, and recorded candidates under theirs.

    The gate is built when it is first needed: most commands only read.
    """

    build_gate: Callable[[], Gate]
    policy: Policy
    retain_text: bool = True
    _relations: dict[str, RelationFinder] = field(default_factory=dict, repr=False)

    @cached_property
    def gate(self) -> Gate:
        """The stations of the gate."""
        return self.build_gate()

    def decide_turn(self, draft: Draft, analysis: Analysis, header: Header, digest: str) -> list[Decided]:
        """Write the judgement, the proposals and what follows from them onto the draft."""
        prepared = analysis.prepared
        context = prepared.context
        keep = self.retain_text and bool(analysis.candidates)
        draft.add(
            context.turn_id,
            Judged(
                **header.fields(),
                context=context,
                judgement=analysis.judgement,
                text_digest=digest,
                text=prepared.text if keep else None,
                masked=prepared.masked,
            ),
        )
        decided = []
        for candidate in analysis.candidates:
            decision = decide(
                candidate,
                context,
                draft.state,
                self.policy,
                self._finder(self.policy),
                gate_refusal=analysis.refusal,
            )
            proposal, memory_id = draft.carry_out(candidate, context, decision, header)
            decided.append(Decided(candidate, decision, proposal, memory_id))
        return decided

    def redecide(self, proposal: Proposed, state: OwnerState, policy: Policy) -> Decision:
        """Decide a recorded candidate again on another state; the gate's word of then stands."""
        if proposal.candidate.channel == "import" and proposal.statement is not None:
            return attest(state, proposal.statement)
        refusal = None
        if proposal.reason.startswith("gate_"):
            refusal = GateRefusal(reason=proposal.reason, rule=proposal.rule)
        return decide(
            proposal.candidate,
            proposal.context,
            state,
            policy,
            self._finder(policy),
            gate_refusal=refusal,
        )

    def _finder(self, policy: Policy) -> RelationFinder:
        found = self._relations.get(policy.fingerprint)
        if found is None:
            found = self._relations[policy.fingerprint] = self.gate.relations_of(policy)
        return found


def outside_of_taking_back(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leave out what is only named in order to be forgotten: "forget that I live in Leeds" says no city."""
    taking_back = [span for c in candidates if _takes_back(c) for span in _spans(c)]
    return [
        candidate
        for candidate in candidates
        if _takes_back(candidate)
        or not _spans(candidate)
        or not all(any(_within(span, outer) for outer in taking_back) for span in _spans(candidate))
    ]


def _takes_back(candidate: Candidate) -> bool:
    return candidate.kind == "retraction" and candidate.intent == "retract"


def _spans(candidate: Candidate) -> list[tuple[str | None, Span]]:
    return [(item.turn_id, span) for item in candidate.evidence for span in item.spans]


def _within(inner: tuple[str | None, Span], outer: tuple[str | None, Span]) -> bool:
    return inner[0] == outer[0] and outer[1].start <= inner[1].start and inner[1].end <= outer[1].end


def verified(candidate: Candidate, prepared: Prepared) -> Candidate:
    """Drop evidence that is not in the user's own words of this turn or of the session's history.

    A candidate that loses all of it is kept: the policy refuses it, and the refusal is recorded.
    """
    texts = dict(prepared.history)
    texts[prepared.context.turn_id] = prepared.text
    kept = tuple(
        item
        for item in candidate.evidence
        if item.kind != "words" or (item.turn_id in texts and stands_in(item, texts[item.turn_id]))
    )
    if len(kept) == len(candidate.evidence):
        return candidate
    return candidate.model_copy(update={"evidence": kept})
