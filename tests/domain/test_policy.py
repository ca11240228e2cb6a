"""The policy document: what it must hold, how errors name the place, and the fingerprint."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from memstrata.domain.errors import MemstrataError
from memstrata.domain.policy import Policy, PolicyError
from memstrata.pipeline.data import policy_document


@pytest.fixture
def document() -> dict[str, Any]:
    return copy.deepcopy(policy_document())


def test_the_document_survives_its_own_reading(document: dict[str, Any]) -> None:
    policy = Policy.from_document(document)
    again = Policy.from_document(json.loads(json.dumps(policy.to_document())))

    assert again.fingerprint == policy.fingerprint
    assert len(policy.fingerprint) == 64
    assert again == policy


def test_the_fingerprint_does_not_depend_on_the_order_of_keys(document: dict[str, Any]) -> None:
    turned = dict(reversed(document.items()))

    assert Policy.from_document(turned).fingerprint == Policy.from_document(document).fingerprint


@pytest.mark.parametrize(
    "path",
    [
        ("repetition", "threshold"),
        ("attributes", "city", "cardinality"),
        ("lexicons", "t2s.tsv"),
        ("words", "stop_zh"),
    ],
    ids=".".join,
)
def test_every_part_counts_for_the_fingerprint(document: dict[str, Any], path: tuple[str, ...]) -> None:
    before = Policy.from_document(document).fingerprint
    changed: Any = {"threshold": 5, "cardinality": "many", "t2s.tsv": "0" * 64, "stop_zh": ["用户"]}[path[-1]]
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = changed

    assert Policy.from_document(document).fingerprint != before


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("version", 2),
        ("confidence.by_source.other", 3),
        ("confidence.by_source", {"other": 0.5}),
        ("admission.min_confidence", "high"),
        ("repetition.threshold", 0),
        ("refuse.signals", {"jest": "joke"}),
        ("types.by_kind", {"fact": "rumour"}),
        ("relations.better", -1),
        ("attributes.city.cardinality", "several"),
        ("attributes.city.colour", "red"),
    ],
)
def test_an_error_names_the_key(document: dict[str, Any], path: str, value: object) -> None:
    *parents, last = path.split(".")
    place = document
    for key in parents:
        place = place[key]
    place[last] = value

    with pytest.raises(PolicyError) as caught:
        Policy.from_document(document)

    assert caught.value.field.startswith(path.rpartition(".")[0] or path)
    assert isinstance(caught.value, MemstrataError)


def test_a_missing_key_is_named(document: dict[str, Any]) -> None:
    del document["admission"]["hold_uncertain"]

    with pytest.raises(PolicyError, match=r"admission\.hold_uncertain"):
        Policy.from_document(document)


def test_an_unknown_key_is_refused_by_name(document: dict[str, Any]) -> None:
    document["treshold"] = 3

    with pytest.raises(PolicyError, match="treshold"):
        Policy.from_document(document)


def test_an_alias_stands_for_one_attribute_only(document: dict[str, Any]) -> None:
    document["attributes"]["hometown"]["aliases"].append("住在")

    with pytest.raises(PolicyError, match=r"attributes\.hometown\.aliases"):
        Policy.from_document(document)


def test_every_attribute_of_the_registry_is_labelled_in_both_languages() -> None:
    registry = Policy.from_document(policy_document()).registry

    assert all(set(entry.label) == {"zh", "en"} for entry in registry.attributes.values())
    assert registry.canonical("sports") == "hobby"
    assert registry.get("shoe_size").cardinality == "many"


def test_every_word_list_of_the_gate_is_in_the_fingerprint() -> None:
    lexicons = cast("dict[str, str]", policy_document()["lexicons"])

    assert {"t2s.tsv", "secrets.toml"} <= set(lexicons)
    assert all(len(digest) == 64 for digest in lexicons.values())


def test_every_rule_and_reason_is_explained_in_the_documents(repository_root: Path) -> None:
    explained = set(re.findall(r"`([a-z_.…]+)`", (repository_root / "docs/policy.md").read_text("utf-8")))
    source = "".join(
        (repository_root / f"domain/{name}.py").read_text("utf-8")
        for name in ("admission", "repetition", "taking_back", "finding", "settling", "decide")
    )
    pairs = re.findall(r'"([a-z_]+)",\s+"((?:[a-z_]+)\.(?:[a-z_]+))"', source)
    assert len(pairs) > 25

    missing = {word for reason, rule in pairs for word in (reason, rule) if word not in explained}

    assert not missing - {"SKIP", "refused"}
