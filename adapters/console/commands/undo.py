"""Roll back what one session, rule, extractor or time left behind, and take a rollback back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..moments import Moment
from ..options import Command, on_store, with_json
from ..session import Console, pass_console
from .reading import short_batches, short_ids

if TYPE_CHECKING:
    from ....bootstrap import Memstrata
    from ....domain.plan import Plan


@click.command("rollback", cls=Command, example="memstrata rollback 3fa8b2c1 --to 1 --yes")
@click.argument("memory", metavar="[ID]", required=False)
@click.option("--to", "version", type=click.IntRange(min=1), metavar="N", help="Back to this version of ID.")
@click.option("--session", metavar="ID", help="All that came from a session.")
@click.option("--turn", metavar="ID", help="All that came from a turn.")
@click.option("--extractor", metavar="NAME", help="All that an extractor found.")
@click.option("--rule", metavar="ID", help="All that an extractor's rule found.")
@click.option(
    "--channel", type=click.Choice(["rule", "model", "person", "import", "job"]), help="By channel."
)
@click.option("--by", metavar="ACTOR", help="All that one actor did, such as operator:lin.")
@click.option("--policy", metavar="FINGERPRINT", help="All that was decided under a policy.")
@click.option("--since", type=Moment(start=True), help="Recorded at this time or later.")
@click.option("--until", type=Moment(), help="Recorded before this time; a date is included.")
@click.option("--undo", metavar="BATCH", help="Undo a batch: a rollback, a task's end, an undo.")
@click.option("--reason", default="", metavar="TEXT", help="Why; recorded with the batch.")
@click.option("--yes", is_flag=True, help="Apply it; without it the plan is shown, and a terminal asks.")
@on_store
@with_json
@pass_console
def rollback(
    console: Console,
    /,
    memory: str | None,
    version: int | None,
    undo: str | None,
    reason: str,
    yes: bool,
    **criteria: Any,
) -> None:
    """Undo what the selectors pick (all of them must fit), after showing what it would do.

    Nothing is deleted: the undone events stay in the history, later good facts are kept, predecessors
    come back, and the whole can be undone by its batch id.
    """
    from ..forms import plan_form
    from ..text import number

    chosen = {name: value for name, value in criteria.items() if value is not None}
    _check(memory, version, undo, chosen)
    with console.existing() as store:
        plan = _plan(console, store, memory, version, undo, chosen)
        if not console.as_json:
            from ..audit import planned

            console.lines(planned(plan, short_ids(console, store)))
        apply = not plan.empty and (yes or _asked(console))
        report = store.apply(console.owner, plan, actor=console.actor, reason=reason) if apply else None
        if console.as_json:
            console.form(plan_form(plan, report))
        elif report is not None and report.batch_id:
            batch = short_batches(console, store)(report.batch_id)
            console.lines([f"applied as batch {batch}, {number(report.written, 'event')} written"])
            console.note(f"to take it back: memstrata rollback --undo {batch}")
        elif not plan.empty:
            console.note("nothing was written; repeat it with --yes to apply it")


def _check(memory: str | None, version: int | None, undo: str | None, chosen: dict[str, Any]) -> None:
    """Refuse combinations that mean nothing."""
    if undo is not None and (memory is not None or version is not None or chosen):
        raise click.UsageError("--undo names a batch; leave ID and the other selectors out")
    if version is not None and memory is None:
        raise click.UsageError("--to needs the ID of a memory")
    if undo is None and memory is None and not chosen:
        raise click.UsageError("say what to roll back: ID, --session, --turn … or --undo BATCH")


def _plan(
    console: Console,
    store: Memstrata,
    memory: str | None,
    version: int | None,
    undo: str | None,
    chosen: dict[str, Any],
) -> Plan:
    from ....domain.errors import NotFoundError
    from ....domain.selector import Selector

    owner = console.owner
    if undo is not None:
        return store.plan_undo(owner, undo)
    full = None
    if memory is not None:
        full = store.resolve(owner, memory)
        last = len(store.history(owner, full))
        if version is not None and version > last:
            raise NotFoundError("version", f"{memory} v{version}", f"it has {last}; see `memstrata history`")
    if "turn" in chosen:
        chosen["turn"] = store.resolve(owner, chosen["turn"], "turn")
    if "by" in chosen:
        chosen["actor"] = chosen.pop("by")
    return store.plan_rollback(owner, Selector(memory=full, after_version=version, **chosen))


def _asked(console: Console) -> bool:
    """Whether a person at a terminal says yes; False where nobody can be asked."""
    if console.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return click.confirm("Apply it?", default=False, err=True)


@click.command("batches", cls=Command, example="memstrata batches")
@on_store
@with_json
@pass_console
def batches(console: Console) -> None:
    """List rollbacks, undos, task ends and other batches, which can be undone by their ids."""
    from ..forms import batch_form
    from ..tables import table
    from ..text import stamp

    with console.reading() as store:
        found = store.batches(console.owner)
        if console.as_json:
            for batch in found:
                console.form(batch_form(batch))
            return
        short = short_batches(console, store)
        cells = [
            [
                short(batch.batch_id),
                batch.kind,
                stamp(batch.opened.recorded_at),
                batch.opened.event.actor,
                f"undone by {short(batch.undone_by)}" if batch.undone_by else "stands",
                f"undoes {short(batch.undoes)}" if batch.undoes else batch.reason,
            ]
            for batch in found
        ]
        console.lines(table(["batch", "kind", "recorded", "by", "state", "about"], cells))
        if not found:
            console.note("no batch was written yet")


COMMANDS = (rollback, batches)
