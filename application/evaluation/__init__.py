"""Does the write gate decide rightly? Golden cases are played and judged, and rates are counted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from ...domain.errors import InvalidInputError
from .cases import Case, Located, parse_case, read_cases
from .comparing import Comparison
from .judging import Verdict, judge
from .rates import RATES, Evaluation, Share
from .running import CaseClock, OpenStore, Played, Remembering, Store, looks_everywhere, play

__all__ = [
    "RATES",
    "Case",
    "CaseClock",
    "Comparison",
    "Evaluation",
    "Located",
    "OpenStore",
    "Played",
    "Remembering",
    "Share",
    "Store",
    "Verdict",
    "evaluate",
    "evaluate_files",
    "judge",
    "parse_case",
    "play",
    "read_cases",
]


def evaluate_files(
    paths: Iterable[str | Path],
    open_store: OpenStore,
    *,
    kinds: Collection[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Play and judge every case of the files, each as an owner of its own.

    Args:
        paths: Files of cases, one JSON object a line.
        open_store: Opens a fresh store in memory on the clock that it is given.
        kinds: Play only cases of these kinds; empty for all.
        progress: Called after each case with the number of cases played, and of all.

    Raises:
        InvalidInputError: a file is malformed; names file, line and field. No case is played then. Or no
            case is of these kinds.
    """
    cases = list(read_cases(paths))
    chosen = [one for one in cases if not kinds or one.case.kind in kinds]
    if kinds and not chosen:
        there = ", ".join(sorted({one.case.kind for one in cases})) or "no case at all"
        raise InvalidInputError("kind", f"no case is of the kind {', '.join(kinds)}", f"there are: {there}")
    return evaluate(chosen, open_store, progress=progress)


def evaluate(
    cases: Iterable[Located], open_store: OpenStore, *, progress: Callable[[int, int], None] | None = None
) -> Evaluation:
    """Play and judge the cases in their order."""
    listed = list(cases)
    verdicts: list[Verdict] = []
    clock = CaseClock()
    with open_store(clock) as shared:
        for number, located in enumerate(listed, start=1):
            if looks_everywhere(located.case):
                verdicts.append(_alone(located, open_store))
            else:
                verdicts.append(judge(play(located, shared, clock)))
            if progress is not None:
                progress(number, len(listed))
    return Evaluation(tuple(verdicts))


def _alone(located: Located, open_store: OpenStore) -> Verdict:
    clock = CaseClock()
    with open_store(clock) as store:
        return judge(play(located, store, clock))
