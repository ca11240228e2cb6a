"""The rates of an evaluation, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .tables import table
from .text import clean


def shown(document: Mapping[str, Any], *, failures: bool = True) -> list[str]:
    """Rates, kinds and languages as tables, then the cases that are not right."""
    rates = [[name, "no case" if rate is None else f"{rate:.1%}"] for name, rate in document["rates"].items()]
    lines = [f"{document['cases']} cases, {document['leaks']} leaks", "", *table(["rate", ">share"], rates)]
    for title, key in (("kind", "by_kind"), ("language", "by_lang")):
        rows = [
            [name, str(one["cases"]), str(one["right"]), f"{one['right'] / one['cases']:.0%}"]
            for name, one in document[key].items()
        ]
        lines += ["", *table([title, ">cases", ">right", ">share"], rows)]
    if failures and document["failures"]:
        lines += ["", *(f"{one['id']}: {clean(one['why'])}" for one in document["failures"])]
    return lines
