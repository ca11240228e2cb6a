"""What one call of a command works with: settings, the opened store, and where output goes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...domain.errors import MemstrataError, StoreUnavailableError

if TYPE_CHECKING:
    from ...bootstrap import Memstrata
    from ...domain.owner import Owner

DEFAULT_DB = "memstrata.db"
DEFAULT_OWNER = "local/default"


class Console:
    """Settings of one call, and its output: results on stdout, talk on stderr.

    With `as_json` both are JSON, one object a line: results, `{"note": …}` and `{"error": …}`.
    """

    def __init__(self) -> None:
        self.db: str | None = None
        self.owner_name: str | None = None
        self.actor_name: str | None = None
        self.as_json = False
        self.failures: set[int] = set()
        """Exit statuses of what went wrong without stopping the rest."""

    # --- who and where ---------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The store that was named, else the default."""
        return self.db or DEFAULT_DB

    @cached_property
    def owner(self) -> Owner:
        """The owner that was named; else the default, which is said."""
        from ...domain.owner import Owner

        if self.owner_name is None:
            self.note(f"owner: {DEFAULT_OWNER} (name another with --owner)", owner=DEFAULT_OWNER)
        return Owner.parse(DEFAULT_OWNER if self.owner_name is None else self.owner_name)

    @property
    def actor(self) -> str:
        """The person at the keyboard, as events name them."""
        names = (self.actor_name, *(os.environ.get(n) for n in ("USER", "LOGNAME", "USERNAME")))
        name = next((name.strip() for name in names if name and name.strip()), "cli")
        return f"operator:{name.removeprefix('operator:')}"

    @contextmanager
    def reading(self) -> Iterator[Memstrata]:
        """The store, for looking only: where there is none, an empty one stands in, and it is said."""
        path = self.path
        if path is not None and not path.exists():
            self.note(f"there is no store at {path} yet, so nothing is remembered", missing=str(path))
            with self._opened("sqlite://") as store:
                yield store
            return
        with self._opened(self.url) as store:
            yield store

    @contextmanager
    def existing(self) -> Iterator[Memstrata]:
        """The store, which has to be there.

        Raises:
            StoreUnavailableError: it is not.
        """
        path = self.path
        if path is not None and not path.exists():
            raise StoreUnavailableError(
                str(path), "there is no store", "`memstrata ingest` makes one; --db names another"
            )
        with self._opened(self.url) as store:
            yield store

    @contextmanager
    def writing(self) -> Iterator[Memstrata]:
        """The store, made when it is not there."""
        with self._opened(self.url) as store:
            yield store

    @property
    def path(self) -> Path | None:
        """The store's file; None where the URL names none."""
        scheme, separator, rest = self.url.partition("://")
        if not separator:
            return Path(self.url).absolute()
        name = rest.partition("?")[0].removeprefix("/")
        return Path(name).absolute() if scheme == "sqlite" and name else None

    @contextmanager
    def _opened(self, url: str) -> Iterator[Memstrata]:
        from ...bootstrap import Memstrata

        with Memstrata.open(url) as store:
            yield store

    # --- output ----------------------------------------------------------------------------------

    def lines(self, lines: Iterable[str]) -> None:
        """Results for people."""
        for line in lines:
            click.echo(line)

    def form(self, form: Mapping[str, object]) -> None:
        """A result for programs: one JSON object on a line of its own."""
        click.echo(to_json(form))

    def note(self, text: str, **facts: object) -> None:
        """Talk: what is good to know and no result."""
        if self.as_json:
            click.echo(to_json({"note": text, **facts}), err=True)
        else:
            click.echo(text, err=True)

    @property
    def status(self) -> int:
        """The exit status that the failures come to: theirs where they agree, else 1; 0 for none."""
        return next(iter(self.failures)) if len(self.failures) == 1 else min(len(self.failures), 1)

    def failed(self, form: dict[str, Any]) -> None:
        """Something went wrong, and the rest goes on; the form has `error`, `message` and `status`."""
        from .text import clean

        self.failures.add(form["status"])
        click.echo(to_json(form) if self.as_json else f"error: {clean(form['message'])}", err=True)

    def error(self, error: MemstrataError) -> int:
        """An error that ends the command; the exit status is returned."""
        from .failures import error_form, status_of

        self.failed(error_form(error))
        return status_of(error)


def to_json(form: Mapping[str, object]) -> str:
    """One line of JSON; text stays readable, and what UTF-8 cannot hold is escaped."""
    text = json.dumps(form, ensure_ascii=False, separators=(", ", ": "))
    return text.encode("utf-8", "backslashreplace").decode()


def console_of(context: click.Context) -> Console:
    """The console of a call; made when it is first asked for."""
    console: Console = context.find_root().ensure_object(Console)
    return console


pass_console = click.make_pass_decorator(Console, ensure=True)
