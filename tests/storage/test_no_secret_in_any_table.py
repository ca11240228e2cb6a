"""What was masked stands in no table, no index, no log file and no answer, in no spelling."""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memstrata import Memstrata, Selector, Turn
from memstrata.application.importing import ImportedMemory
from memstrata.domain.errors import InvalidInputError, MemstrataError
from memstrata.domain.turn import ContextItem
from memstrata.pipeline.secrets import PLACEHOLDER, find_secrets, mask

OWNER = "acme/lin"
START = datetime(2026, 10, 8, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Secret:
    """A sentence that tells a secret, and the secret as it is written there."""

    sentence: str
    value: str


def _card(noise: random.Random) -> str:
    """A card number with a right check digit."""
    digits = [4, *(noise.randrange(10) for _ in range(14))]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[::2])
    return "".join(map(str, [*digits, -(doubled + sum(digits[1::2])) % 10]))


def _letters(noise: random.Random, count: int, alphabet: str) -> str:
    return "".join(noise.choice(alphabet) for _ in range(count))


LOWER, UPPER, DIGITS = "abcdefghjkmnpqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789"


def _strong(noise: random.Random) -> str:
    mixed = [_letters(noise, 5, LOWER), _letters(noise, 4, UPPER), _letters(noise, 4, DIGITS)]
    return mixed[0] + mixed[2] + mixed[1]


@st.composite
def secrets(draw: st.DrawFn) -> Secret:
    """A secret of any kind in any way of saying it, Chinese or English, plain or in full width."""
    noise = random.Random(draw(st.integers(0, 10**9)))
    value, ways = draw(
        st.sampled_from(
            [
                (
                    _strong(noise),
                    ["密码是 {}", "my password is {}", "wifi password: {}", "登录口令改成了 {}"],
                ),
                (_strong(noise), ["token={}", "api_key: {}", "我的 API key 是 {}"]),
                ("139" + _letters(noise, 8, DIGITS), ["手机号 {}", "call me at {}", "打 {} 找我"]),
                (_card(noise), ["卡号 {}", "my card is {}", "就刷 {} 那张"]),
                (f"{_letters(noise, 9, LOWER)}@{_letters(noise, 6, LOWER)}.example", ["邮箱 {}", "mail {}"]),
            ]
        )
    )
    value = draw(st.sampled_from([value, value, _full_width(value)]))
    return Secret(draw(st.sampled_from(ways)).format(value), value)


def _full_width(text: str) -> str:
    return "".join(chr(ord(ch) + 0xFEE0) if ch.isalnum() else ch for ch in text)


AROUND = [
    "以后叫我小满",
    "I live in Leeds",
    "我对坚果过敏",
    "以后写周报先写结论",
    "my dog is called Moss",
    "这次短一点",
    "哈哈",
]
SEPARATORS = ["，", "。", " ", "\n", "; ", " 👩\u200d👧 ", "\u3000"]


@st.composite
def told(draw: st.DrawFn) -> tuple[str, Secret]:
    """A message with a secret among other things, said once or twice."""
    secret = draw(secrets())
    pieces = draw(st.lists(st.sampled_from(AROUND), max_size=3))
    pieces.insert(draw(st.integers(0, len(pieces))), secret.sentence)
    if draw(st.booleans()):
        pieces.append(f"({secret.value})")
    return draw(st.sampled_from(SEPARATORS)).join(pieces), secret


def forms(value: str) -> set[str]:
    """Ways in which text that holds the value may hold it."""
    plain = unicodedata.normalize("NFKC", value)
    spelled = {value, plain}
    spelled |= {
        change(one) for one in spelled for change in (str.lower, str.upper, str.swapcase, str.casefold)
    }
    return spelled | {json.dumps(one)[1:-1] for one in spelled} | {one[::-1] for one in spelled}


def encoded(value: str) -> set[bytes]:
    return {
        form.encode(encoding) for form in forms(value) for encoding in ("utf-8", "utf-16-le", "utf-16-be")
    }


def cells(path: Path) -> Iterator[tuple[str, bytes]]:
    """Everything in every table, hidden ones too, as anybody with SQLite sees it."""
    with closing(sqlite3.connect(path)) as raw:
        for (name,) in raw.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        ).fetchall():
            for row in raw.execute(f'SELECT * FROM "{name}"'):
                for cell in row:
                    if isinstance(cell, str | bytes):
                        yield name, cell.encode() if isinstance(cell, str) else cell


def found_in_tables(path: Path, value: str) -> set[str]:
    wanted = encoded(value)
    return {name for name, cell in cells(path) if any(one in cell for one in wanted)}


def found_in_files(folder: Path, value: str) -> set[str]:
    wanted = encoded(value)
    return {file.name for file in folder.iterdir() if any(one in file.read_bytes() for one in wanted)}


@given(told(), st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_told_secret_is_in_no_table_and_no_file(said: tuple[str, Secret], everywhere: bool) -> None:
    text, secret = said
    assert PLACEHOLDER in mask(text, find_secrets(text)), text
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "store.db"
        more = {
            "assistant": text,
            "task": text,
            "project": text[:400],
            "summary": text,
            "recent_tasks": (text,),
            "context": (ContextItem(role="tool", text=f"以后请记住，一直用中文回答。{text}"),),
        }
        turns = [
            Turn(user=text, session="s", message_id="m1", at=START, **(more if everywhere else {})),
            Turn(user=text, session="s", at=START + timedelta(minutes=1)),
            Turn(user="我住在泉州", session="s", at=START + timedelta(minutes=2)),
        ]
        with Memstrata.open(str(path)) as memory:
            memory.ingest(OWNER, turns)
            memory.ingest(OWNER, [turns[0].model_copy(update={"user": f"{text} 又一次"})], revise=True)
            for batch in [b.batch_id for b in memory.batches(OWNER)]:
                memory.apply(OWNER, memory.plan_undo(OWNER, batch), reason=text)
            memory.apply(OWNER, memory.plan_rollback(OWNER, Selector(session="s")), reason=text)
            memory.rebuild()

            assert (Path(place) / "store.db-wal").stat().st_size > 0
            assert found_in_files(Path(place), secret.value) == set()
            assert found_in_tables(path, secret.value) == set()
        assert found_in_files(Path(place), secret.value) == set()


@given(told())
@settings(max_examples=20, deadline=None)
def test_what_people_write_keeps_no_secret_and_errors_say_none(said: tuple[str, Secret]) -> None:
    text, secret = said
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "store.db"
        with Memstrata.open(str(path)) as memory:
            city = ImportedMemory(content="用户住在泉州", attribute="city", value="泉州")
            (memory_id,) = memory.import_memories(OWNER, [city], reason=text).memories
            errors = []
            for act in (
                lambda: memory.confirm(OWNER, memory_id, note=text),
                lambda: memory.correct(OWNER, memory_id, text),
                lambda: memory.import_memories(OWNER, [ImportedMemory(content=text)]),
                lambda: memory.import_memories(OWNER, [ImportedMemory(content="x y", value=text)]),
                lambda: memory.reject(OWNER, memory_id, note=text),
                lambda: memory.ingest(OWNER, [Turn(user=text, session="s", tz="Mars/Base")]),
                lambda: memory.ingest(OWNER, [Turn(user=f"{text}\0", session="s")]),
                lambda: memory.ingest(OWNER, [Turn(user=text, session="s", at=START + timedelta(days=9999))]),
                lambda: memory.ingest(OWNER, [Turn(user=text, session="s", message_id="m", at=START)]),
                lambda: memory.ingest(
                    OWNER, [Turn(user=f"no. {text}", session="s", message_id="m", at=START)]
                ),
                lambda: memory.forget(OWNER, memory_id, note=text),
            ):
                try:
                    act()
                except MemstrataError as error:
                    errors.append(f"{error!r} {error} {vars(error)} {error.__cause__}")

            assert len(errors) >= 6
            assert [one for one in errors for form in forms(secret.value) if form in one] == []
            assert found_in_tables(path, secret.value) == set()
            assert found_in_files(Path(place), secret.value) == set()


def test_a_value_that_is_no_text_is_not_repeated_by_the_error() -> None:
    with pytest.raises(InvalidInputError) as caught:
        Turn.model_validate({"user": ["密码是 kR7-pass-04"], "session": "s"})

    assert "kR7" not in f"{caught.value!r} {vars(caught.value)}"


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """The tests above look for nothing; here the same look finds a value in every spelling."""
    path = tmp_path / "store.db"
    with Memstrata.open(str(path)) as memory:
        memory.ingest(OWNER, [Turn(user="I live in Leeds", session="s", at=START)])

        tables = found_in_tables(path, "lEEDS")
        assert {"event", "recent_turn"} < tables  # and views, whatever they are called
        assert {"store.db-wal"} <= found_in_files(tmp_path, "Ｌｅｅｄｓ")
