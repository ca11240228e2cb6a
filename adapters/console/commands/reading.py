"""What is remembered, since when, why, and what was refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from ..moments import AsOf, Moment
from ..options import Command, on_store, with_json
from ..session import Console, pass_console

if TYPE_CHECKING:
    from ....bootstrap import Memstrata
    from ....domain.stream import RecordedEvent
    from ....projections.rows import VersionRow
    from ..ids import ShortIds

SCOPES = ("current_task", "project", "family", "global")
STATUSES = ("active", "held", "ended", "retracted", "superseded", "rejected", "withdrawn", "erased")

_as_of = click.option(
    "--as-of", type=AsOf(), help="What was known then: a time, a date (its end), or a position in the log."
)
_valid_at = click.option("--valid-at", type=Moment(), help="What held in the world then; a date is its end.")
_limit = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")


def short_ids(console: Console, store: Memstrata) -> ShortIds:
    """Shortens the ids of the owner's memories."""
    from ..ids import ShortIds

    return ShortIds(lambda digits: store.resolve(console.owner, digits))


def short_batches(console: Console, store: Memstrata) -> ShortIds:
    """Shortens the ids of the owner's batches."""
    from ..ids import ShortIds

    return ShortIds(lambda digits: store.resolve(console.owner, digits, "batch"))


def _moment(as_of: int | datetime | None, valid_at: datetime | None) -> datetime | None:
    """What held when: as named, else at the time of `as_of`; None is now."""
    return valid_at or (as_of if isinstance(as_of, datetime) else None)


@click.command("list", cls=Command, example="memstrata list --as-of 2026-10-15")
@_as_of
@_valid_at
@click.option("--scope", metavar="SCOPE", help="current_task, project, <family>_tasks or global.")
@click.option(
    "--status",
    type=click.Choice([*STATUSES, "all"]),
    multiple=True,
    help="Memories of a status, whatever the time; without it those that hold.",
)
@_limit
@on_store
@with_json
@pass_console
def list_memories(
    console: Console,
    as_of: int | datetime | None,
    valid_at: datetime | None,
    scope: str | None,
    status: tuple[str, ...],
    limit: int | None,
) -> None:
    """List what is remembered: the memories that hold now, or then."""
    from ..forms import listed_form
    from ..memories import listing

    if status and (as_of is not None or valid_at is not None):
        raise click.UsageError("--status is about now; leave --as-of and --valid-at out")
    kind = _scope_kind(scope)
    with console.reading() as store:
        if status:
            found = list(store.by_status(console.owner, _statuses(status)))
        else:
            found = list(store.memories(console.owner, as_of=as_of, valid_at=valid_at, scope=kind))
        found = [listed for listed in found if scope is None or _in_scope(listed.statement, scope)][:limit]
        if console.as_json:
            for listed in found:
                console.form(listed_form(listed))
            return
        console.lines(listing(found, short_ids(console, store)))
        if not found:
            console.note("nothing is remembered" + (" that fits" if scope or status or as_of else ""))


def _scope_kind(scope: str | None) -> Any:
    if scope is None or scope in SCOPES:
        return scope
    if scope.endswith("_tasks"):
        return "family"
    raise click.UsageError(f"--scope: {scope!r} is none; known are {', '.join(SCOPES)} and <family>_tasks")


def _in_scope(statement: Any, scope: str) -> bool:
    return statement is not None and scope in (statement.scope.kind, statement.scope.name)


def _statuses(names: Sequence[str]) -> Any:
    return STATUSES if "all" in names else names


@click.command("show", cls=Command, example="memstrata show 3fa8b2c1")
@click.argument("memory", metavar="ID")
@_as_of
@_valid_at
@on_store
@with_json
@pass_console
def show(console: Console, memory: str, as_of: int | datetime | None, valid_at: datetime | None) -> None:
    """Show one memory in full, whatever its status."""
    from ..forms import memory_form
    from ..memories import shown

    with console.reading() as store:
        row = store.memory(console.owner, memory, as_of=as_of)
        statement, version, period = row.statement, None, None
        moment = _moment(as_of, valid_at)
        if moment is not None:
            period = next(
                (
                    p
                    for p in store.periods(console.owner, row.memory_id, as_of=as_of)
                    if p.valid_from <= moment and (p.valid_to is None or moment < p.valid_to)
                ),
                None,
            )
            if period is None:
                console.note(f"no version holds at {moment.isoformat()}; shown is the last one")
            else:
                versions = store.history(console.owner, row.memory_id, as_of=as_of)
                statement, version = versions[period.number - 1].statement, period.number
        if console.as_json:
            console.form(memory_form(row, statement, period))
        else:
            console.lines(shown(row, statement, version, short_ids(console, store)))


@click.command("why", cls=Command, example="memstrata why 3fa8b2c1 --version 1")
@click.argument("memory", metavar="ID")
@click.option("--version", "number", type=click.IntRange(min=1), metavar="N", help="Only this version.")
@on_store
@with_json
@pass_console
def why(console: Console, memory: str, number: int | None) -> None:
    """Say why something is remembered: version, decision, candidate, judgement, the user's words."""
    from ..forms import why_form
    from ..memories import reasons

    with console.reading() as store:
        found = store.why(console.owner, memory, number)
        if console.as_json:
            console.form(why_form(found))
        else:
            console.lines(reasons(found, short_ids(console, store)))


@click.command("history", cls=Command, example="memstrata history 3fa8b2c1 --as-of 2026-10-15")
@click.argument("memory", metavar="ID")
@_as_of
@_valid_at
@on_store
@with_json
@pass_console
def history(console: Console, memory: str, as_of: int | datetime | None, valid_at: datetime | None) -> None:
    """Show every version of a memory, oldest first, with both kinds of time."""
    from .. import memories
    from ..forms import version_form

    with console.reading() as store:
        full = store.memory(console.owner, memory, as_of=as_of).memory_id
        versions = store.history(console.owner, full, as_of=as_of)
        periods = store.periods(console.owner, full, as_of=as_of)
        if valid_at is not None:
            holding = {
                p.number
                for p in periods
                if p.valid_from <= valid_at and (p.valid_to is None or valid_at < p.valid_to)
            }
            versions = [row for row in versions if row.number in holding]
        if console.as_json:
            for row in versions:
                console.form(version_form(row, periods))
            return
        console.lines(memories.history(versions, periods, short_batches(console, store)))
        if not versions:
            console.note("there is no version" + (" that holds then" if valid_at else ""))


@click.command("diff", cls=Command, example="memstrata diff 3fa8b2c1 1 2")
@click.argument("memory", metavar="ID")
@click.argument("old", type=click.IntRange(min=1), metavar="V1")
@click.argument("new", type=click.IntRange(min=1), metavar="V2")
@on_store
@with_json
@pass_console
def diff(console: Console, memory: str, old: int, new: int) -> None:
    """Compare two versions of a memory, field by field and word by word."""
    from .. import memories

    with console.reading() as store:
        versions = {row.number: row for row in store.history(console.owner, memory)}
        before, after = _version(versions, memory, old), _version(versions, memory, new)
        if not console.as_json:
            console.lines(memories.diffed(before, after))
            return
        left, right = before.statement, after.statement
        changes = memories.difference(left, right) if left and right else []
        console.form(
            {
                "id": before.memory_id,
                "from": old,
                "to": new,
                "changes": [{"field": name, "from": a, "to": b} for name, a, b in changes],
                "content": [
                    {"op": kind, "text": text}
                    for kind, text in (memories.pieces(left.content, right.content) if left and right else [])
                ],
            }
        )


def _version(versions: dict[int, VersionRow], memory: str, number: int) -> VersionRow:
    from ....domain.errors import NotFoundError

    if number not in versions:
        raise NotFoundError("version", f"{memory} v{number}", "`memstrata history` shows them")
    return versions[number]


# --- audit ---------------------------------------------------------------------------------------


@click.command("log", cls=Command, example="memstrata log --type Updated --since 2026-10-01 --limit 20")
@click.option(
    "--type", "kinds", multiple=True, metavar="TYPE", help="Created, memory.created … (repeatable)."
)
@click.option("--session", metavar="ID", help="Events of this session's turns.")
@click.option("--memory", metavar="ID", help="Events of this memory.")
@click.option("--since", type=Moment(start=True), help="Recorded at this time or later.")
@click.option("--until", type=Moment(), help="Recorded before this time; a date is included.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The last so many.")
@on_store
@with_json
@pass_console
def log(
    console: Console,
    kinds: tuple[str, ...],
    session: str | None,
    memory: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int | None,
) -> None:
    """Print the owner's events in the order in which they were recorded."""
    from ..audit import logged
    from ..forms import event_form

    topics = _topics(kinds)
    with console.reading() as store:
        stream = store.resolve(console.owner, memory) if memory else None
        found = [
            (entry, of)
            for entry, of in _with_sessions(store.log(console.owner))
            if (not topics or entry.event.TOPIC in topics)
            and (session is None or of == session)
            and (stream is None or entry.stream_id == stream)
            and (since is None or entry.recorded_at >= since)
            and (until is None or entry.recorded_at < until)
        ]
        found = found[-limit:] if limit else found
        erased = {listed.memory_id for listed in store.by_status(console.owner, "erased")}
        if console.as_json:
            for entry, of in found:
                console.form(event_form(entry, of, erased))
            return
        console.lines(logged([entry for entry, _ in found], erased))
        if not found:
            console.note("no event" + (" fits" if kinds or session or memory or since or until else ""))


def _topics(kinds: Sequence[str]) -> set[str]:
    """The topics that are meant by class names or topics.

    Raises:
        click.UsageError: there is no such type.
    """
    from ....domain.events import EVENT_TYPES

    names = {cls.__name__.lower(): topic for topic, cls in EVENT_TYPES.items()}
    unknown = [kind for kind in kinds if kind not in EVENT_TYPES and kind.lower() not in names]
    if unknown:
        known = ", ".join(sorted(cls.__name__ for cls in EVENT_TYPES.values()))
        raise click.UsageError(f"--type: {unknown[0]!r} is no event type; known are {known}")
    return {kind if kind in EVENT_TYPES else names[kind.lower()] for kind in kinds}


def _with_sessions(entries: Iterator[RecordedEvent]) -> Iterator[tuple[RecordedEvent, str | None]]:
    """Each event with its turn's session: from its own words, else from an earlier one of the turn."""
    from ....domain.events import Created, Judged, Proposed, Updated

    sessions: dict[str, str] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, Judged | Proposed):
            of: str | None = event.context.session
            sessions[event.correlation_id] = event.context.session
        elif isinstance(event, Created | Updated):
            of = event.statement.provenance.session
        else:
            of = sessions.get(event.correlation_id)
        yield entry, of


@click.command("decisions", cls=Command, example="memstrata decisions --outcome refused --limit 20")
@click.option(
    "--outcome", type=click.Choice(["accepted", "held", "refused", "confirmed"]), help="Only these."
)
@click.option("--kind", type=click.Choice(["judged", "proposed"]), help="Only judgements, or only proposals.")
@click.option("--session", metavar="ID", help="Of this session.")
@click.option("--turn", metavar="ID", help="About this turn.")
@click.option("--memory", metavar="ID", help="About this memory.")
@click.option("--since", type=Moment(start=True), help="Said at this time or later.")
@click.option("--until", type=Moment(), help="Said before this time; a date is included.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The last so many.")
@click.option("--stats", is_flag=True, help="How often each decision was taken, in place of the list.")
@on_store
@with_json
@pass_console
def decisions(
    console: Console,
    outcome: Any,
    kind: Any,
    session: str | None,
    turn: str | None,
    memory: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int | None,
    stats: bool,
) -> None:
    """List judgements and proposals, refused ones too, each with reason and rule."""
    from ....projections.ports import DecisionQuery
    from .. import audit
    from ..forms import decision_form
    from ..tables import table

    with console.reading() as store:
        query = DecisionQuery(
            session=session,
            outcome=outcome,
            kind=kind,
            since=since,
            until=until,
            turn_id=store.resolve(console.owner, turn, "turn") if turn else None,
            memory_id=store.resolve(console.owner, memory) if memory else None,
            limit=limit,
        )
        rows = store.decisions(console.owner, query)
        if stats:
            counts = audit.statistics(rows)
            if not console.as_json:
                cells = [[str(n), action, out, reason] for action, out, reason, n in counts]
                console.lines(table([">number", "action", "outcome", "reason"], cells))
                return
            for action, out, reason, n in counts:
                console.form({"action": action, "outcome": out or None, "reason": reason, "number": n})
        elif console.as_json:
            for row in rows:
                console.form(decision_form(row))
        else:
            console.lines(audit.decisions(rows, short_ids(console, store)))
        if not rows:
            console.note("no decision fits" if query != DecisionQuery() else "nothing was decided yet")


@click.command("held", cls=Command, example="memstrata held")
@on_store
@with_json
@pass_console
def held(console: Console) -> None:
    """List what was proposed and waits for repetition or for a person."""
    from ..forms import memory_form
    from ..tables import table
    from ..text import stamp
    from ..turns import scope_of

    with console.reading() as store:
        rows = store.held(console.owner)
        if console.as_json:
            for row in rows:
                console.form(memory_form(row))
            return
        short = short_ids(console, store)
        cells = [
            [
                short(row.memory_id),
                scope_of(row.statement) if row.statement else "",
                f"{row.confidence:.2f}" if row.confidence is not None else "",
                str(row.occasions),
                stamp(row.updated_at),
                row.content,
            ]
            for row in rows
        ]
        console.lines(table(["id", "scope", "conf", ">seen", "last", "content"], cells))
        console.note("`memstrata confirm ID` or `memstrata reject ID`" if rows else "nothing is held")


# --- recall --------------------------------------------------------------------------------------


@click.command("search", cls=Command, example="memstrata search 薪资 --limit 5")
@click.argument("query")
@click.option("--limit", type=click.IntRange(min=1), default=10, metavar="N", help="At most so many.")
@on_store
@with_json
@pass_console
def search(console: Console, query: str, limit: int) -> None:
    """Find memories that hold now and share words with QUERY, best first."""
    with console.reading() as store:
        _print_lines(console, store, store.search(console.owner, query, limit=limit))


@click.command("context", cls=Command, example='memstrata context "帮我写周报" --task report-12 --budget 400')
@click.argument("query")
@click.option("--task", metavar="ID", help="The task in hand.")
@click.option("--project", metavar="ID", help="The project in hand.")
@click.option("--session", metavar="ID", help="The session, where no task is named.")
@click.option("--family", "families", multiple=True, metavar="NAME", help="Family of the task: writing …")
@click.option("--budget", type=click.IntRange(min=1), default=800, metavar="TOKENS", help="Tokens at most.")
@on_store
@with_json
@pass_console
def context(console: Console, /, query: str, families: tuple[str, ...], **more: Any) -> None:
    """Print what an agent should know for QUERY: background, not instruction."""
    with console.reading() as store:
        _print_lines(console, store, store.context(console.owner, query, families=families, **more))


def _print_lines(console: Console, store: Memstrata, lines: Sequence[Any]) -> None:
    from ..forms import line_form
    from ..text import clean, styled

    if console.as_json:
        for line in lines:
            console.form(line_form(line))
        return
    short = short_ids(console, store)
    console.lines(f"{styled(short(line.memory_id), 'dim')}  {clean(line.text)}" for line in lines)
    if not lines:
        console.note("nothing is remembered that fits")


COMMANDS = (list_memories, show, why, history, diff, log, decisions, held, search, context)
