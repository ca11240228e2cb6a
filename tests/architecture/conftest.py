"""The package as its files show it: nothing is imported here."""

from pathlib import Path

import pytest

NOT_PACKAGE = {"benchmarks", "build", "dist", "docs", "examples", "tests", "training", "venv"}


def package_files(root: Path) -> list[Path]:
    """List every file of the package's folders, relative to `root`, sorted."""
    return sorted(
        relative
        for path in root.rglob("*")
        if path.is_file()
        for relative in [path.relative_to(root)]
        if relative.parts[0] not in NOT_PACKAGE
        and not any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
        and not any(part.endswith(".egg-info") for part in relative.parts)
    )


def module_name(relative: Path) -> str:
    parts = relative.with_suffix("").parts
    return ".".join(("memstrata", *(part for part in parts if part != "__init__")))


@pytest.fixture(scope="session")
def files(repository_root: Path) -> list[Path]:
    return package_files(repository_root)


@pytest.fixture(scope="session")
def modules(repository_root: Path, files: list[Path]) -> dict[str, Path]:
    """Every module of the package by its name."""
    return {module_name(path): repository_root / path for path in files if path.suffix == ".py"}
