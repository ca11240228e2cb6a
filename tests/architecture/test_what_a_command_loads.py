"""Starting takes time: a command loads what it needs, and no more. Each is run in its own process."""

import subprocess
import sys
from pathlib import Path

import pytest

LOADED = """
import sys
from memstrata.cli import main

try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""

NEVER = {"langchain_core", "langchain_openai", "openai"}
"""Loaded where a model is called, and nowhere else."""


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules in memory when the command has ended."""
    command = [sys.executable, "-c", LOADED, "--db", str(folder / "memory.db"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    loaded(folder, "add", "我住在杭州", "--session", "s1")
    return folder


@pytest.mark.parametrize("command", [["list"], ["held"]])
def test_looking_loads_neither_the_gate_nor_the_planner(folder: Path, command: list[str]) -> None:
    unwanted = {
        *("memstrata.pipeline.extract", "memstrata.pipeline.secrets", "memstrata.pipeline.controller"),
        *("memstrata.application.ingest", "memstrata.domain.decide", "memstrata.domain.rollback"),
    }

    assert loaded(folder, *command) & (unwanted | NEVER) == set()


def test_taking_a_turn_in_loads_no_model(folder: Path) -> None:
    assert loaded(folder, "add", "我对花生过敏", "--session", "s1") & NEVER == set()
