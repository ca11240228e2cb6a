"""Tables: fitted to the terminal, or as wide as they are where the output goes to a file or a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from .text import clean, fit, pad, styled, terminal_width, toned, width

_GAP = "  "
_LEAST = 16
"""Columns that a shortened column keeps at least."""


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, long: int | None = None) -> list[str]:
    """Lines of a table; none where there is no row.

    Args:
        headers: Names of the columns; one that begins with `>` is set to the right.
        rows: Cells as text; whatever could steer a terminal is made visible here.
        long: The column that is cut when a terminal is too narrow; None is the last one.
    """
    if not rows:
        return []
    names = [header.removeprefix(">") for header in headers]
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(width(cell) for cell in column) for column in zip(names, *cells, strict=True)]
    long = len(names) - 1 if long is None else long
    columns = terminal_width()
    if columns is not None:
        over = sum(widths) + len(_GAP) * (len(widths) - 1) - columns
        if over > 0:
            widths[long] = max(min(_LEAST, widths[long]), widths[long] - over)
    right = [header.startswith(">") for header in headers]
    head = _GAP.join(pad(name, w, right=r) for name, w, r in zip(names, widths, right, strict=True))
    body = [
        _GAP.join(
            toned(cell, pad(fit(cell, w), w, right=r)) for cell, w, r in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return [styled(head.rstrip(), "bold"), *body]


def fields(pairs: Sequence[tuple[str, str]], indent: str = "") -> list[str]:
    """Lines `name  value` with the values below each other; pairs without a value are left out."""
    given = [(name, clean(value)) for name, value in pairs if value]
    column = max((width(name) for name, _ in given), default=0)
    return [f"{indent}{styled(pad(name, column), 'dim')}  {toned(value)}" for name, value in given]
