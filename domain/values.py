"""The small values that everything else is made of."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

StreamId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
"""32 lower-case hex digits. Opaque: nothing about content or owner can be read from it."""


Moment = AwareDatetime
"""A point in time with its offset; two moments compare by the instant, not by the spelling."""


class Value(BaseModel):
    """Frozen and closed: an unknown field is an error, not a silent loss."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_timedelta="float", defer_build=True)


class EventRef(Value):
    """Names one event for ever: its stream and its place there."""

    stream: StreamId
    version: int = Field(ge=1)
    """The first event of a stream is 1."""


MemoryType = Literal[
    "preference",
    "boundary",
    "relationship_goal",
    "conversation_style",
    "important_fact",
    "identity_profile",
    "constraint",
    "state",
]

Polarity = Literal["positive", "negative"]

Certainty = Literal["certain", "uncertain", "reported"]
"""`uncertain`: the speaker hedged. `reported`: somebody else is said to have said so."""

Source = Literal[
    "explicit_user_statement", "repeated_behaviour", "single_task_inference", "attestation", "other"
]
"""How the words carry the candidate. `attestation`: a named person or an import vouches for it."""

Channel = Literal["rule", "model", "person", "import", "job"]
"""Which kind of machinery put the candidate forward."""

Action = Literal["WRITE", "UPDATE", "MERGE", "DELETE", "SKIP", "HOLD"]

Outcome = Literal["accepted", "held", "refused", "confirmed"]

UpdateKind = Literal["replace", "correct", "refine", "merge", "rescope", "extend", "reweigh", "late"]
