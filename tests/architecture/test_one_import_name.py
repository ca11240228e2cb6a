"""A module with two names would be two sets of classes, and `match` would quietly stop matching."""

import json
import subprocess
import sys
from pathlib import Path

IMPORT_ALL = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps({n: m.__file__ for n, m in sys.modules.items() if getattr(m, "__file__", None)}))
"""


def loaded_after_importing(names: list[str], folder: Path) -> dict[str, Path]:
    """Import modules in a fresh interpreter, in another folder, and return every module's file by name."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, json.dumps(names)],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {name: Path(file).resolve() for name, file in json.loads(done.stdout).items()}


def foreign_names(loaded: dict[str, Path], modules: dict[str, Path]) -> list[str]:
    """List the modules that came from a file of the package under another name."""
    right_name = {path.resolve(): name for name, path in modules.items()}
    return sorted(name for name, path in loaded.items() if right_name.get(path, name) != name)


def test_every_module_imports_and_has_one_name(modules: dict[str, Path], tmp_path: Path) -> None:
    names = [name for name in modules if not name.endswith("__main__")]

    loaded = loaded_after_importing(names, tmp_path)

    assert set(names) <= set(loaded)
    assert foreign_names(loaded, modules) == []


def test_the_test_run_itself_loads_no_module_twice(modules: dict[str, Path]) -> None:
    loaded = {
        name: Path(module.__file__).resolve()
        for name, module in list(sys.modules.items())
        if getattr(module, "__file__", None) and name != "__main__"
    }

    assert foreign_names(loaded, modules) == []


def test_a_second_name_is_noticed(modules: dict[str, Path]) -> None:
    module = modules["memstrata"]

    assert foreign_names({"memstrata": module.resolve(), "clone": module.resolve()}, modules) == ["clone"]


def test_nothing_in_the_root_hides_the_standard_library(files: list[Path]) -> None:
    """`python -m` puts the root on the path, where its folders and modules come first."""
    roots = {path.parts[0].removesuffix(".py") for path in files if path.suffix == ".py"}

    assert roots & sys.stdlib_module_names == set()


def test_importing_the_package_and_its_command_line_loads_no_model_code(
    modules: dict[str, Path], tmp_path: Path
) -> None:
    names = [name for name in ("memstrata", "memstrata.cli") if name in modules]

    loaded = loaded_after_importing(names, tmp_path)

    assert [
        name for name in loaded if name.startswith(("langchain", "langsmith", "openai", "tiktoken"))
    ] == []
