"""What a text comes to when only its key words count, for comparing texts with one another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..domain.policy import Policy
from .text import is_han, normalise, tokens

_CACHED_TEXTS = 50_000
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class KeyWords:
    """The words of a text that carry its content.

    `terms` are pairs of Hanzi (a lone Hanzi as it is), word stems, and for words of one meaning the
    name of their group. `aspects` are pairs of aspect and value, such as `("length", "short")`.
    """

    terms: frozenset[str]
    numbers: frozenset[str]
    negated: bool
    aspects: frozenset[tuple[str, str]]

    def share_in(self, other: KeyWords) -> float:
        """The share of these terms that the other text holds too; 0 when there are none."""
        return len(self.terms & other.terms) / len(self.terms) if self.terms else 0.0

    def likeness(self, other: KeyWords) -> float:
        """Dice's coefficient of the terms: 0 nothing in common, 1 the same words."""
        total = len(self.terms) + len(other.terms)
        return 2 * len(self.terms & other.terms) / total if total else 0.0


NO_WORDS = KeyWords(frozenset(), frozenset(), False, frozenset())


class KeyWordReader:
    """Reads texts with the word lists of one policy, and remembers what it read."""

    def __init__(self, policy: Policy) -> None:
        words = policy.rules.words
        self._stop_words = frozenset(words.stop_en) | frozenset(words.negation_en)
        self._groups = _groups(policy)
        self._phrases = phrase_pattern([*self._groups, *words.stop_zh, *words.negation_zh])
        self._negation = phrase_pattern([*words.negation_zh, *words.negation_en])
        self._any_aspect = phrase_pattern(
            phrase for values in policy.rules.aspects.values() for some in values.values() for phrase in some
        )
        self._aspects = tuple(
            ((aspect, value), phrase_pattern(phrases))
            for aspect, values in policy.rules.aspects.items()
            for value, phrases in values.items()
        )
        self.read = lru_cache(maxsize=_CACHED_TEXTS)(self._read)

    def _read(self, text: str) -> KeyWords:
        plain = normalise(text).text.replace("’", "'")
        rest: list[str] = []
        terms: set[str] = set()
        done = 0
        for match in self._phrases.finditer(plain):
            rest.append(plain[done : match.start()])
            done = match.end()
            if group := self._groups.get(match.group()):
                terms.add(group)
        rest.append(plain[done:])
        terms.update(self._terms_of(" ".join(rest)))
        return KeyWords(
            frozenset(terms),
            frozenset(_NUMBER.findall(plain)),
            self._negation.search(plain) is not None,
            self._aspects_in(plain),
        )

    def _aspects_in(self, plain: str) -> frozenset[tuple[str, str]]:
        if not self._any_aspect.search(plain):  # most texts have none
            return frozenset()
        return frozenset(pair for pair, pattern in self._aspects if pattern.search(plain))

    def _terms_of(self, text: str) -> Iterable[str]:
        found = frozenset(tokens(text))
        paired = {ch for token in found if len(token) == 2 and is_han(token[0]) for ch in token}
        for token in found:
            if is_han(token[0]):
                if token not in paired:
                    yield token
            elif token not in self._stop_words:
                yield _stem(token)


def says(text: str, phrase: str) -> bool:
    """Whether a normalised text holds a phrase: Latin words whole, Hanzi wherever they stand."""
    return _pattern_of((phrase,)).search(text) is not None


def _groups(policy: Policy) -> Mapping[str, str]:
    """Phrase → the term that it stands for: a group of synonyms, or an aspect with its value."""
    groups: dict[str, str] = {}
    for name, phrases in policy.rules.words.synonyms.items():
        groups.update((_fold(phrase), f"~{name}") for phrase in phrases)
    for aspect, values in policy.rules.aspects.items():
        for value, phrases in values.items():
            groups.update((_fold(phrase), f"~{aspect}.{value}") for phrase in phrases)
    return groups


@lru_cache(maxsize=10_000)
def _fold(phrase: str) -> str:
    return normalise(phrase).text


def phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """One pattern for all phrases, the longest first; Latin ones only as whole words.

    They are put together by their first characters, which every branch begins with: so the search
    looks further only where one of these characters stands, and then only at the phrases that begin with it.
    """
    return _pattern_of(tuple(phrases))


# Remembered, so that who opens a second store does not wait for the same patterns again.
@lru_cache(maxsize=10_000)
def _pattern_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    distinct = sorted({_fold(phrase) for phrase in phrases}, key=lambda phrase: (-len(phrase), phrase))
    if not distinct:
        return re.compile(r"(?!)")
    by_first: dict[str, list[str]] = {}
    for phrase in distinct:
        after = "" if is_han(phrase[-1]) else r"(?![0-9a-z])"
        by_first.setdefault(phrase[0], []).append(re.escape(phrase[1:]) + after)
    return re.compile("|".join(f"{_begun(first)}(?:{'|'.join(rests)})" for first, rests in by_first.items()))


def _begun(first: str) -> str:
    """A phrase's first character, with what must not stand before it."""
    literal = re.escape(first)
    return literal if is_han(first) else f"{literal}(?<![0-9a-z]{literal})"


def _stem(word: str) -> str:
    """A rough stem of a Latin word, so that `reports` and `report`, `leading` and `lead` agree."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending, least in (("ing", 6), ("ies", 5), ("ed", 5), ("es", 5), ("s", 4)):
        if len(word) >= least and word.endswith(ending) and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    return word.removesuffix("e") if len(word) > 3 else word
