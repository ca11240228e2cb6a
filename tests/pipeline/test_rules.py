"""Every rule's own examples, and what the rule files must keep to."""

import re

import pytest

from memstrata.domain.candidate import Candidate
from memstrata.domain.evidence import stands_in
from memstrata.pipeline.extract import RuleExtractor
from memstrata.pipeline.extract.builders import BUILDERS
from memstrata.pipeline.extract.rules import Rule, all_rules

from .reading_a_turn import prepared

REFUSING = frozenset({"joke", "hypothetical", "question", "quoted", "third_party", "no_memory"})


def _examples(sign: str) -> list[object]:
    return [
        pytest.param(rule, example, id=f"{rule.id}-{place}")
        for rule in all_rules()
        for place, example in enumerate(getattr(rule, sign))
    ]


def _candidates(rule: Rule, text: str) -> list[Candidate]:
    """What the rule finds; `[task]`, `[project]`, `[job]` say what is in hand, `[after: …]` what was said,
    `[known: …]` what is remembered."""
    before = re.match(r"\[after: ([^\]]+)\]\s*", text)
    text = text[before.end() :] if before else text
    known = re.match(r"\[known: ([^\]]+)\]\s*", text)
    text = text[known.end() :] if known else text
    hand = dict.fromkeys(re.findall(r"^\[(task|project|job)\]", text), True)
    words = re.sub(r"^\[(?:task|project|job)\]\s*", "", text)
    turn = prepared(
        words,
        task={"task": "写周报", "job": "求职"}.get(next(iter(hand), "")),
        project="alpha" if "project" in hand else None,
        history=(before.group(1),) if before else (),
        known=(known.group(1),) if known else (),
    )
    found = [c for c in RuleExtractor().extract(turn) if c.rule == rule.id]
    assert all(stands_in(e, turn.text) for c in found for e in c.evidence)
    return found


@pytest.mark.parametrize(("rule", "example"), _examples("positive"))
def test_a_rule_finds_what_its_examples_say(rule: Rule, example: str) -> None:
    text, _, wanted = example.partition(" => ")
    found = _candidates(rule, text)
    assert found, f"{rule.id} finds nothing in {text!r}"
    said = " ".join(f"{c.value or ''} {c.content} {c.target_words or ''}" for c in found)
    assert wanted.casefold() in said.casefold()
    assert not any(c.has(*REFUSING) for c in found)


@pytest.mark.parametrize(("rule", "example"), _examples("negative"))
def test_a_rule_keeps_off_what_only_looks_like_it(rule: Rule, example: str) -> None:
    found = _candidates(rule, example)
    assert all(c.has(*REFUSING) for c in found), [c.content for c in found]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_a_rule_is_described_shown_and_whole(rule: Rule) -> None:
    assert rule.id.split(".")[0] == rule.lang
    assert rule.description.endswith(".")
    assert rule.positive, "a rule needs an example that it finds"
    assert rule.negative, "a rule needs an example that it keeps off"
    assert rule.builder is None or rule.builder in BUILDERS
