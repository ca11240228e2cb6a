"""Finds the value that a word names: 密码, "pin", 身份证号, with whatever stands between the two.

The words and what may stand between are data (`lexicon/secret_labels.toml`). How far a value may be from
its word, and what it may look like, depends on how clearly the text between says "is".
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import zip_longest
from typing import Any

from .secret_values import (
    HAN_CLASS,
    How,
    Token,
    accepts,
    further_accepted,
    is_about_passwords,
    passphrase_zh,
    phrase_spans,
    tokens_in,
    with_further_words,
    with_numbers_behind,
)
from .text import is_han

_REACH = 44  # code points from a word to its value, at most
_WINDOW = 72  # of the text behind a word that is looked through for a value
_BACK = 44
_PROMISING = ("password", "code", "code_said", "phrase", "passphrase")
_TOLD = re.compile(r"[^\s,。;!?！？\n][^,。;!?！？\n]*")
_ASKED = re.compile("[的了吗呢吧么]$|多少|什么|怎么")
_QUOTES = "\"'“”‘’「」『』`"
_LETTERS = re.compile("[a-z]+")
_GIVEN = re.compile(r"\s*[:=,]")
_SENTENCES = re.compile("[。！!？?；;\n]|[.](?=\\s)")


@dataclass(frozen=True, slots=True)
class Label:
    """A word that names a secret."""

    label_id: str
    kind: str
    values: str
    reach: int


@dataclass(frozen=True, slots=True)
class Named:
    """Where a label stands in a text."""

    start: int
    end: int
    label: Label


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value that a label names: code points of the text searched, half-open."""

    start: int
    end: int
    kind: str
    rule_id: str


def lowered(text: str) -> str:
    """`text` in lower case, as long as before."""
    lower = text.lower()
    return (
        lower
        if len(lower) == len(text)
        else "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)
    )


def labels_in(lower: str) -> list[Named]:
    """The labels in a lower-cased text, in order; longer words first, none overlapping."""
    lexicon = _lexicon()
    found: list[Named] = []
    if lower.isascii() and lexicon.first_words.isdisjoint(_LETTERS.findall(lower)):
        return found  # a tenth of the time of the pattern, which tries every letter of an English text
    for match in lexicon.pattern.finditer(lower):
        if _is_mention(lower, match.start(), match.end()):
            continue
        word = " ".join(match[0].split())
        for number in lexicon.numbers[word]:
            before, after = lexicon.unless[number]
            if before is not None and before.search(lower, max(0, match.start() - 16), match.start()):
                continue
            if after is not None and after.match(lower, match.end()):
                continue
            found.append(Named(match.start(), match.end(), lexicon.labels[number]))
    return found


def promised(lower: str, labels: Sequence[Named], hidden: str) -> bool:
    """Whether a lower-cased, masked text says what a secret is, and the words for it are still there.

    `hidden` stands for each masked code point. A question, a statement about the word (密码是多少, "the
    password is too long") and a value that is masked are none.
    """
    lexicon = _lexicon()
    for named in labels:
        if named.label.values not in _PROMISING:
            continue
        gap = lexicon.direct.match(lower, named.end)
        end = gap.end() if gap else named.end
        colon_only = named.label.values == "code_said"
        if colon_only and not lower.startswith((":", "="), named.end):
            continue
        if lexicon.says.search(lower, named.end, end) and _is_told(lower, named.end, end, hidden):
            return True
    return False


def _is_told(lower: str, start: int, end: int, hidden: str) -> bool:
    """Whether the clause at `end`, behind a label and its "is", may be the value itself."""
    lexicon = _lexicon()
    told = _TOLD.match(lower, end)
    if told is None or hidden in lower[start : told.end() + _BACK]:
        return False
    if _ASKED.search(told[0]) or lower.startswith("?", told.end()):
        return False
    if is_han(told[0][0]):
        return lexicon.no_passphrase.match(told[0]) is None
    word = told[0].split()[0]
    return word[0].isalpha() and not is_about_passwords(word)


def _is_mention(lower: str, start: int, end: int) -> bool:
    """Whether the word stands in quotes by itself and no value is given to it: the word "password"."""
    quoted = lower[start - 1 : start] in _QUOTES and lower[end : end + 1] in _QUOTES
    return quoted and lower[start - 1 : start] != "" and _GIVEN.match(lower, end + 1) is None


def values_of(text: str, lower: str, labels: Sequence[Named]) -> Iterator[Labelled]:
    """The values that the labels name in a normalised text (case kept)."""
    for named, following in zip_longest(labels, labels[1:]):
        if following is not None and following.label is named.label and following.start - named.end <= 3:
            continue  # the value belongs to the nearer one
        for start, end in _values(text, lower, named):
            yield Labelled(start, end, named.label.kind, f"label_{named.label.label_id}")


def _values(text: str, lower: str, named: Named) -> Iterable[tuple[int, int]]:
    label = named.label
    if label.values in ("phrase", "passphrase"):
        yield from phrase_spans(lower, named.end, label.values, _lexicon().no_phrase)
        return
    yield from _behind(text, lower, named)
    if label.values in ("password", "code", "code_said", "password_said", "number7", "opener", "code_sure"):
        yield from _ahead(text, lower, named)


def _behind(text: str, lower: str, named: Named) -> Iterable[tuple[int, int]]:
    label = named.label
    last: int | None = None
    stop = min(len(text), named.end + _WINDOW)
    user_named = _lexicon().user.search(lower, max(0, named.start - 40), named.start) is not None
    for token in tokens_in(text, lower, named.end, stop, label.values):
        if last is not None:
            if not _goes_on(lower, last, token, label):
                continue
        else:
            how = _how(lower, named.end, token.start, label.reach)
            if how is None:
                return
            if (
                how in ("beside", "said")
                and token.shape == "word"
                and (user_named or is_han(text[named.end - 1]))
            ):
                how = "said_last"
            if how == "said_last" and label.values == "password" and is_han(text[named.end - 1]):
                token = with_further_words(token, text)
            elif how == "said_last" and label.values == "password":
                token = with_numbers_behind(token, text)
            if not accepts(label.values, how, token, text):
                continue
        yield token.start, token.end
        last = token.end
    if last is None and label.values == "password":
        gap = _lexicon().said_zh.match(lower, named.end)
        span = passphrase_zh(lower, gap.end(), _lexicon().no_passphrase) if gap else None
        if span is not None:
            yield span


def _goes_on(lower: str, last: int, token: Token, label: Label) -> bool:
    """Whether a token behind an accepted value is one more: "from A to B", "not A, now B"."""
    if _lexicon().further.fullmatch(lower, last, token.start):
        return further_accepted(label.values, token)
    gap = lower[last : token.start]
    close = len(gap) <= 14 and not _lexicon().other.search(gap) and not _SENTENCES.search(gap)
    return (
        close
        and label.values == "password"
        and token.shape == "strong"
        and further_accepted("password", token)
    )


def _how(lower: str, start: int, end: int, reach: int) -> How | None:
    """How the text between a label and a value binds the two; None when it does not."""
    lexicon = _lexicon()
    if lexicon.direct.fullmatch(lower, start, end):
        if end - start > 2 * reach:
            return None
        if lexicon.says_last.search(lower, start, end):
            return "said_last"
        return "said" if lexicon.says.search(lower, start, end) else "beside"
    gap = lower[start:end]
    if end - start > reach or lexicon.other.search(gap) or len(_SENTENCES.findall(gap)) > 1:
        return None
    if not lexicon.says_last.search(gap):
        return "near"
    return "near_said_for" if re.match(r"\s+(?:for|to|of|on)\s", gap) else "near_said"


def _ahead(text: str, lower: str, named: Named) -> Iterable[tuple[int, int]]:
    lexicon = _lexicon()
    start = max(0, named.start - _BACK)
    tokens = tokens_in(text, lower, start, named.start, named.label.values)
    for token in [t for t in tokens if t.end <= named.start and t.shape != "word"][-3:]:
        gap = lower[token.end : named.start]
        if lexicon.back.fullmatch(gap):
            how: How = "back" if gap.strip(" ") else "back_bare"
        elif lexicon.before_value.search(
            lower, max(0, token.start - 12), token.start
        ) and not lexicon.other.search(gap):
            how = "back_near"
        else:
            continue
        if accepts(named.label.values, how, token, text):
            yield token.start, token.end


@dataclass(frozen=True, slots=True)
class _Lexicon:
    labels: Sequence[Label]
    pattern: re.Pattern[str]
    numbers: dict[str, list[int]]
    first_words: frozenset[str]
    """The first run of Latin letters of each label that has any."""
    unless: Sequence[tuple[re.Pattern[str] | None, re.Pattern[str] | None]]
    direct: re.Pattern[str]
    says: re.Pattern[str]
    says_last: re.Pattern[str]
    said_zh: re.Pattern[str]
    further: re.Pattern[str]
    other: re.Pattern[str]
    before_value: re.Pattern[str]
    back: re.Pattern[str]
    user: re.Pattern[str]
    no_passphrase: re.Pattern[str]
    no_phrase: frozenset[str]


@cache
def _lexicon() -> _Lexicon:
    table = tomllib.loads(
        resources.files(__package__).joinpath("lexicon/secret_labels.toml").read_text("utf-8")
    )
    gap, words = table["gap"], table["words"]
    numbers: dict[str, list[int]] = {}
    for number, entry in enumerate(table["label"]):
        for word in entry["words"]:
            numbers.setdefault(word, []).append(number)
    signs = "".join(re.escape(sign) for sign in gap["is_sign"])
    says = _either([*gap["is_zh"], *gap["is_en"]])
    filler = _either([*gap["is_zh"], *gap["is_en"], *gap["filler_zh"], *gap["filler_en"]])
    return _Lexicon(
        labels=[Label(e["id"], e["kind"], e["values"], e.get("reach", _REACH)) for e in table["label"]],
        pattern=re.compile(_either(numbers)),
        numbers=numbers,
        first_words=frozenset(letters[0] for word in numbers if (letters := _LETTERS.search(word))),
        unless=[
            (_unless(entry, "unless_before", "$"), _unless(entry, "unless_after", ""))
            for entry in table["label"]
        ],
        direct=re.compile(rf"(?:{filler}|[\s,.!?。!?、…~*_(\[<{{\"'“”「『`—/@#-]|[{signs}])*+"),
        says=re.compile(f"{says}|[{signs}]"),
        says_last=re.compile(rf"(?:{says}|[{signs}])[\s\"'“「『`]*$"),
        said_zh=re.compile(rf"(?:{_either(gap['filler_zh'])}|\s)*?(?:是|叫|就是|[:=])+\s*"),
        further=re.compile(rf"(?:{_either(gap['further'])}|[\s,/、;:>.。-])*+"),
        other=re.compile(_either([*gap["other_zh"], *gap["other_en"]])),
        before_value=re.compile(rf"{_either(gap['before_value'])}\s*[\"'“]?$"),
        back=re.compile(
            rf"(?:{_either([*gap['back_zh'], *gap['back_en']])}|[\s,(\"'”」—-])*+"
            rf"|[\s,]*(?:这|那)(?:个|串)?(?:就|才)?是[{HAN_CLASS}]{{0,10}}"
        ),
        user=re.compile(r"(?:(?<![a-z])(?:user|username|login|account|id)(?![a-z])|账号|用户名?|帐号)"),
        no_passphrase=re.compile(_either(words["no_passphrase_zh"])),
        no_phrase=frozenset(words["no_phrase"]),
    )


def _unless(entry: Any, name: str, end: str) -> re.Pattern[str] | None:
    return re.compile(f"(?:{entry[name]}){end}") if name in entry else None


def _either(words: Iterable[str]) -> str:
    """A pattern for any of the words, longest first; Latin words stand alone.

    Words with one first letter share it, so that the search skips what no word begins with.
    """
    by_first: dict[str, list[str]] = {}
    for word in sorted(set(words), key=lambda word: (-len(word), word)):
        by_first.setdefault(word[0], []).append(word)
    return "(?:" + "|".join(_of_one_letter(first, group) for first, group in sorted(by_first.items())) + ")"


def _of_one_letter(first: str, words: Sequence[str]) -> str:
    alone = "(?<![a-z0-9].)(?<![a-z]-.)" if first.isascii() and first.isalpha() else ""
    return f"{re.escape(first)}{alone}(?:" + "|".join(_rest(word) for word in words) + ")"


def _rest(word: str) -> str:
    after = r"(?![a-z]|_[a-z0-9]|-[a-z]+(?![a-z0-9]))" if word[-1].isascii() and word[-1].isalpha() else ""
    return re.escape(word[1:]).replace(r"\ ", r"\s+") + after
