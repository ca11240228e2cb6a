"""What every judge, extractor and classifier promises, offline ones and fakes alike."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from memstrata.domain.candidate import Candidate
from memstrata.domain.evidence import stands_in
from memstrata.domain.judgement import Judgement
from memstrata.domain.ports import ActionClassifier, Extractor, Judge, Prepared
from memstrata.domain.turn import Turn, TurnContext

TURN_ID = "7f" * 16

TEXTS = (
    "",
    "。。。",
    "我住在成都，周末一般不出市区",
    "I'm allergic to shellfish",
    "这次周报写短一点，只保留本周进展、当前风险和下周计划。",
    "密码■■■■■■，别告诉别人",
    "👩‍👩‍👧‍👦 ok ％ ｆｕｌｌ ｗｉｄｔｈ",
    "\u202bأنا أعيش في دبي\u202c",
    "x" * 5_000,
)


def prepared(text: str) -> Prepared:
    said_at = datetime(2026, 10, 8, 9, tzinfo=UTC)
    context = TurnContext(turn_id=TURN_ID, session="s1", said_at=said_at, zone="Asia/Shanghai")
    return Prepared(Turn(user=text, session="s1", at=said_at), text, context)


class ExtractorContract:
    """Subclass it and provide the `extractor` fixture."""

    @pytest.mark.parametrize("text", TEXTS)
    def test_evidence_is_what_the_user_said(self, extractor: Extractor, text: str) -> None:
        for candidate in extractor.extract(prepared(text), None):
            assert candidate.evidence
            assert all(item.turn_id == TURN_ID and stands_in(item, text) for item in candidate.evidence)

    @pytest.mark.parametrize("text", TEXTS)
    def test_the_same_turn_gives_the_same_candidates(self, extractor: Extractor, text: str) -> None:
        assert list(extractor.extract(prepared(text), None)) == list(extractor.extract(prepared(text), None))

    @pytest.mark.parametrize("text", TEXTS)
    def test_signals_lie_in_the_text(self, extractor: Extractor, text: str) -> None:
        for candidate in extractor.extract(prepared(text), None):
            for signal in candidate.signals:
                assert 0 <= signal.start <= signal.end <= len(text)
                assert text[signal.start : signal.end] == signal.text

    def test_a_masked_secret_is_in_no_candidate(self, extractor: Extractor) -> None:
        for candidate in extractor.extract(prepared("密码■■■■■■，别告诉别人"), None):
            assert "■" not in candidate.content + (candidate.value or "")


class JudgeContract:
    """Subclass it and provide the `judge` fixture."""

    @pytest.mark.parametrize("text", TEXTS)
    def test_it_answers_or_passes_on(self, judge: Judge, text: str) -> None:
        judgement = judge.judge(prepared(text), [])

        assert judgement is None or isinstance(judgement, Judgement)

    @pytest.mark.parametrize("text", TEXTS)
    def test_the_same_turn_gets_the_same_judgement(self, judge: Judge, text: str) -> None:
        assert judge.judge(prepared(text), []) == judge.judge(prepared(text), [])


class ClassifierContract:
    """Subclass it and provide the `classifier` fixture."""

    def test_it_only_adds_an_opinion(self, classifier: ActionClassifier, candidate: Candidate) -> None:
        classified = classifier.classify(prepared("I live in Leeds"), candidate)

        assert classified.model_copy(update={"opinion": None}) == candidate.model_copy(
            update={"opinion": None}
        )


def last_of(judges: Sequence[Judge], text: str) -> Judgement | None:
    """What a row of judges says: the first answer."""
    return next((j for judge in judges if (j := judge.judge(prepared(text), [])) is not None), None)
