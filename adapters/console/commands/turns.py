"""Turns go in: from files, from the command line, line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..moments import Moment
from ..options import Command, on_store, with_json
from ..session import Console, pass_console

if TYPE_CHECKING:
    from ....application.reports import TurnReport
    from ....bootstrap import Memstrata
    from ....domain.turn import Turn
    from ...importers import Placed, ReadTurns

STDIN = "-"


@click.command(
    "ingest",
    cls=Command,
    example="memstrata ingest examples/job-search.zh.jsonl --clock turns --explain",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--session", metavar="ID", help="Session of turns that name none.")
@click.option("--explain", is_flag=True, help="Print what was decided about each turn, and why.")
@click.option(
    "--clock",
    type=click.Choice(["real", "turns"]),
    default="real",
    help="`turns`: record as of the turns' own times; the store's last event must be earlier.",
)
@click.option("--revise", is_flag=True, help="A turn that came with another text replaces what it produced.")
@on_store
@with_json
@pass_console
def ingest(
    console: Console, files: tuple[str, ...], session: str | None, explain: bool, clock: str, revise: bool
) -> None:
    """Take conversations in: JSON Lines of turns, or {"messages": […]}; `-` is standard input.

    What was ingested before is known and changes nothing. A line that cannot be read is reported with its
    number, the rest goes on, and the exit status is 1.
    """
    from .. import turns as shown
    from ..memories import listing

    reports: list[TurnReport] = []
    unreadable = 0
    with console.writing() as store:
        short = _short(console, store)
        for file in files:
            read = _read(console, file, session)
            if read is None:
                continue
            unreadable += len(read.problems)
            pairs = list(_ingested(console, store, read, clock == "turns", revise))
            reports += [report for _, report in pairs]
            _show_turns(console, file, pairs, short, explain)
        if console.as_json:
            return
        if explain:
            active = store.memories(console.owner)
            console.lines(["", f"Active memories ({len(active)})", *listing(active, short)])
        decided = shown.decided(reports)
        console.lines(
            [
                *([""] if explain else []),
                shown.counted(reports, unreadable) + (f"; decided: {decided}" if decided else ""),
                f"store: {store.where}  owner: {console.owner}",
            ]
        )


def _short(console: Console, store: Memstrata) -> Any:
    from ..ids import ShortIds

    return ShortIds(lambda digits: store.resolve(console.owner, digits))


def _read(console: Console, file: str, session: str | None) -> ReadTurns | None:
    """The turns of a file; None, and an error said, where it cannot be read at all."""
    from ...importers import Defaults, read_turns

    name = "stdin" if file == STDIN else Path(file).stem
    try:
        content = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        console.failed({"error": type(error).__name__, "message": f"{file}: {error.strerror}", "status": 1})
        return None
    read = read_turns(content, Defaults(session=session, name=name))
    for problem in read.problems:
        message = f"{named(file)}, line {problem.line}: {problem.text}"
        form = {"error": "UnreadableError", "message": message, "status": 1}
        console.failed({**form, "file": file, "line": problem.line})
    if not read.turns and not read.problems:
        console.note(f"{named(file)}: holds no turn", file=file)
    return read


def named(file: str) -> str:
    """A file as people call it."""
    return "standard input" if file == STDIN else file


def _ingested(
    console: Console, store: Memstrata, read: ReadTurns, simulated: bool, revise: bool
) -> Iterator[tuple[Placed, TurnReport]]:
    from ..progress import bar

    turns = [placed.turn for placed in read.turns]
    with bar(len(turns), "ingesting") as advance:
        report = store.ingest(
            console.owner,
            turns,
            revise=revise,
            simulated_clock=simulated,
            strict=False,
            progress=advance,
        )
    return zip(read.turns, report.turns, strict=True)


def _show_turns(
    console: Console, file: str, pairs: Sequence[tuple[Placed, TurnReport]], short: Any, explain: bool
) -> None:
    from ..failures import error_form
    from ..forms import turn_form
    from ..turns import explained

    session = None
    for placed, report in pairs:
        if report.error is not None:
            message = f"{named(file)}, line {placed.line}: {report.error}"
            facts = {"message": message, "file": file, "line": placed.line}
            console.failed({**error_form(report.error), **facts})
        if console.as_json:
            console.form(turn_form(report, file=file, line=placed.line))
        elif explain:
            if report.session != session:
                session = report.session
                console.lines(_heading(session))
            console.lines(explained(report, _masked(placed.turn), short))


def _heading(session: str) -> list[str]:
    from ..text import clean, styled

    return ["", styled(f"── session {clean(session)} ──", "cyan")]


def _masked(turn: Turn) -> str:
    """The words as they are stored: secrets masked."""
    from ....pipeline.prepare import masked

    return masked(turn).user


# --- by hand -------------------------------------------------------------------------------------


@click.command("add", cls=Command, example='memstrata add "我住在杭州，以后回答先给结论" --session demo')
@click.argument("text")
@click.option("--session", metavar="ID", help="The session; one per day without it.")
@click.option("--assistant", metavar="TEXT", help="The agent's reply.")
@click.option("--at", type=Moment(), help="When it was said; now without it.")
@click.option("--tz", metavar="ZONE", help="IANA zone in which the user's days begin.")
@click.option("--message-id", metavar="ID", help="Names the message; the same one again changes nothing.")
@click.option("--task-id", metavar="ID", help="The task in hand.")
@click.option("--task", metavar="NAME", help="What the task is, such as 周报.")
@click.option("--project", metavar="ID", help="The project in hand.")
@click.option("--agent", metavar="NAME", help="Which agent heard it.")
@click.option("--revise", is_flag=True, help="Replace what the same message produced with another text.")
@on_store
@with_json
@pass_console
def add(
    console: Console, /, text: str, session: str | None, at: datetime | None, revise: bool, **more: str | None
) -> None:
    """Say one thing by hand, and see what is decided about it."""
    from ....domain.turn import Turn

    at = at or datetime.now().astimezone()
    given = {name: value for name, value in more.items() if value is not None}
    turn = Turn(user=text, session=session or f"cli-{at:%Y-%m-%d}", at=at, **given)
    with console.writing() as store:
        _say(console, store, turn, revise)
        console.note(f"store: {store.where}", store=store.where)


@click.command(
    "explain", cls=Command, example='memstrata explain "这次周报写短一点，我对花生过敏" --task 周报'
)
@click.argument("text")
@click.option("--session", metavar="ID", default="explain", help="The session whose last turns are context.")
@click.option("--at", type=Moment(), help="When it would be said; now without it.")
@click.option("--tz", metavar="ZONE", help="IANA zone in which the user's days begin.")
@click.option("--task-id", metavar="ID", help="The task in hand.")
@click.option("--task", metavar="NAME", help="What the task is, such as 周报.")
@click.option("--project", metavar="ID", help="The project in hand.")
@on_store
@with_json
@pass_console
def explain(console: Console, /, text: str, session: str, at: datetime | None, **more: str | None) -> None:
    """Show what the gate would make of TEXT: clauses, signals, rules, decisions. Nothing is written.

    What is remembered in the store counts; where there is no store, nothing is.
    """
    from ....domain.turn import Turn
    from .. import anatomy

    given = {name: value for name, value in more.items() if value is not None}
    turn = Turn(user=text, session=session, at=at or datetime.now().astimezone(), **given)
    with console.reading() as store:
        report, seen = store.rehearse(console.owner, turn)
        if console.as_json:
            console.form(anatomy.form(report, seen))
        else:
            console.lines(anatomy.shown(report, seen, _short(console, store)))


@click.command("chat", cls=Command, example="memstrata chat --task 周报 --task-id report-12")
@click.option("--session", metavar="ID", help="The session; a new one without it.")
@click.option("--task-id", metavar="ID", help="The task in hand.")
@click.option("--task", metavar="NAME", help="What the task is.")
@click.option("--project", metavar="ID", help="The project in hand.")
@on_store
@with_json
@pass_console
def chat(console: Console, /, session: str | None, **more: str | None) -> None:
    """Say things line by line until the input ends, and see what is decided about each."""
    from ....domain.turn import Turn

    session = session or f"chat-{datetime.now().astimezone():%Y%m%dT%H%M%S}"
    given = {name: value for name, value in more.items() if value is not None}
    with console.writing() as store:
        console.note(f"session {session}, store: {store.where}; end with Ctrl-D", session=session)
        for line in _spoken():
            now = datetime.now().astimezone()
            _say(console, store, Turn(user=line, session=session, at=now, **given), False)


def _spoken() -> Iterator[str]:
    """Lines of standard input, with a prompt where somebody types them; empty ones are passed over."""
    typed = sys.stdin.isatty()
    while True:
        if typed:
            click.echo("> ", nl=False, err=True)
        raw = sys.stdin.buffer.readline()
        if not raw:
            return
        if line := raw.decode("utf-8", "replace").strip():
            yield line


def _say(console: Console, store: Memstrata, turn: Turn, revise: bool) -> None:
    from ..forms import turn_form
    from ..turns import explained

    (report,) = store.ingest(console.owner, [turn], revise=revise).turns
    if console.as_json:
        console.form(turn_form(report))
    else:
        console.lines(explained(report, _masked(turn), _short(console, store)))


COMMANDS = (ingest, add, explain, chat)
