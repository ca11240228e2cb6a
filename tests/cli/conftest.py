"""Two ways to run a command: in this process, where that is enough, and as the real program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import OWNER, STORY, Done, Run, jsonl

from memstrata.cli import cli


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder to work in, and nothing named by the environment but owner and person."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMSTRATA_DB", raising=False)
    monkeypatch.setenv("MEMSTRATA_OWNER", OWNER)
    monkeypatch.setenv("USER", "mei")


@pytest.fixture
def run() -> Run:
    """Run a command in this process; an error that no command expects is raised."""

    def invoke(*arguments: str, stdin: str | None = None) -> Done:
        result = CliRunner().invoke(cli, list(arguments), input=stdin, prog_name="memstrata")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return invoke


@pytest.fixture
def program(tmp_path: Path) -> Run:
    """Run the real program in a process of its own, its output read as UTF-8."""

    def start(*arguments: str, stdin: bytes = b"", **environment: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "memstrata", *arguments],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **environment},
        )
        return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return start


@pytest.fixture(scope="session")
def story_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the story in it; tests get copies."""
    folder = tmp_path_factory.mktemp("story")
    (folder / "story.jsonl").write_text(jsonl(*STORY), "utf-8")
    store = folder / "memstrata.db"
    arguments = ["ingest", str(folder / "story.jsonl"), "--clock", "turns", "--db", str(store)]
    result = CliRunner().invoke(cli, [*arguments, "--owner", OWNER])
    assert result.exit_code == 0, result.output
    return store


@pytest.fixture
def story(story_store: Path, tmp_path: Path) -> Path:
    """The store with the story, in the folder to work in, under the default name."""
    return Path(shutil.copy(story_store, tmp_path / "memstrata.db"))


@pytest.fixture
def salary(story: Path, run: Run) -> str:
    """The id of the memory with two versions."""
    return next(form["id"] for form in run("list", "--json").forms if form["attribute"] == "expected_salary")
