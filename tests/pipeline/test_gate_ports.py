"""The offline stations and the fakes of the tests keep one contract."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from contracts.gate_ports import (
    TEXTS,
    ClassifierContract,
    ExtractorContract,
    JudgeContract,
    last_of,
    prepared,
)

from memstrata.bootstrap import offline_gate
from memstrata.domain.candidate import Candidate, ModelOpinion
from memstrata.domain.evidence import Evidence, Span, bind
from memstrata.domain.judgement import Judgement
from memstrata.domain.ports import ActionClassifier, Extractor, Judge, Prepared
from memstrata.pipeline.controller import verified
from memstrata.pipeline.extract import RuleExtractor
from memstrata.pipeline.judge import KeywordFallbackJudge, RuleJudge


class WholeMessageExtractor:
    """A fake that takes each message for a note."""

    def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
        text = prepared.text
        if not text.strip() or "■" in text:
            return []
        return [
            Candidate(
                kind="fact",
                attribute="fact",
                content=text[:100],
                extractor="fake/1",
                rule="fake",
                category="important_fact",
                evidence=(bind(prepared.context.turn_id, text, (Span(start=0, end=len(text)),)),),
            )
        ]


class SilentJudge:
    """A fake that never reaches a judgement, as a model that is down."""

    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement | None:
        return None


class DeletingClassifier:
    """A fake that would delete whatever is there."""

    def classify(self, prepared: Prepared, candidate: Candidate) -> Candidate:
        opinion = ModelOpinion(action="DELETE", target_id="0" * 32, reason="says so")
        return candidate.model_copy(update={"opinion": opinion})


@pytest.fixture
def candidate() -> Candidate:
    return WholeMessageExtractor().extract(prepared("I live in Leeds"), None)[0]


class TestRuleExtractor(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Extractor:
        return RuleExtractor()


class TestWholeMessageExtractor(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Extractor:
        return WholeMessageExtractor()


class TestRuleJudge(JudgeContract):
    @pytest.fixture
    def judge(self) -> Judge:
        return RuleJudge()


class TestKeywordFallbackJudge(JudgeContract):
    @pytest.fixture
    def judge(self) -> Judge:
        return KeywordFallbackJudge()


class TestSilentJudge(JudgeContract):
    @pytest.fixture
    def judge(self) -> Judge:
        return SilentJudge()


class TestDeletingClassifier(ClassifierContract):
    @pytest.fixture
    def classifier(self) -> ActionClassifier:
        return DeletingClassifier()


@pytest.mark.parametrize("text", TEXTS)
def test_when_a_judge_is_silent_the_next_one_answers(text: str) -> None:
    assert last_of([SilentJudge(), *offline_gate().judges], text) is not None


def test_evidence_that_is_not_in_the_users_words_is_dropped(candidate: Candidate) -> None:
    invented = Evidence(turn_id="7f" * 16, spans=(Span(start=0, end=4),), quotes=("I am",))
    offered = candidate.model_copy(update={"evidence": (invented, *candidate.evidence)})

    assert verified(offered, prepared("I live in Leeds")).evidence == candidate.evidence
