"""Help for the shell, and the reference that the documents show."""

from __future__ import annotations

import click

from ..options import Command

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", cls=Command, example='eval "$(memstrata completion bash)"')
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes commands and options in bash, zsh or fish."""
    from click.shell_completion import get_completion_class

    root = context.find_root()
    found = get_completion_class(shell)
    assert found is not None, "click knows all of these shells"
    click.echo(found(root.command, {}, "memstrata", "_MEMSTRATA_COMPLETE").source())


@click.command("reference", cls=Command, hidden=True, example="memstrata reference > docs/reference/cli.md")
@click.pass_context
def reference(context: click.Context) -> None:
    """Print the reference of all commands as Markdown, made from their help."""
    from ..reference import reference_of

    root = context.find_root()
    assert isinstance(root.command, click.Group)
    click.echo(reference_of(root.command), nl=False)


COMMANDS = (completion, reference)
