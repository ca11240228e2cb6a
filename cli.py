"""The command line: parse, call, print. The commands lie in `adapters/console/commands`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from . import __version__
from .adapters.console.commands import people, reading, shell, store, turns, undo
from .adapters.console.failures import ERROR
from .adapters.console.options import Group, on_store_or_environment
from .adapters.console.session import console_of, to_json
from .domain.errors import MemstrataError

SECTIONS: dict[str, Sequence[click.Command]] = {
    "Take in": turns.COMMANDS,
    "Read and ask": reading.COMMANDS,
    "Decide": people.COMMANDS,
    "Undo": undo.COMMANDS,
    "The store": store.COMMANDS,
    "The shell": shell.COMMANDS,
}


class Entry(Group):
    """The group of all commands: it lists them by job, and turns errors into exit statuses."""

    def main(self, args: Sequence[str] | None = None, *more: Any, **named: Any) -> Any:
        """Run a command; wrong use with `--json` is said in JSON."""
        given = list(sys.argv[1:] if args is None else args)
        if "--json" not in given or named.get("standalone_mode") is False:
            return super().main(given, *more, **named)
        try:
            status = super().main(given, *more, **{**named, "standalone_mode": False})
        except click.ClickException as error:
            form = {"error": type(error).__name__, "message": error.format_message()}
            click.echo(to_json({**form, "status": error.exit_code}), err=True)
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(ERROR)
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named, and end with the status of its outcome."""
        console = console_of(ctx)
        try:
            result = super().invoke(ctx)
        except MemstrataError as error:
            ctx.exit(console.error(error))
        if console.status:
            ctx.exit(console.status)
        return result

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for."""
        longest = max(len(name) for name in self.commands)
        for title, commands in SECTIONS.items():
            rows = [
                (f"{command.name:<{longest}}", command.get_short_help_str(formatter.width - longest - 6))
                for command in commands
                if not command.hidden
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    "memstrata",
    cls=Entry,
    example="memstrata ingest examples/job-search.zh.jsonl --explain",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="memstrata")
@on_store_or_environment
def cli() -> None:
    """Long-term memory for AI agents that keeps the reason for everything it remembers.

    The store is ./memstrata.db, or what --db or MEMSTRATA_DB names. The owner is what --owner or
    MEMSTRATA_OWNER names, else local/default. Exit statuses: 0 done, 1 error, 2 wrong use, 3 not found,
    4 conflict, 5 verification failed.
    """


for _commands in SECTIONS.values():
    for _command in _commands:
        cli.add_command(_command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # Other encodings than UTF-8 cannot show every memory: pipes get UTF-8, terminals an escape.
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    # Under a locale without UTF-8 the arguments come as escaped bytes.
    arguments = [os.fsencode(argument).decode("utf-8", "surrogateescape") for argument in sys.argv[1:]]
    cli.main(arguments, prog_name="memstrata")
