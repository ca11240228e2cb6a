"""What the lines of a message look like: code, settings, transcripts, blocks with a begin and an end.

The shapes are data (`lexicon/material.toml`). A message of one line has none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TIME = r"[\[(]?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?[\])]?"
_LABELLED = re.compile(
    rf"[ \t]*(?:[-*•] )?(?P<time>{_TIME} ?)?"
    r"[\[(<@]?(?P<label>[^\s:,.;!?。、\[\]()<>@][^:,.;!?。\n\[\]<>]{0,23}?)[\])>]?"
    rf"(?: ?:(?!//)| (?P<timed>{_TIME}) ?:?)(?=[ \t]*\S)"
)
_PROMPT = re.compile(r"[ \t]*(?:\$ |>>> |in \[[0-9]+\]|c:\\)\S")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, without its end: half-open offsets."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Shapes:
    """What whole lines look like, and (`speakers`) what stands in front of a colon."""

    code: re.Pattern[str]
    begins: re.Pattern[str]
    ends: re.Pattern[str]
    speakers: re.Pattern[str]


def lines_of(text: str) -> list[Line]:
    """The lines of a text, ended by line feeds."""
    lines: list[Line] = []
    at = 0
    for line in text.split("\n"):
        lines.append(Line(at, at + len(line), line))
        at += len(line) + 1
    return lines


def code_in(lines: Sequence[Line], shapes: Shapes) -> Iterator[tuple[int, int]]:
    """In each paragraph that has two lines of code or more: from the first of them to the last.

    What follows a prompt is its output, to the end of the paragraph.
    """
    for paragraph in _paragraphs(lines):
        if _PROMPT.match(paragraph[0].text):
            yield paragraph[0].start, paragraph[-1].end
        code = [line for line in paragraph if shapes.code.fullmatch(line.text)]
        if len(code) > 1:
            yield code[0].start, code[-1].end


def transcript_in(lines: Sequence[Line], shapes: Shapes) -> Iterator[tuple[int, int]]:
    """From the first line to the last that say who speaks, where two lines do and one of them plainly."""
    spoken = [(line, label) for line in lines if (label := _LABELLED.match(line.text)) is not None]
    times = Counter(label["label"] for _, label in spoken)
    plainly = [
        line
        for line, label in spoken
        if label["time"]
        or label["timed"]
        or times[label["label"]] > 1
        or shapes.speakers.fullmatch(label["label"].strip())
    ]
    if len(spoken) > 1 and plainly:
        yield spoken[0][0].start, spoken[-1][0].end


def blocks_in(lines: Sequence[Line], shapes: Shapes) -> Iterator[tuple[int, int]]:
    """From a line that says that something begins to the next one that says that it ends."""
    begun: Line | None = None
    for line in lines:
        if begun is None and shapes.begins.fullmatch(line.text):
            begun = line
        elif begun is not None and shapes.ends.fullmatch(line.text):
            yield begun.start, line.end
            begun = None


def _paragraphs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    paragraph: list[Line] = []
    for line in lines:
        if line.text.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph
