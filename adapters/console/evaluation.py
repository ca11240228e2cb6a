"""The rates of an evaluation, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .tables import table
from .text import clean


def shown(document: Mapping[str, Any], *, failures: bool = True) -> list[str]:
    """Rates, kinds and languages as tables, then the cases that are not right."""
    counts = document["counts"]
    rates = [[name, _percent(rate), *_counted(counts[name])] for name, rate in document["rates"].items()]
    head = ["rate", ">share", ">cases", ">from", ">to"]
    lines = [f"{document['cases']} cases, {document['leaks']} leaks", "", *table(head, rates)]
    rows = [
        [name, *_right(one), *_confused(document["confusion"][name])]
        for name, one in document["by_kind"].items()
    ]
    lines += ["", *table(["kind", ">cases", ">right", ">share", *_CONFUSION], rows)]
    rows = [[name, *_right(one)] for name, one in document["by_lang"].items()]
    lines += ["", *table(["language", ">cases", ">right", ">share"], rows)]
    if failures and document["failures"]:
        lines += ["", *(f"{one['id']}: {clean(one['why'])}" for one in document["failures"])]
    return lines


def compared(document: Mapping[str, Any], before: str, after: str) -> list[str]:
    """The rates of two policies, then each case that the second decides otherwise."""
    rates = [
        [name, _percent(rate["before"]), _percent(rate["after"])] for name, rate in document["rates"].items()
    ]
    right, leaks = document["right"], document["leaks"]
    lines = [
        f"{document['cases']} cases; A is {before}, B is {after}",
        f"right: A {right['before']}, B {right['after']}; leaks: A {leaks['before']}, B {leaks['after']}",
        "",
        *table(["rate", ">A", ">B"], rates),
    ]
    changed = document["changed"]
    lines += [
        "",
        f"{len(changed)} cases are decided otherwise" if changed else "Every case is decided alike.",
    ]
    for one in changed:
        lines += [
            f"{one['id']} ({one['outcome']})",
            f"  A: {clean(one['before'])}",
            f"  B: {clean(one['after'])}",
        ]
    return lines


_CONFUSION = [">written", ">held", ">missed", ">kept out", ">held back", ">wrongly written"]
"""Of what had to be written, then of what must not be."""


def _confused(kind: Mapping[str, Mapping[str, int]]) -> list[str]:
    wanted, unwanted = kind.get("write", {}), kind.get("nothing", {})
    counts = [wanted.get(taken, 0) for taken in ("write", "hold", "nothing")]
    counts += [unwanted.get(taken, 0) for taken in ("nothing", "hold", "write")]
    return [str(count) if count else "" for count in counts]


def _right(one: Mapping[str, int]) -> list[str]:
    return [str(one["cases"]), str(one["right"]), f"{one['right'] / one['cases']:.0%}"]


def _percent(rate: float | None) -> str:
    return "no case" if rate is None else f"{rate:.1%}"


def _counted(count: Mapping[str, float] | None) -> list[str]:
    if count is None:
        return ["", "", ""]
    return [f"{count['hits']} of {count['of']}", f"{count['low']:.1%}", f"{count['high']:.1%}"]
