"""What gets installed: one top-level name, every module and data file of it, and nothing else."""

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

DATA = {".bin", ".txt", ".toml", ".tsv", ".json", ".jsonl", ".md", ".sql", ".typed"}


@pytest.fixture(scope="module")
def archives(repository_root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """Build the source archive, and the wheel from it; return the names inside (sdist, wheel)."""
    copy, out = tmp_path_factory.mktemp("clone") / "any-name", tmp_path_factory.mktemp("dist")
    ignored = shutil.ignore_patterns(
        ".git",
        ".venv",
        "venv",
        ".*_cache",
        ".hypothesis",
        "__pycache__",
        "*.egg-info",
        "/build",
        "dist",
        "*.db*",
    )
    shutil.copytree(repository_root, copy, ignore=ignored)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    with tarfile.open(next(out.glob("*.tar.gz"))) as sdist, zipfile.ZipFile(next(out.glob("*.whl"))) as wheel:
        return [name.partition("/")[2] for name in sdist.getnames()], wheel.namelist()


def test_every_folder_with_modules_is_a_listed_package(
    repository_root: Path, modules: dict[str, Path]
) -> None:
    project = tomllib.loads((repository_root / "pyproject.toml").read_text("utf-8"))
    listed = project["tool"]["setuptools"]["packages"]

    folders = {path.parent.relative_to(repository_root) for path in modules.values()}

    assert listed == sorted(".".join(("memstrata", *folder.parts)) for folder in folders)


def test_the_wheel_installs_one_name(archives: tuple[list[str], list[str]]) -> None:
    _, wheel = archives

    tops = {name.partition("/")[0] for name in wheel}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"memstrata"}
    assert len(tops) == 2


def test_the_wheel_holds_every_module_and_data_file_and_no_more(
    files: list[Path], archives: tuple[list[str], list[str]]
) -> None:
    _, wheel = archives
    about_the_project = {path for path in files if len(path.parts) == 1 and path.suffix in {".md", ".toml"}}
    expected = {f"memstrata/{path}" for path in files if path.suffix in {".py", *DATA}} - {
        f"memstrata/{path}" for path in about_the_project
    }

    assert {name for name in wheel if name.startswith("memstrata/")} == expected


def test_the_source_archive_can_be_tested(archives: tuple[list[str], list[str]]) -> None:
    sdist, _ = archives

    assert {"tests/conftest.py", "docs/concepts.md", "LICENSE", "CHANGELOG.md", ".ci/run"} <= set(sdist)
