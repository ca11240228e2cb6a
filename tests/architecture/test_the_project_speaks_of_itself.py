"""No file names the machine or the surroundings in which somebody happened to write it."""

import re
from pathlib import Path

import pytest

# Put together from halves, so that this file does not contain what it forbids.
_WORDS = [
    ("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/"), ("/tmp/", "dev"), ("/opt/", "pypi"), ("/opt/", "wheels"),
    ("py", "pi.org"), ("pypi", "-more"), ("python", "hosted"), ("far", "m-"), (".lib", "rary/"),
    ("shared/", "notes"), ("shared/", "seeds"), ("shared/", "cases"), ("shared/", "tools"),
    ("DESI", "GN §"), ("DESI", "GN.md"), ("STY", "LE §"), ("STY", "LE.md"), ("BRI", "EF.md"),
    ("issues", " show"), ("sub", "agent"), ("Co-Authored", "-By"),
]  # fmt: skip
FORBIDDEN = re.compile(
    "|".join(rf"(?<![\w.]){re.escape(head + tail)}" for head, tail in _WORDS), re.IGNORECASE
)
SKIPPED = {"__pycache__", "build", "dist", "venv"}


def mentions(path: Path) -> list[str]:
    """Return "line number: word" for each forbidden word in a text file; binary files hold none."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return []
    return [
        f"{number}: {match.group()}"
        for number, line in enumerate(text.splitlines(), start=1)
        for match in FORBIDDEN.finditer(line)
    ]


def own_files(root: Path) -> list[Path]:
    return [
        path
        for path in root.rglob("*")
        if path.is_file()
        and not any(
            part in SKIPPED or part.endswith(".egg-info") or (part.startswith(".") and part != ".ci")
            for part in path.relative_to(root).parts[:-1]
        )
        and not path.name.endswith((".db", ".db-wal", ".db-shm"))
    ]


def test_no_file_names_the_place_it_was_written_in(repository_root: Path) -> None:
    found = {
        str(path.relative_to(repository_root)): lines
        for path in own_files(repository_root)
        if (lines := mentions(path))
    }

    assert found == {}


@pytest.mark.parametrize("halves", _WORDS, ids="".join)
def test_a_forbidden_word_is_found(tmp_path: Path, halves: tuple[str, str]) -> None:
    file = tmp_path / "a.md"
    file.write_text(f"one\nsee {''.join(halves)}x\n", "utf-8")

    assert mentions(file) == [f"2: {''.join(halves)}"]
