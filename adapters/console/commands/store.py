"""The store itself: is it whole, is it in step, and which policy decides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..failures import VERIFICATION_FAILED, status_of
from ..options import Command, Group, on_store, with_json
from ..session import Console, pass_console

if TYPE_CHECKING:
    from ....application.evaluation import Evaluation
    from ....domain.policy import Policy


@click.command("verify", cls=Command, example="memstrata verify")
@on_store
@with_json
@click.pass_context
def verify(context: click.Context) -> None:
    """Recompute the digest chain, and say up to which position the log is what was written.

    The exit status is 5 when something does not agree.
    """
    from ..progress import bar_to
    from ..session import console_of

    console = console_of(context)
    with console.existing() as store:
        heads = sum(store.store.head_position(part) for part in store.store.partitions)
        with bar_to(heads, "verifying") as reached:
            reports = store.verify(progress=reached)
        for report in reports:
            if console.as_json:
                console.form(
                    {
                        "partition": report.part,
                        "ok": report.ok,
                        "up_to": report.up_to,
                        "events": report.events,
                        "problem": report.problem,
                        "position": report.position,
                    }
                )
                continue
            where = f"partition {report.part}: " if len(reports) > 1 else ""
            if report.ok:
                console.lines(
                    [f"{where}ok, {report.events} events, vouched for up to position {report.up_to}"]
                )
            else:
                at = f" at position {report.position}" if report.position else ""
                console.lines(
                    [f"{where}problem{at}: {report.problem}; vouched for up to position {report.up_to} only"]
                )
    if any(not report.ok for report in reports):
        console.note("the log is not what was written; restore the store from a backup")
        context.exit(VERIFICATION_FAILED)


@click.command("rebuild", cls=Command, example="memstrata rebuild --check")
@click.option("--check", is_flag=True, help="Compare only, and leave the tables as they are.")
@click.option("--fresh", is_flag=True, help="Begin anew, even where an interrupted rebuild could go on.")
@on_store
@with_json
@click.pass_context
def rebuild(context: click.Context, check: bool, fresh: bool) -> None:
    """Recompute every projection from the first event, compare, and put the new tables in place.

    Others may read and write meanwhile. What was interrupted goes on where it was.

    With --check the exit status is 5 when the live rows are not what the events say.
    """
    from ..progress import bar_to
    from ..session import console_of
    from ..tables import table

    console = console_of(context)
    with console.existing() as store:
        heads = sum(store.store.head_position(part) for part in store.store.partitions)
        with bar_to(heads, "rebuilding") as reached:
            report = store.rebuild(check=check, fresh=fresh, progress=lambda read, _: reached(read))
    if console.as_json:
        console.form(
            {
                "events": report.events,
                "same": report.same,
                "swapped": report.swapped,
                "tables": [
                    {
                        "name": one.name,
                        "same": one.same,
                        "live_rows": one.live_rows,
                        "rebuilt_rows": one.rebuilt_rows,
                        "equal_rows": one.equal_rows,
                    }
                    for one in report.tables
                ],
            }
        )
    else:
        cells = [
            [one.name, str(one.live_rows), str(one.rebuilt_rows), "same" if one.same else "differs"]
            for one in report.tables
        ]
        console.lines(table(["table", ">live rows", ">rebuilt", "compared"], cells))
        outcome = "the new tables are in place" if report.swapped else "nothing was changed"
        console.lines([f"{report.events} events read; {outcome}"])
    if check and not report.same:
        console.note("the rows are not what the events say; `memstrata rebuild` puts them right")
        context.exit(VERIFICATION_FAILED)


# --- policy --------------------------------------------------------------------------------------


@click.group("policy", cls=Group, example="memstrata policy show")
def policy() -> None:
    """The deterministic rules that decide what is remembered, with their fingerprint."""


@policy.command("show", example="memstrata policy show --json")
@with_json
@pass_console
def policy_show(console: Console) -> None:
    """Print the policy in force: thresholds, registry, words and the digests of the word lists."""
    from ....bootstrap import load_policy

    found = load_policy()
    if console.as_json:
        console.form({**_policy_facts(found), "document": found.to_document()})
        return
    console.note(f"policy {found.rules.name}, version {found.rules.version}")
    console.note(f"fingerprint {found.fingerprint}")
    console.lines([json.dumps(found.to_document(), ensure_ascii=False, indent=2)])


@policy.command("check", example="memstrata policy check my-policy.toml")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@with_json
@pass_console
def policy_check(console: Console, file: str) -> None:
    """Say whether a policy document (TOML) can be used, and what its fingerprint is."""
    from ....bootstrap import load_policy

    found = load_policy(file)
    if console.as_json:
        console.form({"file": file, "ok": True, **_policy_facts(found)})
    else:
        console.lines([f"{file}: ok, policy {found.rules.name}, fingerprint {found.fingerprint}"])


def _policy_facts(found: Policy) -> dict[str, Any]:
    return {"name": found.rules.name, "version": found.rules.version, "fingerprint": found.fingerprint}


# --- doctor --------------------------------------------------------------------------------------


@click.command("doctor", cls=Command, example="memstrata doctor --json")
@on_store
@with_json
@click.pass_context
def doctor(context: click.Context) -> None:
    """Examine the store and its surroundings: file, log, projections, slots, clock, versions."""
    from ....domain.errors import StoreError
    from ..diagnosis import Finding, examined, file_examined, surroundings
    from ..session import console_of
    from ..tables import table

    console = console_of(context)
    findings = surroundings()
    try:
        if console.path is not None and console.path.is_file():
            findings.append(file_examined(console.path))
        with console.existing() as store:
            findings += examined(store, console.owner)
    except StoreError as error:
        findings.append(Finding("store", False, str(error), status_of(error)))
    if console.as_json:
        console.form(
            {
                "ok": all(one.ok for one in findings),
                "checks": [{"check": one.check, "ok": one.ok, "says": one.says} for one in findings],
            }
        )
    else:
        cells = [[one.check, "ok" if one.ok else "problem", one.says] for one in findings]
        console.lines(table(["check", "state", "says"], cells))
    statuses = [one.status for one in findings if not one.ok]
    if statuses:
        context.exit(max(statuses))


# --- eval ----------------------------------------------------------------------------------------


@click.command("eval", cls=Command, example="memstrata eval cases/zh.jsonl --kind retract --json")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--policy", metavar="FILE", help="A policy (TOML) in place of the one that is in force.")
@click.option(
    "--compare",
    nargs=2,
    metavar="A B",
    help="Two policies (TOML files, or `default`): the rates of both, and what B decides otherwise.",
)
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Play only cases of this kind; repeat.")
@click.option("--failures/--no-failures", default=True, help="List the cases that are not right.")
@with_json
@pass_console
def evaluate(
    console: Console,
    files: tuple[str, ...],
    policy: str | None,
    compare: tuple[str, str] | None,
    kinds: tuple[str, ...],
    failures: bool,
) -> None:
    """Play golden cases, each in a fresh store, and count what the gate decides rightly.

    Rates come with their 95 % interval: a few cases say little.
    """
    from .. import evaluation as shown

    if compare is not None and policy is not None:
        raise click.UsageError("--compare names both policies: leave --policy out.")
    if compare is None:
        document = _played(files, policy, kinds).to_document()
        lines = shown.shown(document, failures=failures)
    else:
        from ....application.evaluation import Comparison

        before, after = (_played(files, None if name == "default" else name, kinds) for name in compare)
        document = Comparison(before, after).to_document()
        lines = shown.compared(document, *compare)
    if console.as_json:
        console.form(document)
    else:
        console.lines(lines)


def _played(files: tuple[str, ...], policy: str | None, kinds: tuple[str, ...]) -> Evaluation:
    from .... import bootstrap
    from ..progress import bar_to

    with bar_to(_lines_of(files), "playing") as reached:
        return bootstrap.evaluate(
            files, policy_file=policy, kinds=kinds, progress=lambda played, _: reached(played)
        )


def _lines_of(files: tuple[str, ...]) -> int:
    """About how many cases the files hold; files that cannot be read are left to the reader."""
    total = 0
    for name in files:
        try:
            with open(name, "rb") as file:
                total += sum(1 for line in file if line.strip())
        except OSError:
            continue
    return total


COMMANDS = (rebuild, verify, policy, doctor, evaluate)
