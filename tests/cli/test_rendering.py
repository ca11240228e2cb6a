"""Text in a terminal: widths of Hanzi, what must not reach it, tables, short ids, times."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memstrata.adapters.console import tables, text
from memstrata.adapters.console.ids import ShortIds
from memstrata.adapters.console.memories import pieces
from memstrata.adapters.console.moments import AsOf, Moment
from memstrata.adapters.console.session import to_json
from memstrata.domain.errors import AmbiguousIdError, NotFoundError


@pytest.mark.parametrize(
    ("given", "columns"),
    [("", 0), ("abc", 3), ("周报", 4), ("a周", 3), ("ｅ", 2), ("e\u0301", 1), ("👩\u200d💻", 2), ("！", 2)],
)
def test_width_counts_the_columns_of_a_terminal(given: str, columns: int) -> None:
    assert text.width(given) == columns


def test_text_of_users_cannot_steer_the_terminal() -> None:
    assert (
        text.clean("a\x1b[2Jb\x9bc\nd\u202ee\u2028f\x7f") == "a\\u001b[2Jb\\u009bc d\\u202ee\\u2028f\\u007f"
    )


@pytest.mark.parametrize(("columns", "shown"), [(8, "周报写短"), (7, "周报写…"), (6, "周报…"), (2, "…")])
def test_text_is_cut_at_a_column_and_never_through_a_character(columns: int, shown: str) -> None:
    assert text.fit("周报写短", columns) == shown
    assert text.width(shown) <= columns


def test_a_table_is_fitted_to_the_terminal_and_left_alone_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["1", "长" * 40], ["20", "x"]]

    piped = tables.table([">n", "content"], rows)
    monkeypatch.setattr(tables, "terminal_width", lambda: 40)
    fitted = tables.table([">n", "content"], rows)

    assert piped[1] == " 1  " + "长" * 40
    assert fitted[1] == " 1  " + "长" * 17 + "…"
    assert [text.width(line) <= 40 for line in fitted] == [True] * 3
    assert tables.table(["n"], []) == []


def test_a_narrow_column_is_not_blown_up_by_a_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "terminal_width", lambda: 80)

    assert tables.table(["a", ">b"], [["x", "1"]]) == ["a  b", "x  1"]


def test_ids_are_as_short_as_is_unambiguous() -> None:
    known = ["aaaaaaaa1" + "0" * 23, "aaaaaaaa2" + "0" * 23, "b" * 32]

    def resolve(digits: str) -> str:
        found = [one for one in known if one.startswith(digits)]
        if len(found) > 1:
            raise AmbiguousIdError(digits, tuple(found))
        if not found:
            raise NotFoundError("memory", digits)
        return found[0]

    short = ShortIds(resolve)

    assert [short(one) for one in known] == ["aaaaaaaa1000", "aaaaaaaa2000", "bbbbbbbb"]
    assert short("c" * 32) == "cccccccc"
    assert short(None) == ""


def test_a_moment_is_shown_in_its_own_zone() -> None:
    moment = datetime(2026, 10, 8, 1, 30, tzinfo=UTC)

    assert text.stamp(moment, timezone(timedelta(hours=8))) == "2026-10-08 09:30+08"
    assert text.stamp(moment.astimezone(timezone(timedelta(hours=5, minutes=45)))) == "2026-10-08 07:15+05:45"
    assert text.stamp(None) == ""


def test_a_date_means_its_end_and_for_a_start_its_beginning() -> None:
    end = Moment().convert("2026-10-15", None, None)
    start = Moment(start=True).convert("2026-10-15", None, None)

    assert (start.hour, start.minute, start.day) == (0, 0, 15)
    assert end - start == timedelta(days=1) - timedelta(microseconds=1)
    assert AsOf().convert("42", None, None) == 42
    assert AsOf().convert("2026-10-15", None, None) == end
    with_offset = Moment().convert("2026-10-15T09:30:00+08:00", None, None)
    assert with_offset == datetime(2026, 10, 15, 1, 30, tzinfo=UTC)


def test_differences_are_shown_by_hanzi_and_by_latin_word() -> None:
    assert pieces("期望薪资 15-20k", "期望薪资 25k 以上") == [
        ("same", "期望薪资 "),
        ("removed", "15-20k"),
        ("added", "25k 以上"),
    ]


def test_json_is_one_line_of_valid_utf_8() -> None:
    assert to_json({"a": "周\n报\ud800"}) == '{"a": "周\\n报\\ud800"}'
