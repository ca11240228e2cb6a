"""Amounts in what people say: money, lengths of time, ages, sizes, counts; single, ranged or bounded.

Rules are data (`lexicon/quantities.toml`). The first rule of the table that matches at a place wins, so
that 15-20k is a range and not 15 and 20000.
"""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Literal, cast

from .numerals import chinese_number, english_number
from .text import normalise

Unit = Literal[
    "money",
    "years",
    "months",
    "weeks",
    "days",
    "hours",
    "minutes",
    "age",
    "cm",
    "kg",
    "jin",
    "lb",
    "km",
    "count",
]

_FRAGMENT = re.compile(r"\{([a-z_]+?)(2?)\}")
_NAMED_GROUP = re.compile(r"\(\?P<([a-z_]+)>")
_BELOW = re.compile(r"^(?:低于|少于|less|under|below|以下|<(?!=))")
_PERIOD_REACH = 8  # characters between an amount and 年薪 or "a year"


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount: `low == high` when it is one number, an open end is None.

    `low` alone: that much or more; `high` alone: at most that, or below it (`high_included`). Money is
    in whole currency units, whatever the text scaled by. `start`, `end` are code points of the original
    text, half-open.
    """

    low: float | None
    high: float | None
    unit: Unit
    currency: str | None
    """ISO 4217, or None when the text names none."""
    period: Literal["month", "year"] | None
    """What the money is paid for; None when the text does not say."""
    text: str
    start: int
    end: int
    rule_id: str
    high_included: bool = True
    """False for 以下 and "under", true for 以内 and "at most"."""

    @property
    def canonical(self) -> str:
        """The bare amount in one form: `15000-20000`, `20000+`, `<20000`, `<=3`, `7`."""
        if self.low is None:
            return f"{'<=' if self.high_included else '<'}{_plain(self.high)}"
        if self.high is None:
            return f"{_plain(self.low)}+"
        return _plain(self.low) if self.low == self.high else f"{_plain(self.low)}-{_plain(self.high)}"


@dataclass(frozen=True, slots=True)
class QuantityRule:
    """One rule with the examples that it is tested by."""

    rule_id: str
    unit: str
    description: str
    pattern: re.Pattern[str]
    positive: tuple[tuple[str, str], ...]
    """Text, and `canonical` of the one quantity in it."""
    negative: tuple[str, ...]
    """Texts in which this rule finds nothing."""


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities in `text`, in order, none overlapping."""
    norm = normalise(text)
    taken: list[tuple[int, int]] = []
    found: list[Quantity] = []
    for quantity in _candidates(norm.text):
        if _is_free(quantity, taken):
            found.append(quantity)
    found.sort(key=lambda quantity: quantity.start)
    return tuple(
        _in_original(one, *norm.span(one.start, one.end), text)
        for before, one in zip([None, *found], found, strict=False)
        if before is None or not _is_rate(before, one)
    )


def canonical(quantity: Quantity) -> str:
    """`quantity.canonical`, for use as a key."""
    return quantity.canonical


@cache
def quantity_rules() -> tuple[QuantityRule, ...]:
    """The rules in the order of the table."""
    table = _table()
    pieces = {name: _alternatives(entries) for name, entries in table["words"].items()} | table["fragments"]
    return tuple(
        QuantityRule(
            rule_id=entry["id"],
            unit=entry["unit"],
            description=entry["description"],
            pattern=re.compile(_expanded(entry["pattern"], pieces)),
            positive=tuple((text, amount) for text, amount in entry["positive"]),
            negative=tuple(entry["negative"]),
        )
        for entry in table["rule"]
    )


def quantities_of(rule: QuantityRule, text: str) -> tuple[Quantity, ...]:
    """What one rule sees in a normalised text; offsets are the normalised text's."""
    read = (_read(rule, match, text) for match in rule.pattern.finditer(text))
    return tuple(quantity for quantity in read if quantity is not None)


def _is_free(quantity: Quantity, taken: list[tuple[int, int]]) -> bool:
    """Take the place of a quantity unless an earlier rule has it; `taken` stays sorted and disjoint."""
    index = bisect_left(taken, (quantity.end,))
    if index and taken[index - 1][1] > quantity.start:
        return False
    taken.insert(index, (quantity.start, quantity.end))
    return True


def _is_rate(money: Quantity, length: Quantity) -> bool:
    """Whether a length is only what money is paid for (3500元一个月, "$120k a year")."""
    paid = money.period is not None and f"{money.period}s" == length.unit
    return paid and length.low == length.high == 1 and length.start - money.end <= 1


def _candidates(text: str) -> Iterable[Quantity]:
    for rule in quantity_rules():
        yield from quantities_of(rule, text)


def _in_original(quantity: Quantity, start: int, end: int, text: str) -> Quantity:
    return replace(quantity, start=start, end=end, text=text[start:end])


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}" if value != int(value) else str(int(value))


@cache
def _table() -> dict[str, Any]:
    path = resources.files(__package__).joinpath("lexicon/quantities.toml")
    return tomllib.loads(path.read_text("utf-8"))


def _alternatives(entries: Iterable[str]) -> str:
    ordered = sorted(entries, key=len, reverse=True)
    return "(?:" + "|".join(re.escape(entry).replace(r"\ ", r"\s+") for entry in ordered) + ")"


def _expanded(pattern: str, pieces: Mapping[str, str]) -> str:
    """Put in the fragments; `{name2}` is `{name}` with its groups named for a second alternative."""

    def piece(match: re.Match[str]) -> str:
        plain = _expanded(pieces[match[1]], pieces)
        return _NAMED_GROUP.sub(r"(?P<\g<1>2>", plain) if match[2] else plain

    return _FRAGMENT.sub(piece, pattern)


def _read(rule: QuantityRule, match: re.Match[str], text: str) -> Quantity | None:
    found = {name.removesuffix("2"): value for name, value in match.groupdict().items() if value is not None}
    ends = _height(found) if rule.rule_id == "height_zh" else _ends(found)
    if ends is None:
        return None
    unit = rule.unit if "unit" not in found else _table()["words"]["unit"][" ".join(found["unit"].split())]
    if unit == "years" and ends[0] is not None and 1900 <= ends[0] <= 2100:
        return None  # a calendar year
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    money = unit == "money"
    return Quantity(
        low=ends[0],
        high=ends[1],
        unit=cast(Unit, unit),
        currency=_currency(found) if money else None,
        period=_period(text, match.start(), match.end()) if money else None,
        text=match[0].strip(),
        start=start,
        end=match.start() + len(match[0].rstrip()),
        rule_id=rule.rule_id,
        high_included=_BELOW.search(found.get("ceiling", found.get("ceiling_behind", ""))) is None,
    )


def _ends(found: Mapping[str, str]) -> tuple[float | None, float | None] | None:
    if "about" in found:
        return {"二十几": 20.0, "三十几": 30.0, "几百": 100.0, "上百": 100.0}.get(found["about"], 10.0), None
    low = _number(found["low"])
    if low is None:
        return None
    if "high" in found:
        return _range(low, found)
    low = low * _scale(found.get("low_scale")) + (0.5 if "half" in found or "half_behind" in found else 0)
    if "ceiling" in found or "ceiling_behind" in found:
        if re.search(r"n't\s|not?\s|nothing\s", found.get("ceiling", "")):
            return low, None
        return None, low
    return low, None if "floor" in found or "floor_behind" in found else low


def _range(low: float, found: Mapping[str, str]) -> tuple[float, float] | None:
    """Both ends of a range; a scale on the right counts for the left too (15-20k)."""
    high = _number(found["high"])
    if high is None:
        return None
    right = _scale(found.get("high_scale"))
    left = _scale(found["low_scale"]) if "low_scale" in found else right
    low, high = low * left, high * right
    return (low, high) if low < high else None


def _number(text: str) -> float | None:
    value = chinese_number(text.replace(",", ""))
    return english_number(text) if value is None else value


def _scale(name: str | None) -> float:
    return 1.0 if name is None else float(_table()["words"]["scale"][name])


def _height(found: Mapping[str, str]) -> tuple[float, float] | None:
    if "metres" in found:
        centimetres = round(float(found["metres"]) * 100)
    else:
        behind = _number(found["centimeters"])
        if behind is None:
            return None
        digits = len(found["centimeters"])
        meters = _number(found["meters"]) or 0
        centimetres = round(100 * meters + (behind * 10 if digits == 1 else behind))
    return float(centimetres), float(centimetres)


def _currency(found: Mapping[str, str]) -> str | None:
    named = found.get("currency") or found.get("currency_before")
    return None if named is None else _table()["words"]["currency"][named.strip()]


def _period(text: str, start: int, end: int) -> Literal["month", "year"] | None:
    """What the money is for, said close before or right behind it."""
    before, behind = text[max(0, start - _PERIOD_REACH) : start], text[end : end + 14].lstrip(" ,(")
    periods: Mapping[str, Literal["month", "year"]] = _table()["words"]["period"]
    inside = text[start:end]
    for name, period in periods.items():
        if name in before or name in inside or behind.startswith(name):
            return period
    return None
