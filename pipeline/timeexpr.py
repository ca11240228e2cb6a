"""Time expressions of Chinese and English, resolved against a clock and a zone that are given.

Deterministic and table-driven (`lexicon/time_zh.toml`, `lexicon/time_en.toml`): patterns name periods,
words before and behind turn them into bounds. What cannot be settled is left out, never guessed.
"""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from importlib import resources
from typing import Any, Literal

from .periods import READERS, Period, Pieces, Precision, Prefer
from .sought import Needs, Sought, pieces_of
from .text import NormText, normalise

Bound = Literal[
    "point", "span", "until", "before", "after", "from", "within", "recurring", "standing", "session"
]

_FRAGMENT = re.compile(r"\{([a-z_]+)\}")
_CLAUSE_END = re.compile(r"[,.;!?。；！？、\n]")
_REACH = 24  # how many characters in front of a period may hold the words that bound it
_FIXED_DAY = re.compile(r"\d\d-\d\d")
"""A festival that has the same date every year."""

_BARE_DATE = re.compile(r"(?<![0-9./-])(?:(?:19|20)\d\d[-/.])?(\d{1,2})[-/](\d{1,2})(?![0-9./-])")
_RANGE = re.compile(
    r"\s*(?:\([^)]{1,12}\))?\s*(?:到|至|-|~|–|—|to|until|till|through|thru|and)\s*(?:the\s+)?"
)
_PREPOSITION = re.compile(
    r"(?<![a-z])(?:in|until|till|by|before|since|of|through|next|last|this|from|to|after|during|for|early|late)\s+$"
)


@dataclass(frozen=True, slots=True)
class TimeExpr:
    """A time expression and what it means.

    `start` and `end` are half-open, in the zone asked for; None is open. For `until` and `within`, and
    `before` the end of a period, `end` is the midnight after the last day that counts; `before` a day
    it is that day's midnight. A moment (`precision="minute"`, `bound="point"`) has `start == end`.
    `recurring`, `session`: both None. `standing`: `start` is now.
    """

    start: datetime | None
    end: datetime | None
    bound: Bound
    precision: Precision
    span_start: int
    """Code points of the original text, half-open with `span_end`."""
    span_end: int
    rule_id: str


@dataclass(frozen=True, slots=True)
class _Rule:
    rule_id: str
    sought: Sought
    reads: str
    bound: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Language:
    periods: tuple[_Rule, ...]
    before: tuple[_Rule, ...]
    behind: tuple[_Rule, ...]
    markers: tuple[_Rule, ...]
    past: Sought
    words: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Found:
    """A period in the normalised text."""

    start: int
    end: int
    rule: _Rule
    language: _Language
    pieces: Pieces
    period: Period


def find_times(text: str, *, now: datetime, zone: tzinfo, prefer: Prefer = "future") -> tuple[TimeExpr, ...]:
    """The time expressions in `text`, in order, none overlapping.

    Args:
        text: what was said.
        now: when it was said; aware.
        zone: the speaker's time zone, in which days begin and end.
        prefer: where a year, month or week is not said, the nearest in the future or in the past. A
            word for the past in the same clause (上次, "last", "was born") overrides "future".

    Raises:
        ValueError: `now` is naive.
    """
    if now.tzinfo is None:
        raise ValueError("now must be aware")
    norm = normalise(text)
    if not _any_time().met_in(norm.text, pieces_of(norm.text)):
        return ()
    local = now.astimezone(zone)
    markers = list(_markers(norm.text))
    taken = [(start, end) for start, end, _ in markers]
    found = _joined_clocks(_periods(norm, local, zone, prefer, taken))
    times = list(_bounded(norm.text, found))
    bounded = [(time.span_start, time.span_end) for time in times]
    for start, end, rule in markers:
        if _overlaps(start, end, bounded):
            continue  # 以后 in 国庆以后
        begin = local if rule.bound == "standing" else None
        times.append(TimeExpr(begin, None, rule.bound, "day", start, end, rule.rule_id))  # type: ignore[arg-type]
    times.sort(key=lambda time: time.span_start)
    return tuple(_in_original(norm, time) for time in times)


def month_day(text: str) -> str | None:
    """The first date of `text` without its year, as for a birthday: `11-23`; a lone month: `11`.

    None when there is no date, or only one that depends on the day it is said.
    """
    match = _BARE_DATE.search(normalise(text).text)
    if match is not None:
        month, day = int(match[1]), int(match[2])
        return f"{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else None
    norm = normalise(text)
    leap_year = datetime(2024, 1, 1, tzinfo=UTC)
    for one in _periods(norm, leap_year, UTC, "future", []):
        if one.rule.reads == "date":
            return f"{one.period.start:%m-%d}"
        if one.rule.reads == "festival" and _FIXED_DAY.fullmatch(fixed := str(one.pieces.word("festival"))):
            return fixed
        if one.rule.reads == "month" and not one.pieces.has("part"):
            return f"{one.period.start:%m}"
    return None


def _in_original(norm: NormText, time: TimeExpr) -> TimeExpr:
    start, end = norm.span(time.span_start, time.span_end)
    return replace(time, span_start=start, span_end=end)


# --- reading the tables ---


@cache
def _languages() -> tuple[_Language, ...]:
    tables = [_load("time_zh.toml"), _load("time_en.toml")]
    return tuple(_language(table) for table in tables)


@cache
def _any_time() -> Needs:
    """What every text with a time expression holds."""
    return Needs.of_any(rule.sought for one in _languages() for rule in (*one.periods, *one.markers))


@cache
def _lunar() -> Mapping[str, list[str]]:
    lunar: Mapping[str, list[str]] = _load("time_zh.toml")["lunar"]
    return lunar


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("lexicon", name).read_text("utf-8"))


def _language(table: Mapping[str, Any]) -> _Language:
    words: Mapping[str, Mapping[str, Any]] = table["words"]
    pieces = {name: _alternatives(entries) for name, entries in words.items()} | table["fragments"]

    def rules(kind: str) -> tuple[_Rule, ...]:
        return tuple(_rule(entry, pieces) for entry in table[kind])

    return _Language(
        periods=rules("period"),
        before=rules("before"),
        behind=rules("behind"),
        markers=rules("marker"),
        past=Sought(table["past"]["pattern"]),
        words=words,
    )


def _alternatives(entries: Iterable[str]) -> str:
    ordered = sorted(entries, key=len, reverse=True)
    return "(?:" + "|".join(re.escape(entry).replace(r"\ ", r"\s+") for entry in ordered) + ")"


def _rule(entry: Mapping[str, Any], pieces: Mapping[str, str]) -> _Rule:
    pattern = str(entry["pattern"])
    for _ in range(3):  # fragments may name tables
        pattern = _FRAGMENT.sub(lambda match: pieces[match[1]], pattern)
    return _Rule(entry["id"], Sought(pattern), entry.get("reads", ""), entry.get("bound", ""), entry)


# --- finding periods ---


def _markers(text: str) -> Iterator[tuple[int, int, _Rule]]:
    pieces = pieces_of(text)
    found = [
        (match.start(), match.end(), rule)
        for language in _languages()
        for rule in language.markers
        for match in rule.sought.finditer(text, pieces)
    ]
    last = 0
    for start, end, rule in sorted(found, key=lambda one: (one[0], -one[1])):
        if start >= last:
            last = end
            yield start, end, rule


def _periods(
    norm: NormText, now: datetime, zone: tzinfo, prefer: Prefer, taken: list[tuple[int, int]]
) -> list[_Found]:
    """The longest readings from the left, outside of what markers took."""
    present = pieces_of(norm.text)
    matches = [
        (match, rule, language)
        for language in _languages()
        for rule in language.periods
        for match in rule.sought.finditer(norm.text, present)
        if _allowed(norm, match, rule)
    ]
    matches.sort(key=lambda one: (one[0].start(), -one[0].end()))
    found: list[_Found] = []
    last = 0
    for match, rule, language in matches:
        start, end = match.span()
        if start < last or _overlaps(start, end, taken):
            continue
        here = "past" if _is_past(norm.text, start, end, language) else prefer
        pieces = Pieces(match.groupdict(), language.words, _lunar(), rule.options, now, zone, here)
        period = _read(rule, pieces)
        if period is not None:
            last = end
            found.append(_Found(start, end, rule, language, pieces, period))
    return found


def _overlaps(start: int, end: int, others: Sequence[tuple[int, int]]) -> bool:
    """Whether a span meets one of `others`, which are sorted and disjoint."""
    index = bisect_left(others, (end,)) - 1
    return index >= 0 and others[index][1] > start


def _read(rule: _Rule, pieces: Pieces) -> Period | None:
    try:
        return READERS[rule.reads](pieces)
    except OverflowError:
        return None  # a count of years that leaves the calendar


def _allowed(norm: NormText, match: re.Match[str], rule: _Rule) -> bool:
    start = match.start()
    before = norm.text[max(0, start - 80) : start]
    if "not_behind" in rule.options and re.search(rule.options["not_behind"], before):
        return False
    if not rule.options.get("capital"):
        return True
    name = match.start("month_name")
    capital = norm.quote(name, name + 1).isupper()
    ambiguous = match["month_name"] in ("may", "march", "mar", "sun", "dec", "jan")
    prepositional = match["relative_name"] or match["year"] or _PREPOSITION.search(before)
    return bool(prepositional or (capital and not ambiguous))


def _is_past(text: str, start: int, end: int, language: _Language) -> bool:
    """Whether the clause around a period, or "since" before it, speaks of the past."""
    clause_start, clause_end = max(0, start - 40), min(len(text), end + 12)
    for stop in _CLAUSE_END.finditer(text, clause_start, start):
        clause_start = stop.end()
    if stop_behind := _CLAUSE_END.search(text, end, clause_end):
        clause_end = stop_behind.start()
    around = text[clause_start:start] + "\n" + text[end:clause_end]
    since = _bound_before(text, start, language)
    return (since is not None and since[1].bound == "since") or language.past.search(
        around, pieces_of(around)
    ) is not None


def _joined_clocks(found: list[_Found]) -> list[_Found]:
    """A time of day beside a day belongs to that day (明天 + 下午三点, "9am tomorrow")."""
    joined: list[_Found] = []
    for one in found:
        previous = joined[-1] if joined else None
        if previous is not None and _belong_together(previous, one):
            joined[-1] = _on_day(previous, one)
        else:
            joined.append(one)
    return joined


def _belong_together(first: _Found, second: _Found) -> bool:
    clocks = [one.rule.reads == "clock" for one in (first, second)]
    day = second if clocks[0] else first
    is_day = day.period.end - day.period.start <= timedelta(days=1, hours=2) and day.rule.reads != "now"
    gap = first.pieces.found is not second.pieces.found and second.start - first.end <= 5
    return sum(clocks) == 1 and is_day and gap


def _on_day(first: _Found, second: _Found) -> _Found:
    day, clock = (second, first) if first.rule.reads == "clock" else (first, second)
    midnight = day.period.start.replace(hour=0, minute=0)
    moment = midnight.replace(hour=0) + (clock.period.start - clock.period.start.replace(hour=0, minute=0))
    period = replace(day.period, start=moment, end=moment, precision="minute")
    return replace(day, start=first.start, end=second.end, period=period)


# --- bounds ---


def _bounded(text: str, found: list[_Found]) -> Iterator[TimeExpr]:
    index = reached = 0
    while index < len(found):
        one = found[index]
        other = found[index + 1] if index + 1 < len(found) else None
        index += 1
        if one.start < reached:
            continue  # a gloss: 这周五(3/6)为止
        time = _range(text, one, other) if other is not None else None
        if time is None:
            time = _with_bound(text, one)
        reached = time.span_end
        yield time


def _range(text: str, first: _Found, second: _Found) -> TimeExpr | None:
    """`A 到 B`, "from A to B": from the start of A to the end of B; from now on, it is `until` B."""
    if not _RANGE.fullmatch(text, first.end, second.start):
        return None
    between = text[max(0, first.start - 9) : first.start].rstrip().endswith("between")
    if text[first.end : second.start].strip() == "and" and not between:
        return None
    last = second.period
    if last.floating and first.rule.reads != "now":
        again = replace(second.pieces, now=first.period.start, prefer="future")
        last = _read(second.rule, again) or last
    if last.end < first.period.start:
        return None
    behind = _bound_behind(text, second)
    start = _range_start(text, first)
    end = behind[0] if behind is not None and behind[1].bound == "until" else second.end
    bound: Bound = "until" if first.rule.reads == "now" else "span"
    return TimeExpr(first.period.start, last.end, bound, last.precision, start, end, second.rule.rule_id)


def _range_start(text: str, first: _Found) -> int:
    for opening in ("从", "自", "from ", "between "):
        if text.endswith(opening, 0, first.start):
            return first.start - len(opening)
    return first.start


def _bound_before(text: str, start: int, language: _Language) -> tuple[int, _Rule] | None:
    """The longest bound that ends where a period starts, and where it begins."""
    low = max(0, start - _REACH)
    window = text[low:start]
    pieces = pieces_of(window)
    best: tuple[int, _Rule] | None = None
    for rule in language.before:
        for match in rule.sought.finditer(window, pieces):
            if match.end() == len(window) and (best is None or low + match.start() < best[0]):
                best = (low + match.start(), rule)
    return best


def _bound_behind(text: str, one: _Found) -> tuple[int, _Rule] | None:
    for rule in one.language.behind:
        if match := rule.sought.pattern.match(text, one.end):
            return match.end(), rule
    return None


def _with_bound(text: str, one: _Found) -> TimeExpr:
    before, behind = _bound_before(text, one.start, one.language), _bound_behind(text, one)
    start, end, period = one.start, one.end, one.period
    bound = "none"
    if before is not None and before[1].bound != "none":
        start, bound = before[0], before[1].bound
    if behind is not None and not period.length:
        end, bound = behind[0], behind[1].bound
    if bound in ("none", "from") and text.endswith(("从", "自", "打"), 0, start):
        start, bound = start - 1, "from"
    first, last, meaning = _ends(period, bound, one.pieces.now)
    return TimeExpr(first, last, meaning, period.precision, start, end, one.rule.rule_id)


def _ends(period: Period, bound: str, now: datetime) -> tuple[datetime | None, datetime | None, Bound]:
    match bound:
        case "until":
            return None, period.end, "until"
        case "by":
            return None, period.end, "before"
        case "before":
            return None, period.end if period.closing else period.start, "before"
        case "after":
            return period.end, None, "after"
        case "from" | "since":
            return period.start, None, "from"
        case "within":
            return now, period.end, "within"
    if period.length:
        return period.start, period.end, "within"
    single = period.end - period.start <= timedelta(days=1, hours=2)
    return period.start, period.end, "point" if single else "span"
