"""What one version of a memory says, in full."""

from __future__ import annotations

from pydantic import Field

from .evidence import Evidence
from .expiry import NEVER, End
from .scope import Scope
from .values import Certainty, Channel, MemoryType, Moment, Polarity, Source, Value


class Provenance(Value):
    """Where a statement came from: who said it, where, and what let it in."""

    turn_id: str | None = None
    session: str | None = None
    message_id: str | None = None
    agent: str | None = None
    said_at: Moment
    zone: str
    channel: Channel
    extractor: str
    rule: str
    source: Source


class Statement(Value):
    """What one version says.

    A version-producing event carries it whole, so that reading one event is enough to know the version.
    """

    subject: str = "user"
    attribute: str
    type: MemoryType
    content: str
    value: str | None = None
    polarity: Polarity = "positive"
    certainty: Certainty = "certain"
    exclusive: bool = False
    scope: Scope
    confidence: float = Field(ge=0, le=1)
    importance: int = Field(ge=0, le=5)
    valid_from: Moment
    """Start in the world. Its end is derived by the fold from what came after, never stored."""
    end: End = NEVER
    evidence: tuple[Evidence, ...] = Field(min_length=1)
    provenance: Provenance

    @property
    def value_or_content(self) -> str:
        """What tells it from others of its subject and attribute: the value, for free text the content."""
        return self.value or self.content

    def says_the_same(self, other: Statement) -> bool:
        """Equal in everything that a reader of the memory could notice, weight included."""
        return self._said() == other._said()

    def _said(self) -> tuple[object, ...]:
        return (
            self.content,
            self.value,
            self.polarity,
            self.certainty,
            self.exclusive,
            self.scope,
            self.confidence,
            self.valid_from,
            self.end,
        )
