"""Every command says what it does and shows an example, and the reference is made from that."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command_line import Run

from memstrata.adapters.console.reference import reference_of
from memstrata.cli import cli


def commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = sorted(commands(cli))


@pytest.mark.parametrize("path", [path for path, _ in ALL], ids=" ".join)
def test_a_command_has_a_sentence_an_example_and_help_for_each_option(
    path: tuple[str, ...], run: Run
) -> None:
    command = dict(ALL)[path]

    shown = run(*path, "--help")

    assert shown.status == 0
    assert re.match(r"[A-Z][^.]+[.:]", command.help or "")
    example = getattr(command, "example", "")
    assert f"memstrata {' '.join(path)}" in example
    assert "Example:" in shown.out
    assert all(line in shown.out for line in example.splitlines())
    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []


def test_the_reference_is_made_from_the_commands(repository_root: Path) -> None:
    page = repository_root / "docs" / "reference" / "cli.md"

    assert page.read_text("utf-8") == reference_of(cli), "run `memstrata reference > docs/reference/cli.md`"


def test_the_list_of_commands_leaves_none_out(run: Run) -> None:
    shown = run("--help").out

    missing = [n for n, c in cli.commands.items() if not c.hidden and f"\n  {n} " not in shown]

    assert missing == []


def test_help_loads_no_store_and_no_model(tmp_path: Path) -> None:
    heavy = ("sqlalchemy", "eventsourcing", "langchain", "pydantic")
    program = (
        "import sys\nfrom memstrata.cli import cli\n"
        "cli.main(['ingest', '--help'], standalone_mode=False)\n"
        f"print([m for m in sys.modules if m.startswith({heavy})], file=sys.stderr)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_the_program(shell: str, run: Run) -> None:
    script = run("completion", shell)

    assert script.status == 0
    assert "_MEMSTRATA_COMPLETE" in script.out


def test_the_version_is_the_packages(run: Run) -> None:
    import memstrata

    assert memstrata.__version__ in run("--version").out
