"""Rules as data: reading and checking them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any, Literal, get_args

from ...domain.candidate import CandidateKind, Intent, SignalKind
from ...domain.judgement import Category, Stability
from ...domain.values import Polarity, Source
from ..sought import Needs, Sought
from ..text import normalise
from ..words import WordIndex

Unit = Literal["clause", "sentence", "rest"]
Tier = Literal["slot", "free", "also"]
Person = Literal["user", "any", "household"]

CONDITIONS = frozenset(get_args(SignalKind)) | {
    "question",
    "task",
    "project_in_hand",
    "job",
    "order",
    "family_named",
    "answer",
    "answerish",
    "dated",
    "other_person",
    "standing",
    "standing_for_answers",
    "standing_for_tasks",
    "standing_words",
    "artefact",
    "negated_order",
    "thanks",
    "today",
}
"""What `need` and `forbid` may name."""

_COSTS = {"order": 1, "answer": 1, "answerish": 1, "artefact": 1, "negated_order": 1, "thanks": 1} | {
    "standing": 2,
    "standing_for_answers": 2,
    "standing_for_tasks": 2,
    "family_named": 2,
    "job": 2,
    "dated": 3,
}
"""Conditions that take a search (1), several (2), or the reading of all dates (3); the rest is at hand."""


@dataclass(frozen=True)
class Rule:
    """One rule, as its file says it (see the package's docstring for the fields).

    Patterns are compiled when the rule is first tried: most turns call for few of them, and compiling
    all takes most of a second.
    """

    id: str
    description: str
    lang: str
    kind: CandidateKind
    attribute: str
    category: Category
    any: tuple[str, ...]
    sources: tuple[str, ...]
    content: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    importance: int = 3
    unit: Unit = "clause"
    tier: Tier = "slot"
    person: Person = "user"
    intent: Intent = "assert"
    polarity: Polarity = "positive"
    stability: Stability = "stable"
    source: Source = "explicit_user_statement"
    exclusive: bool = False
    durable: bool = False
    final: bool = False
    value: str | None = "{value}"
    former_value: str | None = "{former}"
    target_words: str | None = None
    hint_key: str | None = None
    family: str | None = None
    process: str | None = None
    builder: str | None = None
    need: frozenset[str] = frozenset()
    forbid: frozenset[str] = frozenset()

    @cached_property
    def conditions(self) -> tuple[tuple[str, bool], ...]:
        """What must (True) and what must not hold, what is soonest told first."""
        wanted = [*((one, True) for one in self.need), *((one, False) for one in self.forbid)]
        return tuple(sorted(wanted, key=lambda one: (_COSTS.get(one[0], 0), one)))

    @cached_property
    def sought(self) -> tuple[Sought, ...]:
        """The patterns, in the order in which they are tried."""
        return tuple(map(Sought, self.sources))

    @property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The patterns, compiled.

        Raises:
            RuleError: one of them is no regular expression.
        """
        try:
            return tuple(one.pattern for one in self.sought)
        except re.error as error:
            raise RuleError(f"rule {self.id!r}: {error}") from error

    @cached_property
    def needs(self) -> Needs:
        """What every match of any of the patterns holds."""
        return Needs.of_any(self.sought)


class RuleError(ValueError):
    """A rule file says something that no rule can mean; names the rule."""


_PIPELINE = __package__.rpartition(".")[0]
_MACRO = re.compile(r"%([A-Z_]+)%")


def _expand(pattern: str, macros: dict[str, str], rule: str) -> str:
    def part(match: re.Match[str]) -> str:
        if match.group(1) not in macros:
            raise RuleError(f"rule {rule!r} uses the unknown macro {match.group()}")
        return macros[match.group(1)]

    while _MACRO.search(pattern):
        pattern = _MACRO.sub(part, pattern)
    return pattern


def _rule(raw: dict[str, Any], macros: dict[str, str]) -> Rule:
    data = dict(raw)
    name = data.get("id", "without an id")
    sources = [data.pop("pattern")] if "pattern" in data else data.pop("patterns", [])
    if not sources or not data.get("any"):
        raise RuleError(f"rule {name!r} needs a pattern and the words that call for it")
    for field in ("need", "forbid"):
        unknown = set(data.get(field, ())) - CONDITIONS
        if unknown:
            raise RuleError(f"rule {name!r} names unknown conditions in {field!r}: {sorted(unknown)}")
        data[field] = frozenset(data.get(field, ()))
    for field, allowed in (("kind", CandidateKind), ("intent", Intent), ("category", Category)):
        if field in data and data[field] not in get_args(allowed):
            raise RuleError(f"rule {name!r}: {field} is {data[field]!r}")
    for field in ("any", "positive", "negative"):
        data[field] = tuple(data.get(field, ()))
    data["any"] = tuple(normalise(word).text for word in data["any"])
    return Rule(sources=tuple(_expand(source, macros, name) for source in sources), **data)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of every file, in the order in which they are tried.

    Raises:
        RuleError: a rule is malformed, or two have one id.
    """
    folder = resources.files(_PIPELINE).joinpath("lexicon/rules")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))
    macros: dict[str, str] = {}
    for name in names:
        if name.startswith("macros"):
            own = tomllib.loads(folder.joinpath(name).read_text("utf-8"))
            if twice := sorted(macros.keys() & own.keys()):
                raise RuleError(f"{name} gives macros a second meaning: {twice}")
            macros |= own
    rules: list[Rule] = []
    for name in names:
        if not name.startswith("macros"):
            raw = tomllib.loads(folder.joinpath(name).read_text("utf-8"))
            rules += [_rule(one, macros) for one in raw.get("rule", ())]
    ids = [rule.id for rule in rules]
    if len(set(ids)) != len(ids):
        raise RuleError(f"rule ids given twice: {sorted({one for one in ids if ids.count(one) > 1})}")
    tiers = {"slot": 0, "also": 1, "free": 2}
    return tuple(sorted(rules, key=lambda rule: tiers[rule.tier]))


@cache
def rule_index() -> WordIndex[tuple[int, ...]]:
    """The words that call for rules → the rules' places in `all_rules()`."""
    places: dict[str, list[int]] = {}
    for place, rule in enumerate(all_rules()):
        for word in rule.any:
            places.setdefault(word, []).append(place)
    return WordIndex((word, tuple(called)) for word, called in places.items())
