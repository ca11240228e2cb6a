"""Text as the pipeline compares it, with a way back to the text as it was said.

Everything that matches patterns does so on a `NormText`: one form for full and half width, for upper
and lower case, for traditional and simplified characters. Evidence, however, is quoted in code points
of the original, so the normalised text carries an offset map.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

from .memo import of_last_texts

Language = Literal["zh", "en", "mixed"]
TextProblem = Literal["lone_surrogate", "nul"]

_HAN_RANGES = (
    "\u3005\u3007"  # the iteration mark and the round zero are written among Hanzi
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002fa1f\U00030000-\U000323af"
)
_HAN = re.compile(f"[{_HAN_RANGES}]")
_TOKEN = re.compile(f"(?P<han>[{_HAN_RANGES}]+)|c\\+\\+|[cf]#|[^\\W_{_HAN_RANGES}]+")
_LATIN_WORD = re.compile(r"(?<![0-9A-Za-zÀ-ɏ])[A-Za-zÀ-ɏ]{2,}(?:['’][A-Za-z]+)?")  # no unit as in 15k
_SURROGATE = re.compile("[\ud800-\udfff]")

# Canonical reordering sorts a run of marks by insertion, so an endless run would cost its square.
_MARKS_PER_SEGMENT = 30


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Places where the two texts do not advance one code point for one, in order."""

    norm_starts: tuple[int, ...] = ()
    norm_ends: tuple[int, ...] = ()
    original_starts: tuple[int, ...] = ()
    original_ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NormText:
    """A normalised text and where each of its code points came from."""

    text: str
    original: str
    _stretch: _Stretch = _Stretch()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a half-open span of `text` to the smallest span of `original` that covers it.

        Offsets are code points. An empty span maps to an empty one, in front of the character that
        `start` belongs to.

        Raises:
            ValueError: not `0 <= start <= end <= len(text)`.
        """
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"[{start}, {end}) is no span of a text of {len(self.text)} code points")
        first, _ = self._cell(start)
        return (first, first) if start == end else (first, self._cell(end - 1)[1])

    def quote(self, start: int, end: int) -> str:
        """The original's words for a span of `text`."""
        first, last = self.span(start, end)
        return self.original[first:last]

    def _cell(self, offset: int) -> tuple[int, int]:
        """The original's span of the one code point at `offset` (at the end: empty)."""
        if offset == len(self.text):
            return len(self.original), len(self.original)
        stretch = self._stretch
        index = bisect_right(stretch.norm_starts, offset) - 1
        if index < 0:
            return offset, offset + 1
        if offset < stretch.norm_ends[index]:
            return stretch.original_starts[index], stretch.original_ends[index]
        place = stretch.original_ends[index] + offset - stretch.norm_ends[index]
        return place, place + 1


def normalise(text: str, *, fold_case: bool = True) -> NormText:
    """Bring `text` to the form in which the pipeline compares, keeping the way back.

    Compatibility forms become plain ones (NFKC: `１` → `1`, `㎏` → `kg`, `，` → `,`), traditional
    characters simplified ones, letters lower case unless `fold_case` is false. A base letter and its
    marks are composed. Any string is accepted, lone surrogates too.
    """
    if text.isascii():
        return NormText(text.lower() if fold_case else text, text)
    return _folded(text) if fold_case else _normalised(text, _table(False))


@of_last_texts(256)
def _folded(text: str) -> NormText:
    """Kept, because a turn compares its text many times. With its case a text is read once, for secrets."""
    return _normalised(text, _table(True))


def _normalised(text: str, table: _FoldTable) -> NormText:
    irregular = table.irregular_in(text)
    if not irregular:
        return NormText(text.translate(table), text)
    return _normalise_with_map(text, table, _segments_of(irregular))


def undisguised(normalised: str) -> str:
    """The words of a normalised text that hides them from whoever looks for words.

    Characters without width are left out, letters that look like Latin ones become those, digits within a
    word the letters that they stand for, and letters that are spaced out move together. For finding words
    only: nobody wrote the result, and its offsets do not lead back. The text itself when nothing is hidden.
    """
    plain = normalised
    if not plain.isascii() and _HIDING.search(plain):
        plain = plain.translate(_SEEN)
        if _LATIN_LETTER.search(plain):
            plain = plain.translate(_confusables())
    if _APART.search(plain):
        plain, words = _SPACED_OUT.subn(_closed_up, plain)
        if words > 1:  # then the short words between are spaced out too
            plain = _SHORT_SPACED_OUT.sub(_closed_up, plain)
    if _LEET.search(plain):
        plain = _LEET_WORD.sub(lambda found: found.group().translate(_LEET_LETTERS), plain)
    return plain


def fold_for_comparison(text: str) -> str:
    """What is left of `text` when only the words count: equal results are exact duplicates.

    Normalised; punctuation, symbols (emoji among them), white space and control characters removed.
    Marks stay: they belong to words. Empty when there were no words.
    """
    return normalise(text).text.translate(_WORDS_ONLY)


def is_han(ch: str) -> bool:
    """Whether the one character `ch` is a Hanzi."""
    return _HAN.fullmatch(ch) is not None


def count_han(text: str) -> int:
    """How many of the characters are Hanzi."""
    return 0 if text.isascii() else len(_HAN.findall(text))


def tokens(text: str) -> tuple[str, ...]:
    """Search tokens in the order of the text, repeats included.

    Of each run of Hanzi every character and every pair of neighbours, so that 北京 is found in
    我要去北京出差 without a dictionary; of everything else whole lower-case words and numbers.
    """
    found: list[str] = []
    for match in _TOKEN.finditer(normalise(text).text):
        word = match.group()
        if match.lastgroup == "han":
            found.extend(word)
            found.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            found.append(word)
    return tuple(found)


def language_of(text: str) -> Language:
    """The language a text is written in: `en` also stands for every text without Hanzi.

    A text is `mixed` when Latin words are more than a fifth of its words, a Chinese word being taken
    as 1.6 characters long.
    """
    han = count_han(text) / 1.6
    if not han:
        return "en"
    latin = len(_LATIN_WORD.findall(text))
    share = latin / (latin + han)
    if share <= 0.2:
        return "zh"
    return "mixed" if share < 0.9 else "en"


def check_text(text: str) -> TextProblem | None:
    """What makes `text` unfit for storing: a lone surrogate, a NUL, or nothing."""
    if _SURROGATE.search(text):
        return "lone_surrogate"
    return "nul" if "\0" in text else None


class LeavingOut(dict[int, int | None]):
    """For `str.translate`: leaves characters out by their Unicode category; filled as they are met."""

    def __init__(self, is_left_out: Callable[[str], bool]) -> None:
        super().__init__()
        self._is_left_out = is_left_out

    def __missing__(self, code_point: int) -> int | None:
        left_out = self._is_left_out(unicodedata.category(chr(code_point)))
        self[code_point] = kept = None if left_out else code_point
        return kept


_WORDS_ONLY = LeavingOut(lambda category: category[0] not in "LNM")
_WORDS_ONLY |= {0xFE0F: None, 0x20E3: None}  # marks of emoji


_HIDING = re.compile(
    "[\u00ad\u0131\u0250-\u02af\u0300-\u058f\u180e\u1d00-\u1d2b\u200b-\u200f\u202a-\u202e\u2060-\u206f\ua730-\ua73f\ufeff\U000e0000-\U000e007f]"
)
_SEEN = LeavingOut(frozenset({"Cf", "Cc", "Mn", "Me"}).__contains__)
_SEEN |= {0x09: 0x09, 0x0A: 0x0A}
_SEEN |= {0xE0000 + seen: seen for seen in range(0x20, 0x7F)}  # tags, which spell without being seen
_LATIN_LETTER = re.compile("[a-z]")
_APART = re.compile(r"([ .\-_*·|/])[a-z\u4e00-\u9fff]\1[a-z\u4e00-\u9fff]\1")
_SPACED_OUT = re.compile(
    r"(?<![a-z0-9])(?:[a-z][ .\-_*·|/]){3,60}[a-z](?![a-z0-9])"
    r"|(?:[\u4e00-\u9fff][ .\-_*·|/]){3,60}[\u4e00-\u9fff]"
)
_SHORT_SPACED_OUT = re.compile(r"(?<![a-z0-9])(?:[a-z][ .\-_*·|/]){1,2}[a-z](?![a-z0-9])[ \t]*")
_GAP = re.compile(r"[ .\-_*·|/]")


def _closed_up(spaced: re.Match[str]) -> str:
    words = _GAP.sub("", spaced.group())
    return words + " " if spaced.group()[-1:].isspace() else words


_LEET = re.compile(r"[0134578@$](?<=[a-z].)(?=[a-z])")
_LEET_WORD = re.compile(
    r"(?<![a-z0-9@$])(?=[a-z0-9@$]{0,20}[a-z])(?=[a-z]{0,20}[0134578@$])[a-z0134578@$]{3,20}(?![a-z0-9@$])"
)
_LEET_LETTERS = str.maketrans("0134578@$", "oieastbas")


class _FoldTable(dict[int, str]):
    """Code point → its normalised form, filled as characters are met (never longer than Unicode)."""

    def __init__(self, fold_case: bool) -> None:
        super().__init__()
        self._fold_case = fold_case
        self._regular: set[str] = set()
        """Characters that were met, and that are each folded to one by themselves."""

    def __missing__(self, code_point: int) -> str:
        self[code_point] = folded = self.fold(chr(code_point))
        return folded

    def irregular_in(self, text: str) -> str:
        """The characters of `text` that may melt into their neighbour or grow, each once, in order.

        Those that are known not to are taken out at once: a fifth of the time of asking each again.
        """
        unknown = set(text) - self._regular
        irregular = {ch for ch in unknown if _composes(ch) or len(self[ord(ch)]) > 1}
        self._regular |= unknown - irregular
        return "".join(sorted(irregular))

    def fold(self, segment: str) -> str:
        plain = unicodedata.normalize("NFKC", segment)
        if self._fold_case:
            plain = unicodedata.normalize("NFKC", plain.casefold())
        simplified = _simplified()
        return "".join(simplified.get(ch, ch) for ch in plain)


@cache
def _table(fold_case: bool) -> _FoldTable:
    return _FoldTable(fold_case)


@cache
def _simplified() -> dict[str, str]:
    lines = resources.files(__package__).joinpath("lexicon/t2s.tsv").read_text("utf-8").splitlines()
    return {line[0]: line[2] for line in lines if line[1:2] == "\t"}


@cache
def _confusables() -> dict[int, str]:
    lines = resources.files(__package__).joinpath("lexicon/confusables.tsv").read_text("utf-8").splitlines()
    return {ord(line[0]): line[2] for line in lines if line[1:2] == "\t"}


def _composes(ch: str) -> bool:
    """Whether `ch` may melt into the character before it: a mark, or a vowel or final of Hangul.

    Some marks melt though their combining class is 0 (vowel signs of Indic scripts), some only once they are
    in their plain form (the half-width voice marks of kana).
    """
    first = unicodedata.normalize("NFKC", ch)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


@lru_cache(maxsize=64)
def _segments_of(irregular: str) -> re.Pattern[str]:
    """Segments that must be folded as a whole: a character with its marks, or one that grows."""
    marks = "".join(re.escape(ch) for ch in irregular if _composes(ch))
    longer = "".join(re.escape(ch) for ch in irregular if not _composes(ch))
    with_marks = f"[^{marks}]?[{marks}]{{1,{_MARKS_PER_SEGMENT}}}" if marks else ""
    growing = f"[{longer}]" if longer else ""
    return re.compile("|".join(part for part in (with_marks, growing) if part))


def _normalise_with_map(text: str, table: _FoldTable, irregular: re.Pattern[str]) -> NormText:
    pieces: list[str] = []
    rows: list[tuple[int, int, int, int]] = []
    seen: dict[str, str] = {}
    done = length = 0
    for match in irregular.finditer(text):
        start, end = match.span()
        segment = match.group()
        folded = seen.get(segment) or seen.setdefault(segment, table.fold(segment))
        pieces += (text[done:start].translate(table), folded)
        at = length + start - done
        length = at + len(folded)
        done = end
        rows.append((at, length, start, end))
    pieces.append(text[done:].translate(table))
    return NormText("".join(pieces), text, _Stretch(*zip(*rows, strict=True)))
