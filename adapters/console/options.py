"""What the commands have in common: their class, and options that work before and after the name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .session import console_of

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Command(click.Command):
    """A command with an example, which stands at the end of its help."""

    def __init__(self, *args: Any, example: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example."""
        write_example(self.example, formatter)


class Group(click.Group):
    """A group of commands with an example."""

    command_class = Command

    def __init__(self, *args: Any, example: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example."""
        write_example(self.example, formatter)


def write_example(example: str, formatter: click.HelpFormatter) -> None:
    """The last part of a command's help."""
    if example:
        with formatter.section("Example"):
            for line in example.splitlines():
                formatter.write(f"{' ' * formatter.current_indent}$ {line}\n")


def _remember(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def remember(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value is not None and value is not False:
            setattr(console_of(context), name, value)

    return remember


def _shared(flag: str, name: str, text: str, **more: Any) -> Callable[[Decorated], Decorated]:
    return click.option(flag, name, expose_value=False, callback=_remember(name), help=text, **more)


def on_store(command: Decorated) -> Decorated:
    """Add the options that say which store, whose memories and who acts.

    They stand at the group and at every command, so that both positions work; the later one wins.
    """
    for option in _store_options(from_environment=False):
        command = option(command)
    return command


def on_store_or_environment(command: Decorated) -> Decorated:
    """Add the same options to the group, where the environment may name store and owner."""
    for option in _store_options(from_environment=True):
        command = option(command)
    return command


def _store_options(*, from_environment: bool) -> list[Callable[[Decorated], Decorated]]:
    def variable(name: str) -> dict[str, Any]:
        return {"envvar": name, "show_envvar": True} if from_environment else {}

    return [
        _shared("--actor", "actor_name", "Who you are; recorded as operator:NAME.", metavar="NAME"),
        _shared(
            "--owner", "owner_name", "Whose memories.", metavar="[TENANT/]USER", **variable("MEMSTRATA_OWNER")
        ),
        _shared(
            "--db", "db", "The store: a path or sqlite:///PATH.", metavar="URL", **variable("MEMSTRATA_DB")
        ),
    ]


def with_json(command: Decorated) -> Decorated:
    """Add `--json`."""
    return _shared("--json", "as_json", "Print JSON, one object a line.", is_flag=True, default=None)(command)
