"""Arrows point inward: cli, adapters → service → application → pipeline, projections → domain."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Which layers of the package a layer may import. `bootstrap` builds the object graph and sees all.
INSIDE = {
    "domain": {"domain"},
    "pipeline": {"pipeline", "domain"},
    "projections": {"projections", "domain"},
    "application": {"application", "pipeline", "projections", "domain"},
    "service": {"service", "application", "pipeline", "projections", "domain"},
    # Whoever shows a report may know its type; what is done goes through the façade.
    "adapters": {"adapters", "service", "application.reports", "pipeline", "projections", "domain"},
    # The commands open the store themselves, and show whatever the façade hands out.
    "adapters.console": {
        *("adapters.console", "adapters.importers", "bootstrap", "service", "application"),
        *("pipeline", "projections", "domain", ""),
    },
    "cli": {"cli", "service", "application.reports", "bootstrap", "domain", "adapters.console", ""},
    "bootstrap": {"bootstrap", "adapters", "service", "application", "pipeline", "projections", "domain"},
    "": {"bootstrap", "service", "application.reports", "domain"},
    "__main__": {"cli"},
}

# Which parts of the package may import which distribution. Whatever is not named here is refused.
OUTSIDE = {
    "pydantic": {
        "domain",
        "pipeline",
        "projections",
        "application",
        "service",
        "adapters",
        "cli",
        "bootstrap",
    },
    "pydantic_core": {"domain", "pipeline", "projections", "application", "service", "adapters"},
    "click": {"cli", "adapters.console"},
    "orjson": {"cli", "adapters"},
    "eventsourcing": {"adapters.storage"},
    "sqlalchemy": {"adapters.storage"},
    "langchain_core": {"adapters.llm"},
    "langchain_openai": {"adapters.llm"},
    "openai": {"adapters.llm"},
}

PURE = ("domain", "pipeline", "projections")
EFFECTS = {
    "asyncio", "concurrent", "http", "logging", "multiprocessing", "os", "random", "secrets", "shutil",
    "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib",
}  # fmt: skip
CLOCKS_AND_DICE = {"now", "utcnow", "today", "uuid1", "uuid4", "uuid6", "uuid7", "urandom", "input", "open"}


def imports(source: str, module: str, *, is_package: bool, known: set[str]) -> Iterator[tuple[int, str]]:
    """Yield (relative level, absolute name) of everything that a module's source imports."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
                base = f"{above}.{base}".rstrip(".")
            for alias in node.names:
                submodule = f"{base}.{alias.name}"
                yield node.level, submodule if submodule in known else base


def layer_of(module: str) -> str:
    """Name the part of the package: "domain", "application.reports", "cli"; "" is the package itself."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2] if parts[:1] in (["adapters"], ["application"]) else parts[:1])


def permitted(layer: str, allowed: set[str]) -> bool:
    return layer in allowed or layer.partition(".")[0] in allowed


def violations(source: str, module: str, *, is_package: bool, known: set[str]) -> list[str]:
    """Say every import of a module that its layer may not have."""
    layer = layer_of(module)
    rule = INSIDE.get(layer, INSIDE.get(layer.partition(".")[0]))
    if rule is None:
        return [f"{module}: belongs to no layer"]
    found = []
    for level, name in imports(source, module, is_package=is_package, known=known):
        top = name.partition(".")[0]
        if top == "memstrata":
            if not level:
                found.append(f"{module}: absolute import of {name}")
            if not permitted(layer_of(name), rule):
                found.append(f"{module}: {layer or 'the package'} may not import {name}")
        elif top in sys.stdlib_module_names:
            if layer.startswith(PURE) and top in EFFECTS:
                found.append(f"{module}: {layer} is pure and may not import {name}")
        elif not permitted(layer, OUTSIDE.get(top, set())):
            found.append(f"{module}: {layer or 'the package'} may not import {name}")
    return found


def test_every_import_follows_the_arrows(modules: dict[str, Path]) -> None:
    found = [
        violation
        for module, path in modules.items()
        for violation in violations(
            path.read_text("utf-8"), module, is_package=path.name == "__init__.py", known=set(modules)
        )
    ]

    assert found == []


def test_the_core_reads_no_clock_and_throws_no_dice(modules: dict[str, Path]) -> None:
    found = [
        f"{module}:{node.lineno}: {called}()"
        for module, path in modules.items()
        if layer_of(module).startswith(PURE)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        for called in [getattr(node.func, "attr", None) or getattr(node.func, "id", None)]
        if called in CLOCKS_AND_DICE
    ]

    assert found == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("memstrata.domain.turn", "from ..pipeline import gate"),
        ("memstrata.domain.turn", "from .. import service"),
        ("memstrata.domain.turn", "import memstrata.domain.owner"),
        ("memstrata.domain.turn", "import domain"),
        ("memstrata.domain.turn", "def f():\n    import orjson"),
        ("memstrata.domain.turn", "import logging"),
        ("memstrata.domain.turn", "from eventsourcing.domain import Aggregate"),
        ("memstrata.pipeline.gate", "from ..projections import slots"),
        ("memstrata.service", "from .adapters.storage import recorder"),
        ("memstrata.adapters.http", "import sqlalchemy"),
        ("memstrata.adapters.storage.codec", "import langchain_core.messages"),
        ("memstrata.cli", "from .adapters.storage import recorder"),
        ("memstrata.adapters.console.tables", "from ..storage import recorder"),
        ("memstrata.cli", "from .application import undo"),
        ("memstrata.application.undo", "from .. import service"),
        ("memstrata.cli", "import requests"),
        ("memstrata.helpers", ""),
    ],
)
def test_a_wrong_import_is_named(module: str, source: str) -> None:
    known = {
        "memstrata.service",
        "memstrata.application.undo",
        "memstrata.pipeline.gate",
        "memstrata.projections.slots",
    }

    found = violations(source, module, is_package=False, known=known)

    assert found
    assert all(line.startswith(module) for line in found)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "memstrata.domain.turn",
            "from datetime import datetime\nfrom pydantic import BaseModel\nfrom . import owner",
        ),
        ("memstrata.pipeline.lexicon.loader", "from ...domain.turn import Turn"),
        ("memstrata.adapters.storage.recorder", "import sqlalchemy\nfrom ...domain import events"),
        ("memstrata.cli", "from . import __version__\nfrom .adapters.console import tables"),
        ("memstrata.bootstrap", "from .adapters.llm import judge\nfrom .service import Memstrata"),
    ],
)
def test_a_right_import_passes(module: str, source: str) -> None:
    assert violations(source, module, is_package=False, known={"memstrata.adapters.console.tables"}) == []
