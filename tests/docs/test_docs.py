"""Python in the documents runs, links lead somewhere, and the commands that they name exist."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])

FENCE = re.compile(r"^ {0,3}(```+|~~~+)\s*(\S*)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(
    r"`((?:adapters|benchmarks|docs|domain|examples|pipeline|projections|tests|\.ci)/[\w./-]*)`"
)
COMMAND = re.compile(r"(?:^|[$&|;]\s*)memstrata ([a-z][a-z-]*)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is the number of its first line of content, from 1."""

    language: str
    line: int
    text: str


def blocks_of(document: str) -> Iterator[Block]:
    """Yield the fenced blocks in order; one that is never closed runs to the end of the document."""
    fence, language, start, content = "", "", 0, list[str]()
    for number, line in enumerate(document.splitlines(), start=1):
        found = FENCE.match(line)
        if not fence and found:
            fence, language, start, content = found[1], found[2], number + 1, []
        elif fence and found and found[1].startswith(fence) and not found[2]:
            yield Block(language, start, "\n".join(content))
            fence = ""
        elif fence:
            content.append(line)
    if fence:
        yield Block(language, start, "\n".join(content))


def prose_of(document: str) -> str:
    """Return the document without its fenced blocks."""
    for block in blocks_of(document):
        document = document.replace(block.text, "") if block.text else document
    return document


def anchors_of(document: str) -> set[str]:
    """Return the heading anchors as the usual renderers make them."""
    headings = re.findall(r"^#+\s+(.+?)\s*$", prose_of(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(document: Path) -> list[str]:
    broken = []
    for target in LINK.findall(prose_of(document.read_text("utf-8"))):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        file = (document.parent / name).resolve() if name else document
        if not file.exists() or (anchor and anchor not in anchors_of(file.read_text("utf-8"))):
            broken.append(target)
    return broken


def commands_of(document: Path) -> list[str]:
    """List the subcommands of memstrata in the shell blocks, in order, repeats included."""
    shell = (block.text for block in blocks_of(document.read_text("utf-8")) if block.language == "console")
    return [command for text in shell for command in COMMAND.findall(text)]


def python_of(document: Path) -> str:
    """Return all Python blocks as one program whose line numbers are those of the document."""
    lines = list[str]()
    for block in blocks_of(document.read_text("utf-8")):
        if block.language == "python":
            lines += [""] * (block.line - 1 - len(lines)) + block.text.split("\n")
    return "\n".join(lines)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if python_of(d)], ids=name_of)
def test_python_in_a_document_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMSTRATA_DB", raising=False)

    exec(compile(python_of(document), str(document), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document: Path) -> None:
    assert broken_links(document) == []


def test_paths_that_the_documents_name_exist() -> None:
    named = {
        (name_of(document), path)
        for document in DOCUMENTS
        for path in PATH.findall(document.read_text("utf-8"))
    }

    assert len(named) > 10
    assert sorted((document, path) for document, path in named if not (ROOT / path).exists()) == []


def test_every_decision_has_all_its_parts_and_stands_in_the_list() -> None:
    records = [d for d in DOCUMENTS if d.parent.name == "decisions" and d.name != "README.md"]
    listed = LINK.findall((ROOT / "docs" / "decisions" / "README.md").read_text("utf-8"))
    parts = ["Context", "Options", "Choice", "Consequences", "How we check it"]

    assert [record.name for record in records] == listed
    assert [record.name[:5] for record in records] == [f"{n:04}-" for n in range(1, len(records) + 1)]
    for record in records:
        assert re.findall(r"^## (.+)$", record.read_text("utf-8"), re.MULTILINE) == parts, record.name


def test_the_commands_in_the_documents_exist(tmp_path: Path) -> None:
    commands = sorted({command for document in DOCUMENTS for command in commands_of(document)})

    unknown = [
        command
        for command in commands
        if subprocess.run(
            [sys.executable, "-c", "from memstrata.cli import main; main()", command, "--help"],
            cwd=tmp_path, capture_output=True, check=False,
        ).returncode
    ]  # fmt: skip

    assert commands
    assert unknown == []


def test_both_readmes_show_the_same_session() -> None:
    english, chinese = ROOT / "README.md", ROOT / "README.zh-CN.md"

    assert commands_of(english) == commands_of(chinese)
    assert without_comments(python_of(english)) == without_comments(python_of(chinese))


def without_comments(code: str) -> list[str]:
    lines = (re.sub(r"\s*#.*", "", line) for line in code.splitlines())
    return [line for line in lines if line]


def test_a_broken_link_or_anchor_is_noticed(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text(
        "# One two\n[a](b.md) [b](#one-two) [c](#three) [d](https://e.org)\n```\n[e](f)\n```\n"
    )

    assert broken_links(document) == ["b.md", "#three"]


def test_an_error_in_a_document_has_the_documents_line(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("text\n```python\nx = 1\n```\ntext\n\n```python\nx / 0\n```\n")

    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile(python_of(document), str(document), "exec"), {})

    assert caught.traceback[-1].lineno + 1 == 8
