"""The reference of the command line as Markdown, made from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

_HEAD = """# Command line

Made from the help of the commands by `memstrata reference`; do not edit it by hand.

Results go to standard output, talk and errors to standard error. With `--json` lists are one object a line,
other results one object, and talk and errors are objects too ([fields](json.md)). Ids can be shortened as in
git. `--db`, `--owner` and `--actor` may stand before or after the command's name. A date without a time means
its end, for `--since` its start; a time without an offset is read in the machine's zone.

| exit status | meaning |
| --- | --- |
| 0 | done |
| 1 | an error; also when some lines of a file could not be read |
| 2 | wrong use of the command, or a missing owner |
| 3 | not found |
| 4 | conflict: somebody else wrote first, or it is not in the state that the command expects |
| 5 | verification failed |
"""


def reference_of(root: click.Group) -> str:
    """The whole page."""
    sections = [_HEAD, f"## memstrata\n\n{_help_of(root)}\n\n{_options_of(root, None)}"]
    for path, command, parent in _commands(root, ()):
        sections.append(f"## {' '.join(path)}\n\n{_section(path, command, parent)}")
    return "\n".join(section.rstrip() + "\n" for section in sections)


def _commands(
    group: click.Group, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command, click.Group]]:
    for name, command in sorted(group.commands.items()):
        if not command.hidden:
            yield (*path, name), command, group
            if isinstance(command, click.Group):
                yield from _commands(command, (*path, name))


def _section(path: tuple[str, ...], command: click.Command, parent: click.Group) -> str:
    arguments = [_named(one) for one in command.params if isinstance(one, click.Argument)]
    usage = " ".join(
        ["memstrata", *path, *([] if isinstance(command, click.Group) else ["[OPTIONS]"]), *arguments]
    )
    example = "\n".join(f"$ {line}" for line in getattr(command, "example", "").splitlines())
    parts = [_help_of(command), f"```text\n{usage}\n```", _options_of(command, parent)]
    return "\n\n".join([part for part in parts if part] + [f"```console\n{example}\n```"])


def _named(argument: click.Argument) -> str:
    if argument.metavar:
        return argument.metavar
    if isinstance(argument.type, click.Choice):
        return f"{{{'|'.join(map(str, argument.type.choices))}}}"
    return (argument.name or "").upper()


def _help_of(command: click.Command) -> str:
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(re.sub(r"\s+", " ", paragraph) for paragraph in paragraphs)


def _options_of(command: click.Command, parent: click.Group | None) -> str:
    """A table of options; the ones that every command has are shown once, at the top."""
    rows = [
        f"| {_spelled(option)} | {_escaped(option.help or '')}{_default(option)} |"
        for option in command.params
        if isinstance(option, click.Option)
        and not option.hidden
        and (parent is None or not {"--db", "--owner", "--actor"} & set(option.opts))
    ]
    return "\n".join(["| option | |", "| --- | --- |", *rows]) if rows else ""


def _spelled(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if option.is_flag:
        return names
    choices = option.type.choices if isinstance(option.type, click.Choice) else None
    metavar = " / ".join(map(str, choices)) if choices else option.metavar or option.type.name.upper()
    return f"{names} {_escaped(metavar)}"


def _default(option: click.Option) -> str:
    environment = f" Environment: `{option.envvar}`." if option.envvar else ""
    shown = not option.is_flag and isinstance(option.default, str | int)
    return (f" Default: {option.default}." if shown else "") + environment


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
