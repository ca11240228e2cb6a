"""Regular expressions that are only tried where they can match.

Most patterns of the word lists match in few texts, and an alternation of many words is slow to find
nothing: Python tries every branch at every character. So each pattern says by itself which pieces of at
most three characters it needs, and is skipped for a text that holds none of them. One set of pieces of
a text serves all patterns: judging takes less than half the time with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from operator import add
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from .memo import SHORT, of_last_texts

Pieces = frozenset[str] | None
"""All runs of one to three characters that a text holds; None when it is too long to ask."""

_PIECE = 3
_MOST = 200
"""Strings that are followed up as a pattern offers alternatives one after the other."""
_LOOKED_FOR = 10
"""Words that are sooner looked for one by one than by their pieces."""
_TELLING = 6
"""Letters from which on a word tells enough of where a pattern may match."""

_Strings = frozenset[str]
_NOTHING: _Strings = frozenset({""})


@of_last_texts(32)
def pieces_of(text: str) -> Pieces:
    """The pieces of a text without secrets, and thereby of all that is cut from it."""
    return split(text)


def split(text: str) -> Pieces:
    """As `pieces_of`, and forgets the text."""
    if len(text) > SHORT:
        return None
    pairs = [*map(add, text, text[1:])]
    return frozenset((*text, *pairs, *map(add, pairs, text[2:])))


class Needs:
    """Words of which every match of a pattern holds one; none: nothing is known of the matches."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(sorted(words))
        self._by_piece: dict[str, list[str]] = {}
        for word in self.words:
            self._by_piece.setdefault(word[:_PIECE], []).append(word)
        self._pieces = frozenset(self._by_piece)

    def met_in(self, text: str, pieces: Pieces) -> bool:
        """Whether a text may hold a match; `pieces` are its own, or those of what it was cut from."""
        if len(self.words) <= _LOOKED_FOR:
            return any_in(text, self.words)
        if pieces is None:
            return True
        if self._pieces.isdisjoint(pieces):
            return False
        return any(any_in(text, self._by_piece[piece]) for piece in self._pieces & pieces)

    @staticmethod
    def of_any(patterns: Iterable[Sought]) -> Needs:
        """What every match of any of the patterns holds."""
        words = [one.needs.words for one in patterns]
        return Needs(set().union(*words) if all(words) else ())


def any_in(text: str, words: Sequence[str]) -> bool:
    """Whether one of the words stands in the text; true also when there are no words."""
    for word in words:  # half the time of `any` with a generator
        if word in text:
            return True
    return not words


class Sought:
    """A pattern, compiled when it is first tried on a text that holds what it needs."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self._flags = flags

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.source, self._flags)

    @cached_property
    def needs(self) -> Needs:
        """What every match holds, but for its case."""
        return Needs(needed(self.source))

    def search(self, text: str, pieces: Pieces) -> re.Match[str] | None:
        """The first match in `text`."""
        return self.pattern.search(text) if self.needs.met_in(text, pieces) else None

    def finditer(
        self, text: str, pieces: Pieces, start: int = 0, end: int | None = None
    ) -> Iterable[re.Match[str]]:
        """The matches between two places of `text`, in order; to its end without `end`."""
        if not self.needs.met_in(text, pieces):
            return ()
        return self.pattern.finditer(text, start, len(text) if end is None else end)


class AnyOf:
    """Patterns that are looked for one by one, and together asked whether any of them can match."""

    def __init__(self, patterns: Iterable[Sought]) -> None:
        self.patterns = tuple(patterns)

    @cached_property
    def needs(self) -> Needs:
        """What every match of any of the patterns holds."""
        return Needs.of_any(self.patterns)

    def stands_in(self, text: str, pieces: Pieces) -> bool:
        """Whether one of the patterns matches in `text`."""
        return self.needs.met_in(text, pieces) and any(
            one.search(text, pieces) is not None for one in self.patterns
        )

    def finditer(self, text: str, pieces: Pieces) -> Iterable[re.Match[str]]:
        """The matches of the first pattern, then those of the next."""
        if not self.needs.met_in(text, pieces):
            return ()
        return (match for one in self.patterns for match in one.finditer(text, pieces))


def needed(source: str) -> frozenset[str]:
    """Words of which every match of a pattern holds at least one; empty when none can be told."""
    return _required(_parser.parse(source)) or frozenset()


def _required(nodes: Iterable[Any]) -> _Strings | None:
    """The best set of strings of which a match of the nodes in a row holds one; None for none.

    Best is what is longest at its shortest, then what has the fewest strings.
    """
    found: list[_Strings] = []
    run = _NOTHING
    for code, argument in nodes:
        strings = _strings(code, argument)
        if strings is not None and len(run) * len(strings) <= (len(run) if _tells(run) else _MOST):
            run = _joined(run, strings)
            continue
        found.append(run)
        run = _NOTHING
        within = strings if strings is not None else _required_in(code, argument)
        if within is not None:
            found.append(within)
    found.append(run)
    best = max(map(_shortest, found), key=_worth)
    return best if all(best) else None


def _shortest(strings: _Strings) -> _Strings:
    """Without those that another one is part of: what holds the longer holds the shorter."""
    kept: set[str] = set()
    for one in sorted(strings, key=len):
        ends = range(1, len(one) + 1)
        if not any(one[start:end] in kept for end in ends for start in range(end)):
            kept.add(one)
    return frozenset(kept)


def _worth(strings: _Strings) -> tuple[int, int]:
    shortest = min(sum(1 if ch < "\u0800" else 3 for ch in one) for one in strings)  # a Hanzi tells more
    return min(shortest, _TELLING), -len(strings)


def _tells(strings: _Strings) -> bool:
    return _worth(strings)[0] >= _TELLING


def _joined(heads: _Strings, tails: _Strings) -> _Strings:
    return frozenset("".join(pair) for pair in product(heads, tails))


def _strings(code: Any, argument: Any) -> _Strings | None:
    """Every string that a node matches, when they are few; what matches between characters is empty."""
    if code is op.LITERAL:
        return frozenset(chr(argument))
    if code in (op.AT, op.ASSERT, op.ASSERT_NOT):
        return _NOTHING
    if code is op.IN:
        return _characters(argument)
    if code is op.SUBPATTERN:
        _, added, removed, nodes = argument
        return None if added or removed else _in_a_row(nodes)
    if code is op.ATOMIC_GROUP:
        return _in_a_row(argument)
    if code is op.BRANCH:
        return _any_of(argument[1])
    if code in _REPEATS and argument[1] == 1:
        once = _in_a_row(argument[2])
        return once if once is None or argument[0] == 1 else once | _NOTHING
    return None


def _required_in(code: Any, argument: Any) -> _Strings | None:
    if code is op.SUBPATTERN:
        return None if argument[1] & re.IGNORECASE else _required(argument[3])
    if code is op.ATOMIC_GROUP:
        return _required(argument)
    if code is op.BRANCH:
        branches = [_required(branch) for branch in argument[1]]
        return None if None in branches else _shortest(frozenset().union(*filter(None, branches)))
    if code in _REPEATS and argument[0] >= 1:
        return _required(argument[2])
    return None


_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def _in_a_row(nodes: Iterable[Any]) -> _Strings | None:
    row = _NOTHING
    for code, argument in nodes:
        strings = _strings(code, argument)
        if strings is None or len(row) * len(strings) > _MOST:
            return None
        row = _joined(row, strings)
    return row


def _any_of(branches: Iterable[Any]) -> _Strings | None:
    united: set[str] = set()
    for branch in branches:
        strings = _in_a_row(branch)
        if strings is None or len(united) + len(strings) > _MOST:
            return None
        united |= strings
    return frozenset(united)


def _characters(members: Sequence[tuple[Any, Any]]) -> _Strings | None:
    """The characters of a class, when they are few and named one by one or in short ranges."""
    found: set[str] = set()
    for code, argument in members:
        if code is op.LITERAL:
            found.add(chr(argument))
        elif code is op.RANGE and argument[1] - argument[0] < 40:
            found.update(map(chr, range(argument[0], argument[1] + 1)))
        else:
            return None
    return frozenset(found)
