"""Judges that need no model, and the rules that no judge passes by.

`RuleJudge` lets the best rule candidate decide. `KeywordFallbackJudge` stands in for a model that was
asked and did not answer: four families of words. `normalise_judgement` is applied to every judge's answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.candidate import Candidate, SignalKind
from ..domain.judgement import Category, GateRoute, Judgement, Stability
from ..domain.ports import Prepared
from .gate import gate_words, reason_in_language
from .sought import pieces_of
from .text import normalise

MIN_CONFIDENCE = 0.55
"""Below it a turn is not looked into further, unless it is important (docs/concepts.md, the gate)."""

IMPORTANT = 4
"""From this importance on a low confidence does not end the matter."""

FORCED = frozenset({"small_talk", "temporary_emotion", "assistant_generated", "duplicate", "unsafe"})
"""Categories that are never extracted from, whatever a judge said of them."""

_REFUSING: tuple[SignalKind, ...] = ("joke", "hypothetical", "question", "quoted", "no_memory", "third_party")

_CONFIDENCE = {
    "explicit_user_statement": 0.92,
    "repeated_behaviour": 0.82,
    "single_task_inference": 0.65,
    "attestation": 0.92,
    "other": 0.5,
}


class RuleJudge:
    """The best candidate that the rules found decides: what they see is worth extracting from."""

    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement:
        """Always answers."""
        asserted = [one for one in candidates if not one.has(*_REFUSING)]
        if asserted:
            return _about(prepared, max(asserted, key=_weight), asserted)
        if candidates:
            return _refusing(prepared, max(candidates, key=_weight))
        return _nothing(prepared)


def _weight(candidate: Candidate) -> tuple[int, float]:
    return candidate.importance, _CONFIDENCE[candidate.source]


def _about(prepared: Prepared, best: Candidate, all_of_them: Sequence[Candidate]) -> Judgement:
    words = _quote(best)
    return _judgement(
        prepared,
        should_extract=True,
        confidence=_CONFIDENCE[best.source],
        category=best.category,
        stability=best.stability,
        importance=max(best.importance, 1),
        zh=f"规则 {best.rule} 认出了用户自己的话：“{words}”。",
        en=f"Rule {best.rule} recognises the user's own words: “{words}”.",
        rule=best.rule,
        facts=tuple(dict.fromkeys(one.content[:120] for one in all_of_them))[:3],
    )


def _refusing(prepared: Prepared, best: Candidate) -> Judgement:
    """The candidates go on to the policy, which refuses each with its own reason."""
    kind = next(signal.kind for signal in best.signals if signal.kind in _REFUSING)
    return _judgement(
        prepared,
        should_extract=True,
        confidence=_CONFIDENCE[best.source],
        category=best.category,
        stability="unclear",
        importance=max(best.importance, 1),
        zh=f"规则 {best.rule} 有所发现，但带有 {kind} 信号，交由策略决定。",
        en=f"Rule {best.rule} found something that carries the signal {kind}; the policy decides.",
        rule=best.rule,
    )


def _nothing(prepared: Prepared) -> Judgement:
    """Why there is nothing: a feeling, thanks, or just talk."""
    words = gate_words()
    text = normalise(prepared.text).text
    pieces = pieces_of(text)
    if words.emotion.search(text, pieces):
        category: Category = "temporary_emotion"
        zh, en, rule = "只是一时的情绪。", "A feeling of the moment, nothing lasting.", "judge.emotion"
    elif words.thanks.search(text, pieces):
        category, rule = "small_talk", "judge.thanks"
        zh, en = "只是道谢或夸奖。", "Only thanks or praise."
    else:
        category, rule = "small_talk", "judge.nothing_found"
        zh, en = "没有发现关于用户的稳定信息。", "No lasting information about the user was found."
    return _judgement(
        prepared,
        should_extract=False,
        confidence=0.6,
        category=category,
        stability="temporary",
        importance=0,
        zh=zh,
        en=en,
        rule=rule,
    )


def _quote(candidate: Candidate) -> str:
    quotes = candidate.evidence[0].quotes if candidate.evidence else ()
    words = " … ".join(quotes)
    return words if len(words) <= 120 else f"{words[:119]}…"


class KeywordFallbackJudge:
    """Four families of words, for turns whose model judge failed. Rather misses than misjudges."""

    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement:
        """Always answers."""
        text = normalise(prepared.text).text
        for family, (pattern, importance, category) in gate_words().fallback.items():
            match = pattern.search(text)
            if match is not None:
                return _judgement(
                    prepared,
                    should_extract=True,
                    confidence=0.6,
                    category=category,
                    stability="likely_stable",
                    importance=importance,
                    zh=f"模型没有回答；关键词“{match.group()}”表明值得抽取。",
                    en=f"No model answered; the words “{match.group()}” suggest that it is worth extracting.",
                    rule=f"keywords.{family}",
                    route="keywords",
                )
        return _judgement(
            prepared,
            should_extract=False,
            confidence=0.6,
            category="unclear",
            stability="unclear",
            importance=0,
            zh="模型没有回答，也没有关键词。",
            en="No model answered, and no key word was found.",
            rule="keywords.none",
            route="keywords",
        )


def _judgement(
    prepared: Prepared,
    *,
    should_extract: bool,
    confidence: float,
    category: Category,
    stability: Stability,
    importance: int,
    zh: str,
    en: str,
    rule: str,
    facts: tuple[str, ...] = (),
    route: GateRoute = "rules",
) -> Judgement:
    return Judgement(
        should_extract=should_extract,
        confidence=confidence,
        category=category,
        stability=stability,
        importance=importance,
        reason=reason_in_language(prepared.text, zh, en)[:300],
        candidate_facts=facts,
        route=route,
        rule=rule,
    )


def normalise_judgement(judgement: Judgement, candidates: Sequence[Candidate]) -> Judgement:
    """The answer with the forced skips applied; each names its rule (`forced.…`).

    A judge that already said no keeps its word and its reason.
    """
    if not judgement.should_extract:
        return judgement
    if judgement.category in FORCED:
        return _forced(judgement, f"forced.{judgement.category}")
    if judgement.stability == "temporary" and not any(_is_ended(one) for one in candidates):
        return _forced(judgement, "forced.temporary")
    if judgement.importance <= 0:
        return _forced(judgement, "forced.no_importance")
    if judgement.confidence < MIN_CONFIDENCE and judgement.importance < IMPORTANT:
        return _forced(judgement, "forced.low_confidence")
    return judgement


def _is_ended(candidate: Candidate) -> bool:
    """Whether a task, a date or the answer at hand ends it: the policy knows what to do with those."""
    if candidate.time is not None and candidate.time.end is not None:
        return True
    return candidate.kind in ("constraint", "answer_instruction", "request_parameter") or candidate.has(
        "limiting"
    )


def _forced(judgement: Judgement, rule: str) -> Judgement:
    return judgement.model_copy(update={"should_extract": False, "rule": rule})
