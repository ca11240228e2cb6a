"""The example conversations: readable, repeatable, and telling what the README beside them says."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from memstrata import Memstrata, Turn
from memstrata.adapters.importers import Defaults, read_turns

OWNER = "demo/one"
NAMES = ("job-search.zh", "companion.zh", "office-writing.zh", "coding.en", "booking.mixed")
WRITTEN = datetime.fromisoformat("2026-11-30T00:00:00+00:00")
SECRETS = ("13800138000", "doufu-2026-home", "Qz7!fake-Pass", "FAKE00fake11FAKE22", "4111 1111")


def turns_of(root: Path, name: str) -> list[Turn]:
    read = read_turns((root / "examples" / f"{name}.jsonl").read_bytes(), Defaults())
    assert read.problems == []
    return [placed.turn for placed in read.turns]


def taken_in(root: Path, name: str) -> Iterator[Memstrata]:
    with Memstrata.open("sqlite://") as memory:
        memory.ingest(OWNER, turns_of(root, name), simulated_clock=True)
        yield memory


@pytest.fixture(scope="module")
def job_search(repository_root: Path) -> Iterator[Memstrata]:
    yield from taken_in(repository_root, "job-search.zh")


@pytest.fixture(scope="module")
def office(repository_root: Path) -> Iterator[Memstrata]:
    yield from taken_in(repository_root, "office-writing.zh")


def test_every_example_is_listed_and_tried(repository_root: Path) -> None:
    folder = repository_root / "examples"
    readme = (folder / "README.md").read_text("utf-8")

    assert sorted(path.name for path in folder.glob("*.jsonl")) == sorted(f"{name}.jsonl" for name in NAMES)
    for name in NAMES:
        assert f"| `{name}.jsonl` | {len(turns_of(repository_root, name))}, " in readme


@pytest.mark.parametrize("name", NAMES)
def test_the_turns_are_in_order_past_and_told_apart(repository_root: Path, name: str) -> None:
    turns = turns_of(repository_root, name)

    times = [turn.at for turn in turns if turn.at is not None]
    assert len(times) == len(turns)
    assert times == sorted(times)
    assert times[-1] < WRITTEN
    assert len({(turn.session, turn.message_id) for turn in turns}) == len(turns)
    assert all(turn.assistant for turn in turns)


@pytest.mark.parametrize("name", NAMES)
def test_taking_it_in_again_writes_nothing_and_no_secret_stays(repository_root: Path, name: str) -> None:
    turns = turns_of(repository_root, name)
    with Memstrata.open("sqlite://") as memory:
        first = memory.ingest(OWNER, turns, simulated_clock=True)
        written = [recorded.event.model_dump_json() for recorded in memory.log(OWNER)]

        again = memory.ingest(OWNER, turns)

        assert [report.status for report in first.turns] == ["new"] * len(turns)
        assert {report.status for report in again.turns} == {"known"}
        assert len(list(memory.log(OWNER))) == len(written)
        assert not [secret for secret in SECRETS if secret in "".join(written)]
        assert memory.rebuild(check=True).same


def moment(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00+08:00")


def values(memory: Memstrata, attribute: str, *, on: str, known: str | None = None) -> list[str | None]:
    listed = memory.memories(OWNER, as_of=moment(known) if known else None, valid_at=moment(on))
    return [one.statement.value for one in listed if one.statement and one.statement.attribute == attribute]


def test_one_sees_why_the_offer_was_turned_down(job_search: Memstrata) -> None:
    assert values(job_search, "expected_salary", on="2026-09-22", known="2026-09-22") == ["15000-20000"]
    assert values(job_search, "expected_salary", on="2026-09-22") == ["15000-20000"]
    assert values(job_search, "expected_salary", on="2026-10-05") == ["20000+"]


def test_a_low_evening_is_no_state(job_search: Memstrata) -> None:
    assert values(job_search, "job_search_status", on="2026-09-11", known="2026-09-11") == ["投递中"]


def test_once_hired_the_search_is_over(job_search: Memstrata) -> None:
    assert values(job_search, "job_search_status", on="2026-10-14") != []
    assert values(job_search, "job_search_status", on="2026-10-20") == []


def test_a_quoted_life_is_not_the_users(job_search: Memstrata) -> None:
    assert values(job_search, "city", on="2026-09-20") == ["杭州"]


def test_a_report_kept_short_this_once_is_no_standing_wish(office: Memstrata) -> None:
    known = office.memories(OWNER, as_of=moment("2026-09-07"), valid_at=moment("2026-09-07"))

    statements = [one.statement for one in known if one.statement]
    assert [(s.type, s.scope.kind, s.end.kind) for s in statements] == [
        ("constraint", "current_task", "task_finished")
    ]


def standing_wishes(memory: Memstrata, *, on: str) -> list[tuple[int, str]]:
    """Chain version and content of the standing instructions for writing, as known on that day."""
    listed = memory.memories(OWNER, as_of=moment(on), valid_at=moment(on))
    return [
        (one.memory.chain_version, one.memory.content)
        for one in listed
        if one.memory.attribute == "instruction" and one.memory.scope_kind == "family"
    ]


def test_a_wish_for_mails_leaves_the_one_for_reports_alone(office: Memstrata) -> None:
    reports, mails = standing_wishes(office, on="2026-09-12")

    assert (reports[0], mails[0]) == (1, 1)
    assert "结论" in reports[1]
    assert "祝好" in mails[1]


def test_what_is_wanted_from_now_on_changes_the_wish_for_reports(office: Memstrata) -> None:
    reports, mails = standing_wishes(office, on="2026-09-18")

    assert (reports[0], mails[0]) == (2, 1)
    assert "风险" in reports[1]
    assert "祝好" in mails[1]


def test_the_same_hint_in_three_tasks_becomes_a_habit(office: Memstrata) -> None:
    assert values(office, "habit", on="2026-09-20", known="2026-09-20") == []
    assert values(office, "habit", on="2026-09-22") == ["关键事项"]
