"""Corrections of the former turn: "I meant five years" says only what was wrong in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ...domain.candidate import Candidate
from ...domain.ports import Prepared

_LOOK_BACK = 3
"""User messages of the session that a correction may refer to."""

_NUMERAL_SOURCE = (
    r"(?:[0-9]+(?:[.,][0-9]+)?|[零一二两三四五六七八九十百千万半]+"
    r"|(?<![A-Za-z])(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)(?![A-Za-z]))"
)
_NUMERAL = re.compile(_NUMERAL_SOURCE)


def corrected(prepared: Prepared, new: str) -> tuple[Candidate, Candidate] | None:
    """The newest former candidate into which the new words fit, as it was and as it reads now.

    The new words take the place of the former value, or of words of the same shape (`5年` for `3年`).
    None when no former turn holds anything that they could correct.
    """
    for text in reversed([said for _, said in prepared.history[-_LOOK_BACK:]]):
        for former in _found_in(prepared, text):
            for rewritten in _rewritten(text, former, new):
                for said in _found_in(prepared, rewritten):
                    if (said.rule, said.attribute) == (
                        former.rule,
                        former.attribute,
                    ) and said.value != former.value:
                        return former, said
    return None


def _found_in(prepared: Prepared, text: str) -> list[Candidate]:
    from .engine import RuleExtractor

    found = RuleExtractor().extract(replace(prepared, text=text, history=()))
    return [one for one in found if one.value and one.kind in ("fact", "preference", "state", "plan")]


def _rewritten(text: str, former: Candidate, new: str) -> Iterator[str]:
    if former.value and former.value in text:
        yield text.replace(former.value, new, 1)
    if _NUMERAL.search(new):
        shape = _NUMERAL_SOURCE.join(re.escape(part) for part in _NUMERAL.split(new))
        if re.search(shape, text):
            yield re.sub(shape, new.replace("\\", ""), text, count=1)
