"""Finds values that let somebody in or find somebody, and masks them before anything is stored.

The rules are data (`lexicon/secrets.toml`): a pattern says where such a value may stand, a validator
whether it is one. A word such as 密码 or "token" is none by itself.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from .labelled import labels_in, lowered, promised, values_of
from .secret_values import HAN_CLASS, VALIDATORS
from .sought import any_in, needed
from .text import normalise

PLACEHOLDER = "■"
"""Stands for one masked code point, so that offsets hold after masking."""

_AROUND = 300  # of the text on both sides of an anchor that belongs to it
_NEAR = 120  # code points on both sides of a value in which a rule looks for what makes it one
_BESIDE = 60  # and for what makes it none
_SHORTEST = 4  # code points of a value that is masked wherever else it stands; 3 where digits are in it
_HEAD = 3
_APART = 8  # code points from which on a value is told from other words even inside of them
_FEW_WORDS = 30  # that are looked for in less time than it takes to try a pattern
_NOTHING: Mapping[str, str] = {}
_DIGIT = re.compile("[0-9]")
_FRAGMENT = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret in the original text: code points, half-open."""

    start: int
    end: int
    kind: str
    rule_id: str


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One rule with the examples that it is tested by."""

    rule_id: str
    kind: str
    description: str
    pattern: re.Pattern[str]
    validator: str
    positive: tuple[tuple[str, str], ...]
    """Text, and the part of it that this rule masks."""
    negative: tuple[str, ...]
    """Texts in which no rule finds anything."""
    anchor: re.Pattern[str] | None = None
    """Without a match of it no match of `pattern` is near; looked for in the lower-cased text."""
    needs: tuple[str, ...] = ()
    """One of these stands in every lower-cased text in which the pattern matches; empty: no demand."""
    digits: bool = False
    """Whether every match of the pattern holds a digit."""
    near: re.Pattern[str] | None = None
    """Without a match of it around, or in it, a value is none."""
    unless: re.Pattern[str] | None = None
    """With a match of it on either side a value is none."""
    words: tuple[str, ...] = ()
    """As `needs`, told by the pattern or its anchor itself; see `may_be_in`."""

    def may_be_in(self, plain: str) -> bool:
        """Whether the pattern may match in a text, of which `plain` is the form with plain letters.

        Looking for a few words takes a third of the time of the patterns, which most texts do not hold.
        """
        return any_in(plain, self.needs) and any_in(plain, self.words)

    def spans(self, text: str) -> Iterable[tuple[int, int]]:
        """Spans of the secrets that this rule sees in a normalised text (case kept), in order."""
        return self.spans_in(text, lowered(text))

    def spans_in(self, text: str, lower: str) -> Iterable[tuple[int, int]]:
        """As `spans`, for a caller that has the lower-cased text already."""
        if not self.may_be_in(_plain(lower)):
            return
        holds = VALIDATORS[self.validator]
        for start, end in self._windows(lower):
            for match in self.pattern.finditer(text, start, end):
                for group in ("s", "s2"):
                    if group not in self.pattern.groupindex or not match[group]:
                        continue
                    if holds(match[group]) and self._fits(lower, *match.span(group)):
                        yield match.span(group)

    def _fits(self, lower: str, start: int, end: int) -> bool:
        """Whether what is said around a value lets it be one."""
        if self.near and not self.near.search(lower, max(0, start - _NEAR), end + _NEAR):
            return False
        if self.unless is None:
            return True
        before, after = lower[max(0, start - _BESIDE) : start], lower[end : end + _BESIDE]
        return self.unless.search(f"{before}\n{after}") is None

    def _windows(self, lower: str) -> Iterable[tuple[int, int]]:
        """Where the pattern may match: all of the text, or what is around the anchors."""
        if self.anchor is None:
            yield 0, len(lower)
            return
        first = last = -1
        for match in self.anchor.finditer(lower):
            if match.start() - _AROUND > last:
                if last >= 0:
                    yield first, min(last, len(lower))
                first = max(0, match.start() - _AROUND)
            last = match.end() + _AROUND
        if last >= 0:
            yield first, min(last, len(lower))


def find_secrets(text: str, told: Mapping[str, str] = _NOTHING) -> tuple[SecretSpan, ...]:
    """The secrets in `text`, in order, none overlapping; empty when there are none.

    A value that was found once is a secret wherever else it stands, with or without a word that names
    it; so are the values `told` elsewhere (see `values_told`). Where several rules see parts of one value,
    the span covers them all and carries the kind and the rule that comes first in the table among those
    that start first.
    """
    norm = normalise(text, fold_case=False)
    found: list[SecretSpan] = []
    values = dict(told)
    lower = lowered(norm.text)
    plain = _plain(lower)
    has_digit = _DIGIT.search(lower) is not None

    def take(start: int, end: int, kind: str, rule_id: str) -> None:
        found.append(SecretSpan(*norm.span(start, end), kind, rule_id))
        if _is_telling(lower[start:end]):
            values.setdefault(lower[start:end], kind)

    for rule in secret_rules():
        if (rule.digits and not has_digit) or not rule.may_be_in(plain):
            continue
        for start, end in rule.spans_in(norm.text, lower):
            take(start, end, rule.kind, rule.rule_id)
    labels = labels_in(lower)
    for value in values_of(norm.text, lower, labels) if labels else ():
        take(value.start, value.end, value.kind, value.rule_id)
    for start, end in _again(lower, values):
        found.append(SecretSpan(*norm.span(start, end), values[lower[start:end]], "told_again"))
    return _merged(sorted(found, key=lambda secret: secret.start))


def _plain(lower: str) -> str:
    """The text with the letters that a pattern without regard to case takes for an i."""
    return lower if lower.isascii() else lower.replace("ı", "i").replace("İ", "i")


def values_told(text: str, spans: Iterable[SecretSpan]) -> Iterator[tuple[str, str]]:
    """The values of secrets that were found in `text`, as `find_secrets` takes them, with their kinds."""
    for secret in spans:
        value = lowered(normalise(text[secret.start : secret.end], fold_case=False).text)
        if _is_telling(value):
            yield value, secret.kind


def _is_telling(value: str) -> bool:
    """Whether a value is long enough to be known again."""
    return len(value) >= (_HEAD if _DIGIT.search(value) else _SHORTEST)


def _again(lower: str, values: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where the values stand, the longest at each place; the cost does not grow with their number."""
    by_head: dict[str, dict[int, set[str]]] = {}
    for value in values:
        by_head.setdefault(value[:_HEAD], {}).setdefault(len(value), set()).add(value)
    if not by_head:
        return
    at = 0
    while at <= len(lower) - _HEAD:
        for length in sorted(by_head.get(lower[at : at + _HEAD], ()), reverse=True):
            piece = lower[at : at + length]
            if piece in by_head[piece[:_HEAD]][length] and _stands_alone(lower, at, at + length):
                yield at, at + length
                at += length - 1
                break
        at += 1


def _stands_alone(lower: str, start: int, end: int) -> bool:
    """Whether a stretch is no part of a longer word or number; a long value may be."""
    if end - start >= _APART:
        return True
    before, after = lower[start - 1 : start], lower[end : end + 1]
    return not (_goes_on(before, lower[start]) or _goes_on(lower[end - 1], after))


def _goes_on(left: str, right: str) -> bool:
    return left.isascii() and left.isalnum() and right.isascii() and right.isalnum()


def speaks_of_secret(text: str) -> bool:
    """Whether a masked text promises the value of a secret (密码是…, "my pin is …") that was not found.

    Such a turn is not kept: what it says could not be masked. A word about secrets that promises no
    value (密码学, "password is required") and a value that is masked are no reason.
    """
    lower = lowered(normalise(text, fold_case=False).text)
    return promised(lower, labels_in(lower), PLACEHOLDER)


def mask(text: str, spans: Iterable[SecretSpan]) -> str:
    """`text` with one `PLACEHOLDER` for each code point within `spans`; as long as before."""
    characters = list(text)
    for secret in spans:
        characters[secret.start : secret.end] = PLACEHOLDER * (secret.end - secret.start)
    return "".join(characters)


@cache
def secret_rules() -> tuple[SecretRule, ...]:
    """The rules in the order of the table."""
    table = _table()
    fragments = {**table["fragments"], "han": HAN_CLASS}
    return tuple(_rule(entry, fragments) for entry in table["rule"])


def _merged(secrets: Iterable[SecretSpan]) -> tuple[SecretSpan, ...]:
    merged: list[SecretSpan] = []
    for secret in secrets:
        if not merged or secret.start >= merged[-1].end:
            merged.append(secret)
        elif secret.end > merged[-1].end:
            first = merged[-1]
            merged[-1] = SecretSpan(first.start, secret.end, first.kind, first.rule_id)
    return tuple(merged)


@cache
def _table() -> dict[str, Any]:
    path = resources.files(__package__).joinpath("lexicon/secrets.toml")
    return tomllib.loads(path.read_text("utf-8"))


def _filled(pattern: str, fragments: Mapping[str, str]) -> str:
    while _FRAGMENT.search(pattern):  # a fragment may hold others
        pattern = _FRAGMENT.sub(lambda match: fragments[match[1]], pattern)
    return pattern


def _around(entry: Mapping[str, Any], name: str, fragments: Mapping[str, str]) -> re.Pattern[str] | None:
    return re.compile(_filled(entry[name], fragments)) if name in entry else None


def _rule(entry: Mapping[str, Any], fragments: Mapping[str, str]) -> SecretRule:
    pattern = _filled(entry["pattern"], fragments)
    words = sorted({word.lower() for word in needed(entry.get("anchor", pattern))})
    return SecretRule(
        rule_id=entry["id"],
        kind=entry["kind"],
        description=entry["description"],
        pattern=re.compile(pattern, 0 if entry.get("case") else re.IGNORECASE),
        validator=entry.get("validator", "any"),
        positive=tuple((text, secret) for text, secret in entry["positive"]),
        negative=tuple(entry["negative"]),
        anchor=re.compile(entry["anchor"], re.IGNORECASE) if "anchor" in entry else None,
        needs=tuple(entry.get("needs", ())),
        digits=entry.get("digits", False),
        near=_around(entry, "near", fragments),
        unless=_around(entry, "unless", fragments),
        words=tuple(words) if len(words) <= _FEW_WORDS else (),
    )
