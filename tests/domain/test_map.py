"""Whoever opens the domain is told what is in it."""

import re
from pathlib import Path


def test_every_module_stands_on_the_map_and_nothing_else_does(repository_root: Path) -> None:
    folder = repository_root / "domain"
    modules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }

    named = set(re.findall(r"`(\w+)`", (folder / "__init__.py").read_text("utf-8")))

    assert named == modules - {"__init__"}
