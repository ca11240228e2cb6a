"""What a message only shows: code, quotations, documents, logs, and what is played.

None of it is the user speaking, so nothing in it is ever evidence. How it is introduced and what its lines
look like is data (`lexicon/material.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .introduction import announced_in, introduced_in, lead_in, reported_in
from .layout import blocks_in, code_in, lines_of, transcript_in
from .markup import markup_in
from .material_words import material_words
from .playing import ends_fiction, starts_fiction
from .quotation import enclosed, quotes_in
from .sought import Pieces

MaterialKind = Literal["code", "quote", "document", "log", "fiction"]


@dataclass(frozen=True, slots=True)
class Material:
    """A stretch that is shown, not said: half-open offsets into the normalised text."""

    start: int
    end: int
    kind: MaterialKind


def is_unusual(text: str, pieces: Pieces) -> bool:
    """Whether a text holds words by which something may be shown, or may be said by somebody else."""
    return material_words().unusual.met_in(text, pieces)


def material_in(text: str, pieces: Pieces, *, in_fiction: bool, unusual: bool) -> tuple[Material, ...]:
    """What is only shown in a normalised text, in order, none overlapping.

    `in_fiction` says that a former turn began a play: all of the text is then fiction, unless it ends it.
    `unusual` is what `is_unusual` says of the text.
    """
    if not text:
        return ()
    words = material_words()
    found: list[Material] = [Material(*m.span(), "code") for m in _FENCE.finditer(text)]
    if "<" in text or "[" in text:
        found += [Material(*span, "code") for span in markup_in(text)]
    if "{" in text:
        found += _json_blocks(text)
        found += [Material(*m.span(), "log") for m in _RECORD.finditer(text)]
    if "\n" in text:
        found += [Material(*m.span(), "log") for m in _QUOTED_LINE.finditer(text)]
        found += [Material(*m.span(), "log") for m in words.one["log_line"].finditer(text, pieces)]
        found += _shaped(text)
    if _SIGN.search(text):
        found += [Material(*m.span(), "log") for m in words.each["signs"].finditer(text, pieces)]
    if _DIGIT.search(text):
        found += [Material(*m.span(), "log") for m in words.one["ciphers"].finditer(text, pieces)]
    found += [Material(start, end, "quote") for start, end in quotes_in(text, pieces)]
    headings = (span for span in enclosed(text, _HEADING, _HEADINGS) if span[1] - span[0] > _SHORT_HEADING)
    found += [Material(*span, "document") for span in headings]
    found += [Material(*m.span(), "document") for m in _BRACKETS.finditer(text)]
    if unusual:
        found += [Material(*span, "document") for span in reported_in(text, pieces)]
    if ":" in text or "\n" in text:  # without either, nothing is introduced
        found += [Material(*span, "document") for span in introduced_in(text, pieces)]
        found += [Material(*span, "document") for span in announced_in(text, pieces)]
    fiction = 0 if in_fiction else starts_fiction(text, pieces) if unusual else None
    if fiction is not None and not (in_fiction and ends_fiction(text, pieces)):
        found.append(Material(fiction, len(text), "fiction"))
    led_in = [
        Material(start, part.start, part.kind)
        for part in found
        if part.kind in ("document", "quote") and (start := lead_in(text, part.start)) < part.start
    ]
    return _merged([*found, *led_in])


_SIGN = re.compile(r"[=%&(\\#~>|+]|[-.] [-.]")
_DIGIT = re.compile("[0-9]")
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_HEADINGS = {"【": "】"}
_HEADING = re.compile("【")
_SHORT_HEADING = 9  # code points, marks included; shorter ones are words that are set off
_RECORD = re.compile(r"\{[^{}\n:]{1,200}:[^{}\n]{1,1000}\}")
_BRACKETS = re.compile(r"\[(?:[^\[\]\n]{12,1000})\]")
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\+\+\+|---|@@).*$", re.M)


def _json_blocks(text: str) -> list[Material]:
    """From a line that opens with a brace or bracket to the next line that begins by closing one."""
    blocks: list[Material] = []
    begun: int | None = None
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if begun is None and bare.startswith(("{", "[")) and not bare.endswith(("}", "]")):
            begun = at
        elif begun is not None and bare.startswith(("}", "]")):
            blocks.append(Material(begun, at + len(line.rstrip()), "log"))
            begun = None
        elif bare.startswith('{"') and bare.endswith("}"):
            blocks.append(Material(at, at + len(line.rstrip()), "log"))
        at += len(line)
    return blocks


def _shaped(text: str) -> Iterator[Material]:
    """What the shape of the lines tells."""
    shapes, lines = material_words().shapes, lines_of(text)
    yield from (Material(*span, "code") for span in code_in(lines, shapes))
    yield from (Material(*span, "document") for span in transcript_in(lines, shapes))
    yield from (Material(*span, "document") for span in blocks_in(lines, shapes))


def _merged(found: list[Material]) -> tuple[Material, ...]:
    """In order, overlapping ones melted into the first of them."""
    merged: list[Material] = []
    for part in sorted(found, key=lambda m: (m.start, -m.end)):
        if merged and part.start < merged[-1].end:
            if part.end > merged[-1].end:
                merged[-1] = Material(merged[-1].start, part.end, merged[-1].kind)
        else:
            merged.append(part)
    return tuple(merged)
