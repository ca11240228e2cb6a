"""Write docs/quality.md from what `memstrata eval --json` prints.

memstrata eval FILES… --json | python benchmarks/quality.py > docs/quality.md
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

BARS = {
    "wrong_write": "≤ 5 %",
    "missed_write": "≤ 35 %",
    "scope_error": "≤ 10 %",
    "over_generalised": "≤ 1 %",
    "conflict_accuracy": "≥ 85 %",
    "lifetime_error": "≤ 10 %",
}
MEANINGS = {
    "wrong_write": "of the cases in which nothing may be written: the active memories changed",
    "missed_write": "of the cases in which something must be written: nothing with the expected words was, "
    "or what was to end still stands",
    "scope_error": "of the cases that name a scope and wrote something: it reaches another scope",
    "over_generalised": "of the same: it reaches further than allowed",
    "conflict_accuracy": "of the cases about given memories: exactly those changed, or stayed, that should",
    "lifetime_error": "of the cases that name an end and wrote something: it ends at another time",
    "reason_accuracy": "of the cases that name a reason: a decision has it",
    "type_error": "of the cases that name a type: what was written is of another type",
}

HEAD = """# Quality of the write gate

This page is generated; its figures are of {date}, from {cases} cases with the offline gate: rules
and the small model that comes with the package, no language model. To make it anew, where `GOLDEN`
is the folder of the cases:

```sh
memstrata eval GOLDEN/*.jsonl --json | python benchmarks/quality.py > docs/quality.md
```

The cases were there while the rules were written, so the figures say how well the rules cover what
they were written for. Other people's words will be decided less well; how much less
stands in [quality on unseen cases](quality-unseen.md).
"""

CASES = """## What a case is

One JSON object a line. `id` names it, `kind` says what it is about, `lang` is `zh`, `en` or `mixed`.
`now` is its clock, 10:00 on 2 March 2026 at UTC+08:00 unless it says otherwise; turns are a minute
apart and form one session. A malformed case is an error that names file, line and field.

- `given.memories` are active before the first turn. They enter as an operator's import the day before:
  `id`, `content` and, where they are given, `type`, `scope` (else `global`), `attribute`, `value` and
  `confidence`. `given.session` is the session's `task`, `task_id`, `project` and `recent_tasks`; a turn
  may change any of them with a `session` of its own, or forbid extraction with `allow_extraction`.
- `expect` is about the last turn. `write`: the active memories must, or must not, change in content,
  value, polarity, scope, end or membership; weight and counters do not count. `action` and `reason`
  are met by the strongest candidate, a list of them by any. `type`, `scope` and `expires` (`never`,
  `task_finished` or the last day on which it holds) are asked of the memory that `contains` is about:
  of each group one string must stand in its content or value, whatever case and width. Of several
  such memories the one that fits best is judged.
- `target` is the given memory that must change or end, beside which no other may. `unchanged` ones must
  stay, though a `MERGE` may add to them.
- `absent` strings may stand in no event, in no column of any table and not in the report; with
  `absent_in: active` in no active memory. A case in which one is found is a leak.
- Where nothing may be written, holding is as good as skipping, except for secrets, planted, quoted and
  assistant's text, blocked turns and duplicates: of those not even a proposal may be kept.

A case is right when everything that it expects holds. The rules of counting are held by
`tests/evaluation/test_rates.py`, which plants every error that a rate must count.
"""


def share(rate: float | None) -> str:
    return "no case" if rate is None else f"{100 * rate:.1f} %"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    return [line(head), line(["---", *["---:"] * (len(head) - 1)]), *map(line, rows)]


def groups(document: Mapping[str, Mapping[str, int]]) -> list[list[str]]:
    return [
        [f"`{name}`", str(group["cases"]), str(group["right"]), share(group["right"] / group["cases"])]
        for name, group in document.items()
    ]


def bounds(count: Mapping[str, float] | None) -> str:
    return "" if count is None else f"{100 * count['low']:.1f}–{100 * count['high']:.1f} %"


def confused(kind: Mapping[str, Mapping[str, int]]) -> list[str]:
    wanted, unwanted = kind.get("write", {}), kind.get("nothing", {})
    counts = [wanted.get(taken, 0) for taken in ("write", "hold", "nothing")]
    counts += [unwanted.get(taken, 0) for taken in ("nothing", "hold", "write")]
    return [str(count or "") for count in counts]


def failures(document: Mapping[str, Any]) -> list[str]:
    """The cases that are not right, with what is wrong; not what they say."""
    if not document["failures"]:
        return ["Every case is right."]
    rows = []
    kinds: Counter[str] = Counter()
    for failure in document["failures"]:
        wrong = [part.partition(":")[0].strip() for part in failure["why"].split(" | ")]
        kinds.update(wrong)
        rows.append([f"`{failure['id']}`", ", ".join(wrong)])
    counted = ", ".join(f"{name} {count}" for name, count in kinds.most_common())
    return [f"{len(rows)} cases are not right ({counted}).", "", *table(["case", "wrong"], rows)]


def page(document: Mapping[str, Any], date: str) -> str:
    rates = [
        [f"`{name}`", share(rate), bounds(document["counts"][name]), BARS.get(name, ""), MEANINGS[name]]
        for name, rate in document["rates"].items()
    ]
    parts = [
        HEAD.format(date=date, cases=document["cases"]),
        "## Rates\n",
        "| rate | share | 95 % lie within | bar | what it is the share of |",
        "| --- | ---: | ---: | ---: | --- |",
        *(f"| {' | '.join(row)} |" for row in rates),
        f"\nLeaks: {document['leaks']} (bar: 0).\n",
        CASES,
        "## By language\n",
        *table(["language", "cases", "right", "share"], groups(document["by_lang"])),
        "\n## By kind\n",
        "Of what had to be written: written, held, missed. Of what must not be: kept out, held, written.\n",
        *table(
            ["kind", "cases", "right", "share", "written", "held", "missed", "kept out", "held", "wrong"],
            [
                [*row, *confused(document["confusion"][kind])]
                for row, kind in zip(groups(document["by_kind"]), document["by_kind"], strict=True)
            ],
        ),
        "\n## What is not right\n",
        *failures(document),
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="docs/quality.md from the output of `memstrata eval --json`."
    )
    parser.add_argument("--date", default=datetime.now(UTC).date().isoformat(), help="the day of the figures")
    options = parser.parse_args()
    sys.stdout.write(page(json.load(sys.stdin), options.date))


if __name__ == "__main__":
    main()
