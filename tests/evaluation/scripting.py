"""Gates that find what they are told to find, so that the runner is tested and not the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memstrata import Memstrata
from memstrata.adapters.storage.dump import cells
from memstrata.application.evaluation import Evaluation, Located, evaluate, parse_case
from memstrata.domain.candidate import Candidate
from memstrata.domain.evidence import Span, bind
from memstrata.domain.judgement import Judgement
from memstrata.domain.ports import Clock, Prepared
from memstrata.pipeline.controller import Gate
from memstrata.pipeline.relate import WordRelations

Script = Mapping[str, Sequence[dict[str, Any]]]
"""What is found in a turn, by the turn's words; nothing in other turns."""


class ScriptedExtractor:
    def __init__(self, script: Script) -> None:
        self._script = script
        self.seen: list[Prepared] = []

    def extract(self, prepared: Prepared, judgement: Judgement | None) -> Sequence[Candidate]:
        self.seen.append(prepared)
        return [_candidate(prepared, fields) for fields in self._script.get(prepared.turn.user, ())]


class Agreeing:
    def judge(self, prepared: Prepared, candidates: Sequence[Candidate]) -> Judgement:
        return Judgement(
            should_extract=True,
            confidence=0.9,
            category="important_fact",
            stability="stable",
            importance=3,
            reason="scripted",
            route="rules",
            rule="scripted",
        )


def scripted_gate(extractor: ScriptedExtractor) -> Gate:
    return Gate(
        fast_reject=lambda prepared: None,
        extractors=(extractor,),
        judges=(Agreeing(),),
        normalise=lambda judgement, candidates: judgement,
        relations_of=WordRelations,
    )


def fact(content: str, **fields: Any) -> dict[str, Any]:
    return {"content": content, **fields}


def constraint(content: str, **fields: Any) -> dict[str, Any]:
    return {"content": content, "kind": "constraint", "attribute": "constraint", **fields}


def city(value: str, **fields: Any) -> dict[str, Any]:
    return {"content": f"用户住在{value}", "attribute": "city", "value": value, **fields}


def case_of(expect: dict[str, Any], *said: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
    turns = [turn if isinstance(turn, dict) else {"user": turn} for turn in said or ("the words",)]
    return {"id": "c-1", "kind": "mixed", "lang": "zh", "turns": turns, "expect": expect, **fields}


def located(case: dict[str, Any]) -> Located:
    return Located(parse_case(json.dumps(case, ensure_ascii=False), "made-up:1"), "made-up:1")


@dataclass
class SearchableStore:
    memory: Memstrata
    planted: Sequence[str | bytes] = ()

    def cells(self) -> Iterator[str | bytes]:
        yield from self.planted
        with self.memory.store.reading() as connection:
            yield from cells(connection)


def play_all(
    cases: Sequence[dict[str, Any]],
    script: Script,
    *,
    planted: Sequence[str | bytes] = (),
    extractor: ScriptedExtractor | None = None,
) -> Evaluation:
    """Evaluate the cases with a gate that finds what the script says."""
    gate = scripted_gate(extractor or ScriptedExtractor(script))

    @contextmanager
    def open_store(clock: Clock) -> Iterator[SearchableStore]:
        with Memstrata.open("sqlite://", clock=clock, gate=gate) as memory:
            yield SearchableStore(memory, planted)

    return evaluate([located(case) for case in cases], open_store)


def play_one(case: dict[str, Any], *found: dict[str, Any], **options: Any) -> Evaluation:
    """Evaluate one case in whose last turn the given candidates are found."""
    return play_all([case], {case["turns"][-1]["user"]: found}, **options)


def _candidate(prepared: Prepared, fields: dict[str, Any]) -> Candidate:
    given: dict[str, Any] = {
        "kind": "fact",
        "attribute": "fact",
        "extractor": "scripted/1",
        "rule": "scripted",
        "category": "important_fact",
        "evidence": (
            bind(prepared.context.turn_id, prepared.text, (Span(start=0, end=len(prepared.text)),)),
        ),
    }
    return Candidate(**{**given, **fields})
