"""The policy: a versioned document of thresholds, tables, registry and words, with a fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, cast, get_args

from pydantic import Field, ValidationError, model_validator

from .candidate import CandidateKind, SignalKind
from .errors import InvalidInputError
from .judgement import Category
from .slot import Attribute, Registry
from .values import MemoryType, Source, Value

Share = Annotated[float, Field(ge=0, le=1)]
Bounds = tuple[Share, Share]


class PolicyError(InvalidInputError):
    """A policy document that cannot be used; `field` is the path of the key that is wrong."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem, "compare with `memstrata policy show`")


class Unsure(Value):
    """What hedged, uncertain and reported statements lose."""

    hedge: Share
    at_most: Share


class ConfidenceRules(Value):
    """How sure a statement is, by its source, and what moves it."""

    by_source: Mapping[Source, Share]
    bounds: Mapping[Source, Bounds]
    shift: Mapping[SignalKind, Annotated[float, Field(ge=-1, le=1)]]
    unsure: Unsure

    @model_validator(mode="after")
    def _every_source_lies_in_its_bounds(self) -> ConfidenceRules:
        missing = set(get_args(Source)) - (self.by_source.keys() & self.bounds.keys())
        if missing:
            raise ValueError(f"by_source and bounds both need {', '.join(sorted(missing))}")
        for source, (low, high) in self.bounds.items():
            if not low <= self.by_source[source] <= high:
                raise ValueError(f"by_source.{source} lies outside of bounds.{source}")
        return self


class AdmissionRules(Value):
    """What is let in at once, what waits, what is refused for its weight."""

    min_importance: int = Field(ge=0, le=5)
    min_confidence: Share
    important_from: int = Field(ge=0, le=6)
    important_confidence: Share
    hold_uncertain: bool

    def admits(self, confidence: float, importance: int) -> bool:
        """Whether a statement of this weight becomes active without repetition."""
        enough = self.important_confidence if importance >= self.important_from else self.min_confidence
        return confidence >= min(enough, self.min_confidence)


class RepetitionRules(Value):
    """When a hint becomes a memory."""

    threshold: int = Field(ge=1)
    """The sighting, counted by occasions, at which it does."""


class RefusalRules(Value):
    """Which signals and categories are refused, with the reason code of each."""

    signals: Mapping[SignalKind, str]
    categories: Mapping[Category, str]


class ScopeRules(Value):
    """Words and attributes on which the scope depends."""

    instruction_attributes: tuple[str, ...]
    answering_attributes: tuple[str, ...]
    present_words: tuple[str, ...]


class TypeRules(Value):
    """The memory type of a candidate by its kind, for facts by its category."""

    by_kind: Mapping[CandidateKind, MemoryType]
    by_category: Mapping[Category, MemoryType]


class PointingRules(Value):
    """How a memory is found by loose words that point at it; shares 0..1."""

    least: Share
    of_words: Share
    of_memory: Share
    ahead: float = Field(ge=1)
    gapped: Share
    of_plain: Share
    lets_go: tuple[str, ...]
    renews: tuple[str, ...]
    empty: tuple[str, ...]
    plain: tuple[str, ...]
    cues: Mapping[str, tuple[str, ...]]


class ValueRules(Value):
    """What two spellings of one value may differ by."""

    endings: tuple[str, ...]
    leading: tuple[str, ...]


class RelationRules(Value):
    """Thresholds of the comparison with what is remembered; shares of key words, 0..1."""

    paraphrase: Share
    better: Share
    named: Share
    changed: Share
    widened: Share
    attitude_attributes: tuple[str, ...]
    loose_attributes: tuple[str, ...]
    values: ValueRules | None = None
    """None in policies from before spellings were compared: there each is a value of its own."""
    pointing: PointingRules | None = None
    """None in policies from before loose words were followed: there they point at nothing."""


class WordRules(Value):
    """Words that texts are compared with."""

    stop_zh: tuple[str, ...]
    stop_en: tuple[str, ...]
    negation_zh: tuple[str, ...]
    negation_en: tuple[str, ...]
    exclusive: tuple[str, ...]
    reach: tuple[str, ...]
    synonyms: Mapping[str, tuple[str, ...]]


class Rules(Value):
    """The policy document as it is read; see `pipeline/data/policy.toml` for what each key means."""

    version: Literal[1]
    name: str = Field(min_length=1)
    confidence: ConfidenceRules
    admission: AdmissionRules
    repetition: RepetitionRules
    refuse: RefusalRules
    scope: ScopeRules
    types: TypeRules
    relations: RelationRules
    words: WordRules
    aspects: Mapping[str, Mapping[str, tuple[str, ...]]]
    attributes: Mapping[str, Mapping[str, object]]
    lexicons: Mapping[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class Policy:
    """The rules in force, and the document that they were read from."""

    rules: Rules
    registry: Registry
    canonical: str
    """The document as canonical JSON: keys sorted, no white space, UTF-8."""

    @classmethod
    def from_document(cls, document: Mapping[str, object]) -> Policy:
        """Read a policy document: rules, registry (`attributes`) and lexicon digests (`lexicons`).

        Raises:
            PolicyError: a key is missing, unknown or of the wrong kind; names the key's path.
        """
        try:
            rules = Rules.model_validate(document)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise PolicyError(_path(first["loc"]), first["msg"]) from error
        try:
            canonical = json.dumps(
                document, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
            )
        except (TypeError, ValueError) as error:
            raise PolicyError("policy", f"is no plain data: {error}") from error
        return cls(rules, _registry(rules.attributes), canonical)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical document, 64 hex digits."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()

    def to_document(self) -> dict[str, object]:
        """The document as it was given; reading it again gives the same fingerprint."""
        return cast("dict[str, object]", json.loads(self.canonical))


def _registry(entries: Mapping[str, Mapping[str, object]]) -> Registry:
    attributes: dict[str, Attribute] = {}
    claimed: dict[str, str] = {}
    for name, entry in entries.items():
        try:
            attributes[name] = Attribute.model_validate({**entry, "name": name})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise PolicyError(_path(("attributes", name, *first["loc"])), first["msg"]) from error
        for alias in attributes[name].aliases:
            rival = claimed.setdefault(alias, name)
            if rival != name or (alias in entries and alias != name):
                raise PolicyError(f"attributes.{name}.aliases", f"{alias!r} has two meanings")
    return Registry(attributes=attributes)


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "policy"
