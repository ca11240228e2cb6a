"""What a memory rests on: the user's own words, or somebody's attestation."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .values import StreamId, Value


class Span(Value):
    """A half-open stretch of code points of one turn's stored user text."""

    start: int = Field(ge=0)
    end: int = Field(ge=1)


class Evidence(Value):
    """One or more spans of one turn's user text, or a named person's or import's attestation.

    The quotes are the stored text at the spans, in their order; secrets in it are masked already.
    An attestation has no spans; its quote is what was attested.
    """

    kind: Literal["words", "person", "import"] = "words"
    turn_id: StreamId | None = None
    spans: tuple[Span, ...] = ()
    quotes: tuple[str, ...] = ()
    attested_by: str | None = None
    """Who vouches, for `person` and `import`."""


def bind(turn_id: str, text: str, spans: tuple[Span, ...]) -> Evidence:
    """Take the quotes at the spans from the turn's own text.

    Raises:
        ValueError: no span, a span outside the text, or one that holds nothing but white space.
    """
    if not spans:
        raise ValueError("evidence needs at least one span")
    quotes = []
    for span in spans:
        if not span.start < span.end <= len(text):
            raise ValueError(f"span {span.start}..{span.end} is outside a text of {len(text)}")
        quote = text[span.start : span.end]
        if not quote.strip():
            raise ValueError(f"span {span.start}..{span.end} holds no words")
        quotes.append(quote)
    return Evidence(turn_id=turn_id, spans=spans, quotes=tuple(quotes))


def stands_in(evidence: Evidence, text: str) -> bool:
    """Whether every quote is what the text says at its span."""
    return (
        evidence.kind == "words"
        and len(evidence.spans) == len(evidence.quotes) > 0
        and all(
            0 <= span.start < span.end <= len(text) and text[span.start : span.end] == quote
            for span, quote in zip(evidence.spans, evidence.quotes, strict=True)
        )
    )
