"""What people decide about memories, and tasks that begin and end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import click

from ..moments import Moment
from ..options import Command, Group, on_store, with_json
from ..session import Console, pass_console
from .reading import short_batches, short_ids

if TYPE_CHECKING:
    from ....application.reports import BatchReport
    from ....bootstrap import Memstrata

_memory = click.argument("memory", metavar="ID")
_note = click.option("--note", default="", metavar="TEXT", help="Why; recorded with it.")


def _done(
    console: Console, memory: str, word: str, act: Callable[[Memstrata, str], BatchReport], nothing: str = ""
) -> None:
    """Do something to one memory and say what was done."""
    from ..forms import report_form
    from ..text import clean

    with console.existing() as store:
        full = store.resolve(console.owner, memory)
        report = act(store, full)
        if console.as_json:
            console.form({"id": full, "done": word if report.written else None, **report_form(report)})
            return
        row = store.memory(console.owner, full)
        said = word if report.written else nothing or f"is {word} already"
        console.lines([f"{short_ids(console, store)(full)}  {said}  {clean(row.content)}"])


@click.command("confirm", cls=Command, example="memstrata confirm 3fa8b2c1")
@_memory
@_note
@on_store
@with_json
@pass_console
def confirm(console: Console, memory: str, note: str) -> None:
    """Say that something is right: what is held becomes active."""
    _done(
        console,
        memory,
        "confirmed",
        lambda store, full: store.confirm(console.owner, full, actor=console.actor, note=note),
    )


@click.command("reject", cls=Command, example="memstrata reject 3fa8b2c1 --note 误会了")
@_memory
@_note
@on_store
@with_json
@pass_console
def reject(console: Console, memory: str, note: str) -> None:
    """Turn down what is held; it never becomes a memory by itself."""
    _done(
        console,
        memory,
        "rejected",
        lambda store, full: store.reject(console.owner, full, actor=console.actor, note=note),
    )


@click.command("correct", cls=Command, example='memstrata correct 3fa8b2c1 "期望薪资 16–20k"')
@_memory
@click.argument("text")
@on_store
@with_json
@pass_console
def correct(console: Console, memory: str, text: str) -> None:
    """Say what is right: it never was as remembered. The former version stays in the history."""
    _done(
        console,
        memory,
        "corrected",
        lambda store, full: store.correct(console.owner, full, text, actor=console.actor),
    )


@click.command("forget", cls=Command, example="memstrata forget 3fa8b2c1")
@_memory
@_note
@on_store
@with_json
@pass_console
def forget(console: Console, memory: str, note: str) -> None:
    """End a memory from now on; its history stays readable."""
    _done(
        console,
        memory,
        "forgotten",
        lambda store, full: store.forget(console.owner, full, actor=console.actor, note=note),
    )


@click.command("pin", cls=Command, example="memstrata pin 3fa8b2c1")
@_memory
@on_store
@with_json
@pass_console
def pin(console: Console, memory: str) -> None:
    """Keep a memory in front of others."""
    _done(console, memory, "pinned", lambda store, full: store.pin(console.owner, full, actor=console.actor))


@click.command("unpin", cls=Command, example="memstrata unpin 3fa8b2c1")
@_memory
@on_store
@with_json
@pass_console
def unpin(console: Console, memory: str) -> None:
    """Keep a memory in front no longer."""
    _done(
        console,
        memory,
        "unpinned",
        lambda store, full: store.pin(console.owner, full, pinned=False, actor=console.actor),
        "is not pinned",
    )


# --- tasks ---------------------------------------------------------------------------------------

_task = click.argument("task", metavar="TASK")
_at = click.option("--at", type=Moment(), help="When; now without it.")


@click.group("task", cls=Group, example="memstrata task finish report-12")
def tasks() -> None:
    """Tasks begin and end, and what holds for a task only ends with it."""


@tasks.command("finish", example="memstrata task finish report-12")
@_task
@_at
@on_store
@with_json
@pass_console
def finish(console: Console, task: str, at: datetime | None) -> None:
    """End a task and what holds for it only; finishing twice changes nothing."""
    from ..forms import report_form
    from ..text import clean, number

    with console.writing() as store:
        report = store.finish_task(console.owner, task, actor=console.actor, at=at)
        if console.as_json:
            console.form(
                {"task": task, "done": "finished" if report.written else None, **report_form(report)}
            )
            return
        if not report.written:
            console.lines([f"task {task} is finished already"])
            return
        short = short_ids(console, store)
        console.lines([f"task {task} finished, {number(len(report.memories), 'memory')} ended"])
        for memory_id in report.memories:
            content = store.memory(console.owner, memory_id).content
            console.lines([f"  {short(memory_id)}  {clean(content)}"])
        if report.batch_id:
            batch = short_batches(console, store)(report.batch_id)
            console.note(f"to undo it: memstrata rollback --undo {batch}")


@tasks.command("start", example="memstrata task start report-12")
@_task
@_at
@on_store
@with_json
@pass_console
def start(console: Console, task: str, at: datetime | None) -> None:
    """Begin a task, or open it again."""
    from ..forms import report_form

    with console.writing() as store:
        report = store.start_task(console.owner, task, actor=console.actor, at=at)
        if console.as_json:
            console.form({"task": task, "done": "started" if report.written else None, **report_form(report)})
        else:
            console.lines([f"task {task} " + ("started" if report.written else "is open already")])


COMMANDS = (confirm, reject, correct, forget, pin, unpin, tasks)
