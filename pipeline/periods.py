"""Calendar arithmetic: what the named pieces of a time expression mean on a given day.

A reader turns the pieces that a pattern found into a `Period`. Where the pieces do not settle it
(30 February, a festival outside the table), it answers None rather than guess.
"""

import calendar
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from datetime import time as clock_time
from typing import Any, Final, Literal

from .numerals import chinese_number, english_number

Precision = Literal["minute", "day", "week", "month", "year"]
Prefer = Literal["future", "past"]

_EARLY_DAYS: Final = 5  # 月初, "early March"
_LATE_DAYS: Final = 5  # 月底, "late March": the last days


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of the calendar, half-open."""

    start: datetime
    end: datetime
    precision: Precision
    closing: bool = False
    """Named by its end (月底, "the end of March"), so that "before" it includes its last day."""
    floating: bool = False
    """Year, month or week were not said but taken to be the nearest."""
    length: bool = False
    """Counted from now (两周内): the whole of it is meant."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """What a pattern found, and the words to read it by."""

    found: Mapping[str, str | None]
    words: Mapping[str, Mapping[str, Any]]
    lunar: Mapping[str, list[str]]
    options: Mapping[str, Any]
    now: datetime
    zone: tzinfo
    prefer: Prefer

    def has(self, name: str) -> bool:
        """Whether the pattern found this piece."""
        return self.found.get(name) is not None

    def word(self, name: str, table: str | None = None) -> Any:
        """What the piece stands for in its table; None when it was not found."""
        text = self.found.get(name)
        return None if text is None else self.words[table or name][" ".join(text.split())]

    def number(self, name: str) -> int | None:
        """The piece as a whole number; None when it was not found."""
        value = self.amount(name)
        return None if value is None else int(value)

    def amount(self, name: str) -> float | None:
        """The piece as a number in digits or words of either language."""
        text = self.found.get(name)
        if text is None:
            return None
        ordinal = self.words.get("ordinal", {}).get(" ".join(text.split()))
        if ordinal is not None:
            return float(ordinal)
        value = chinese_number(text)
        return english_number(text) if value is None else value

    @property
    def today(self) -> date:
        """The day it is in the zone."""
        return self.now.date()

    def relative(self, default: int = 0) -> int:
        """How many periods on from the present one (下 = 1)."""
        value = self.word("relative")
        return default if value is None else int(value)

    def year(self) -> int | None:
        """The year that was said, in figures or as 明年; None when none was."""
        if (said := self.number("year")) is not None:
            return said
        offset = self.word("relative_year") if self.has("relative_year") else None
        for name in ("relative_name", "relative_of"):
            if offset is None and self.has(name):
                offset = self.word(name, "relative")
        return None if offset is None else self.today.year + int(offset)

    def days(self, start: date, end: date, precision: Precision, **more: bool) -> Period:
        """The period from midnight of `start` to midnight of `end`."""
        return Period(self.midnight(start), self.midnight(end), precision, **more)

    def midnight(self, day: date) -> datetime:
        """The beginning of a day."""
        return datetime.combine(day, clock_time(), self.zone)

    def nearest(self, candidates: list[date]) -> date | None:
        """The first candidate from today on, or the last one up to today, as preferred."""
        if self.prefer == "future":
            return min((day for day in candidates if day >= self.today), default=None)
        return max((day for day in candidates if day <= self.today), default=None)


def add_months(day: date, months: int) -> date:
    """The same day of another month, or that month's last day where there is none."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _safe_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _month_number(pieces: Pieces) -> int | None:
    if pieces.has("month_name"):
        return int(pieces.word("month_name", "month"))
    return pieces.number("month")


def _one_day(pieces: Pieces, day: date | None, *, floating: bool = False) -> Period | None:
    if day is None:
        return None
    whole = pieces.days(day, day + timedelta(1), "day", floating=floating)
    part = pieces.word("part_of_day") if pieces.has("part_of_day") else None
    return whole if part is None else _hours_of(whole, part)


def _hours_of(day: Period, hours: list[int]) -> Period:
    start = day.start + timedelta(hours=hours[0])
    return replace(day, start=start, end=day.start + timedelta(hours=hours[1]), precision="minute")


def read_date(pieces: Pieces) -> Period | None:
    """A day of a month, with or without its year."""
    month, day = _month_number(pieces), pieces.number("day")
    if month is None or day is None:
        return None
    if (year := pieces.year()) is not None:
        return _one_day(pieces, _safe_date(year, month, day))
    years = range(pieces.today.year - 8, pieces.today.year + 9)  # 29 February may be eight years off
    days = [found for year in years if (found := _safe_date(year, month, day))]
    return _one_day(pieces, pieces.nearest(days), floating=True)


def read_day_of_month(pieces: Pieces) -> Period | None:
    """A day of this, another, or the nearest fitting month."""
    day = pieces.number("day")
    if day is None:
        return None
    first = pieces.today.replace(day=1)
    if pieces.has("relative"):
        month = add_months(first, pieces.relative())
        return _one_day(pieces, _safe_date(month.year, month.month, day))
    months = [add_months(first, offset) for offset in range(-3, 4)]
    days = [found for month in months if (found := _safe_date(month.year, month.month, day))]
    return _one_day(pieces, pieces.nearest(days), floating=True)


def read_month(pieces: Pieces) -> Period | None:
    """A named month or a part of it."""
    month = _month_number(pieces)
    if month is None:
        return None
    year = pieces.year()
    if year is not None:
        return _month_part(pieces, date(year, month, 1))
    this = pieces.today.replace(day=1)
    year = this.year
    if pieces.prefer == "future":
        year += month < this.month
    else:
        year -= month > this.month
    return _month_part(pieces, date(year, month, 1), floating=True)


def read_relative_month(pieces: Pieces) -> Period | None:
    """This or another month, counted from the present one."""
    first = add_months(pieces.today.replace(day=1), pieces.relative())
    return _month_part(pieces, first, part="late" if pieces.has("month_end") else None)


def _part(pieces: Pieces, part: str | None = None) -> str | None:
    return part if part is not None else pieces.word("part") if pieces.has("part") else None


def _month_part(pieces: Pieces, first: date, *, part: str | None = None, floating: bool = False) -> Period:
    following = add_months(first, 1)
    start, end = {
        None: (first, following),
        "early": (first, first + timedelta(_EARLY_DAYS)),
        "early_third": (first, first + timedelta(10)),
        "mid": (first + timedelta(10), first + timedelta(20)),
        "late_third": (first + timedelta(20), following),
        "late": (following - timedelta(_LATE_DAYS), following),
    }[_part(pieces, part)]
    closing = _part(pieces, part) in ("late", "late_third")
    return pieces.days(
        start, end, "month" if _part(pieces, part) is None else "day", closing=closing, floating=floating
    )


def read_year(pieces: Pieces) -> Period | None:
    """A year, its half, quarter, beginning, middle or end."""
    year = pieces.year()
    if year is None:
        year = pieces.today.year + pieces.relative()
    if pieces.has("half"):
        return _months(pieces, year, 6 * pieces.word("half") - 5, 6)
    if pieces.has("quarter"):
        return _quarter(pieces, date(year, 3 * pieces.word("quarter") - 2, 1))
    part = "late" if pieces.has("year_end") else pieces.word("year_part") if pieces.has("year_part") else None
    match _part(pieces, part):
        case "early":
            return _months(pieces, year, 1, 1)
        case "mid":
            return _months(pieces, year, 6, 2)
        case "late":
            return _months(pieces, year, 12, 1, closing=True)
        case _:
            return pieces.days(date(year, 1, 1), date(year + 1, 1, 1), "year")


def _months(pieces: Pieces, year: int, month: int, count: int, *, closing: bool = False) -> Period:
    first = date(year, month, 1)
    return pieces.days(first, add_months(first, count), "month", closing=closing)


def _quarter(pieces: Pieces, first: date) -> Period:
    if _part(pieces) == "late":
        return pieces.days(add_months(first, 2), add_months(first, 3), "month", closing=True)
    return pieces.days(first, add_months(first, 3), "month")


def read_relative_quarter(pieces: Pieces) -> Period | None:
    """This or another quarter."""
    first = date(pieces.today.year, 3 * ((pieces.today.month - 1) // 3) + 1, 1)
    return _quarter(pieces, add_months(first, 3 * pieces.relative()))


def read_week(pieces: Pieces) -> Period | None:
    """A week from Monday to Sunday."""
    shift = pieces.options.get("shift", pieces.relative())
    monday = pieces.today - timedelta(pieces.today.weekday()) + timedelta(weeks=shift)
    if _part(pieces) == "early":
        return pieces.days(monday, monday + timedelta(2), "day")
    closing = pieces.has("week_end") or _part(pieces) == "late"
    return pieces.days(monday, monday + timedelta(7), "week", closing=closing)


def read_weekend(pieces: Pieces) -> Period | None:
    """Saturday and Sunday."""
    monday = pieces.today - timedelta(pieces.today.weekday())
    saturday = monday + timedelta(5, weeks=pieces.relative())
    return pieces.days(saturday, saturday + timedelta(2), "day")


def read_weekday(pieces: Pieces) -> Period | None:
    """A day of the week.

    With 这, 下, 上 or "next" it is that day of the calendar week meant; "last" is the most recent one
    before today; bare, "this" or "coming" the nearest.
    """
    weekday = int(pieces.word("weekday"))
    monday = pieces.today - timedelta(pieces.today.weekday())
    if pieces.has("week_after"):
        week = 1 if str(pieces.found["week_after"]).startswith("next") else 0
        return _one_day(pieces, monday + timedelta(weekday, weeks=week))
    said = (pieces.found.get("relative") or "").strip()
    if said in ("", "the", "coming", "upcoming", "the coming", "this coming"):
        days = [monday + timedelta(weekday, weeks=week) for week in (-1, 0, 1)]
        return _one_day(pieces, pieces.nearest(days), floating=True)
    day = monday + timedelta(weekday, weeks=pieces.relative())
    if pieces.relative() == -1 and said.isascii():
        day = pieces.today - timedelta((pieces.today.weekday() - weekday - 1) % 7 + 1)
    return _one_day(pieces, day)


def read_relative_day(pieces: Pieces) -> Period | None:
    """Today, tomorrow, 后天, or a part of such a day."""
    offset = 0
    for name in ("day", "short_day"):
        if pieces.has(name):
            offset = int(pieces.word(name))
    whole = _one_day(pieces, pieces.today + timedelta(offset))
    if whole is None or not pieces.has("this_part"):
        return whole
    return _hours_of(whole, pieces.word("this_part", "part_of_day"))


def read_offset(pieces: Pieces) -> Period | None:
    """A day or moment so long from now: its day, for months and years as well."""
    amount, unit = pieces.amount("count"), pieces.word("unit")
    if amount is None:
        return None
    amount *= pieces.options.get("direction", 1)
    if unit in ("minute", "hour"):
        moment = pieces.now + timedelta(**{f"{unit}s": amount})
        return Period(moment, moment, "minute")
    day = _moved(pieces.today, amount, unit)
    precision: Precision = "month" if unit == "year" and amount != int(amount) else unit
    return None if day is None else pieces.days(day, day + timedelta(1), precision)


def _moved(day: date, amount: float, unit: str) -> date | None:
    try:
        match unit:
            case "day":
                return day + timedelta(amount) if amount == int(amount) else None
            case "week":
                return day + timedelta(weeks=amount) if amount == int(amount) else None
            case "month":
                whole = add_months(day, int(amount))
                return whole + timedelta(int((amount - int(amount)) * 30))
            case _:
                return add_months(day, int(amount * 12))
    except (OverflowError, ValueError):
        return None


def read_length(pieces: Pieces) -> Period | None:
    """From now for so long; the last day counts whole."""
    unit = pieces.word("unit")
    amount = pieces.amount("count") if pieces.has("count") else 1.0
    if amount is None:
        return None
    if unit in ("minute", "hour"):
        return Period(pieces.now, pieces.now + timedelta(**{f"{unit}s": amount}), "minute", length=True)
    last = _moved(pieces.today, amount, unit)
    return (
        None if last is None else Period(pieces.now, pieces.midnight(last + timedelta(1)), unit, length=True)
    )


def read_festival(pieces: Pieces) -> Period | None:
    """A festival of the solar calendar, or one of the lunar calendar within the table."""
    rule = str(pieces.word("festival"))
    year = pieces.year()
    if year is None and pieces.has("relative"):
        year = None if pieces.relative() == 0 else pieces.today.year + pieces.relative()
    years = range(pieces.today.year - 1, pieces.today.year + 2) if year is None else [year]
    stretches = [found for each in years if (found := _festival(rule, each, pieces.lunar))]
    if year is None:
        stretches = [one for one in stretches if _fits(one, pieces)]
    if not stretches:
        return None
    start, end = stretches[0] if pieces.prefer == "future" else stretches[-1]
    return pieces.days(start, end, "day", floating=year is None)


def _fits(stretch: tuple[date, date], pieces: Pieces) -> bool:
    return stretch[1] > pieces.today if pieces.prefer == "future" else stretch[0] <= pieces.today


def _festival(rule: str, year: int, lunar: Mapping[str, list[str]]) -> tuple[date, date] | None:
    name, _, length = rule.partition("/")
    key = name.rstrip("0123456789").rstrip("+-") if name[0].isalpha() else name
    first = _fixed_day(key, year, lunar)
    if first is None:
        return None
    start = first + timedelta(int(name[len(key) :] or 0))
    return start, start + timedelta(int(length or 1))


def _fixed_day(key: str, year: int, lunar: Mapping[str, list[str]]) -> date | None:
    if key[0].isdigit():
        return date.fromisoformat(f"{year}-{key}")
    match key:
        case "easter":
            return _easter(year)
        case "thanksgiving":
            return _nth_weekday(year, 11, calendar.THURSDAY, 4)
        case "labor_day":
            return _nth_weekday(year, 9, calendar.MONDAY, 1)
        case "memorial_day":
            return date(year, 5, 31) - timedelta(date(year, 5, 31).weekday())
        case _:
            return next((date.fromisoformat(day) for day in lunar[key] if day.startswith(f"{year}-")), None)


def _nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta((weekday - first.weekday()) % 7 + 7 * (nth - 1))


def _easter(year: int) -> date:
    """Western Easter, by the Gregorian computus for 1900 to 2099."""
    moon = (19 * (year % 19) + 24) % 30
    sunday = (2 * (year % 4) + 4 * (year % 7) + 6 * moon + 5) % 7
    days = moon + sunday
    if days == 35 or (days == 34 and moon == 28 and year % 19 > 10):
        days -= 7
    return date(year, 3, 22) + timedelta(days)


def read_clock(pieces: Pieces) -> Period | None:
    """A time of day: today, or tomorrow where it has gone by (with `prefer="past"`: the last one)."""
    if (minutes := clock_minutes(pieces)) is None:
        return None
    moment = pieces.midnight(pieces.today) + timedelta(minutes=minutes)
    if pieces.prefer == "future" and moment < pieces.now:
        moment += timedelta(1)
    elif pieces.prefer == "past" and moment > pieces.now:
        moment -= timedelta(1)
    return Period(moment, moment, "minute", floating=True)


def clock_minutes(pieces: Pieces) -> int | None:
    """Minutes since midnight; None when the hour is impossible."""
    if pieces.has("clock_word"):
        return 60 * int(pieces.word("clock_word"))
    hour = pieces.number("oclock") if pieces.has("oclock") else pieces.number("hour")
    minute = pieces.number("minute") or pieces.number("minutes") or 0
    minute += 30 * pieces.has("half_hour") + 15 * pieces.has("quarter_hour")
    if hour is None or hour > 24:
        return None
    if pieces.has("half_day"):
        hour = hour % 12 + (12 if str(pieces.found["half_day"]).startswith("p") else 0)
    elif pieces.has("part_of_day") and hour < 12 and _is_after_noon(pieces, hour):
        hour += 12
    return 60 * hour + minute


def _is_after_noon(pieces: Pieces, hour: int) -> bool:
    begins, ends = pieces.word("part_of_day")
    return bool(ends > 12 and hour + 12 <= ends and not begins <= hour)


def read_now(pieces: Pieces) -> Period | None:
    """The present moment."""
    return Period(pieces.now, pieces.now, "minute")


READERS: Final[Mapping[str, Callable[[Pieces], Period | None]]] = {
    "clock": read_clock,
    "date": read_date,
    "day_of_month": read_day_of_month,
    "festival": read_festival,
    "length": read_length,
    "month": read_month,
    "now": read_now,
    "offset": read_offset,
    "relative_day": read_relative_day,
    "relative_month": read_relative_month,
    "relative_quarter": read_relative_quarter,
    "week": read_week,
    "weekday": read_weekday,
    "weekend": read_weekend,
    "year": read_year,
}
"""What the tables call a reader."""
