"""Errors carry facts and a next step. Callers branch on types and fields, never on text."""

from __future__ import annotations


class MemstrataError(Exception):
    """Base of everything that Memstrata raises on purpose."""


class NotFoundError(MemstrataError):
    """Nothing by that name belongs to this owner."""

    def __init__(self, what: str, name: str, hint: str = "`memstrata list` shows what there is") -> None:
        super().__init__(f"no {what} {name!r} for this owner; {hint}")
        self.what, self.name = what, name


class AmbiguousIdError(NotFoundError):
    """A shortened id fits several things."""

    def __init__(self, name: str, candidates: tuple[str, ...]) -> None:
        shown = ", ".join(candidates[:5])
        MemstrataError.__init__(self, f"{name!r} fits {len(candidates)} ids ({shown}); give more characters")
        self.what, self.name, self.candidates = "id", name, candidates


class InvalidInputError(MemstrataError):
    """What came in cannot be taken; nothing was written."""

    def __init__(self, field: str, problem: str, next_step: str) -> None:
        super().__init__(f"{field}: {problem}; {next_step}")
        self.field, self.problem, self.next_step = field, problem, next_step


class OwnerRequiredError(InvalidInputError):
    """A call named no owner, or one that is none."""

    def __init__(self, text: str = "") -> None:
        given = "is missing" if not text.strip() else f"{text[:60]!r} is not TENANT/USER"
        super().__init__("owner", given, "name the owner, for example 'acme/lin'")


class UnknownZoneError(InvalidInputError):
    """No such time zone."""

    def __init__(self, name: str) -> None:
        super().__init__("tz", f"{name!r} is no known time zone", "use an IANA name such as 'Asia/Shanghai'")


class ConflictError(MemstrataError):
    """Somebody else wrote first, or the thing is not in the state that the call expects."""


class OwnerPositionConflictError(ConflictError):
    """The owner's memories moved on while the caller decided."""

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(f"the owner is at position {actual}, not {expected}; reload and decide again")
        self.expected, self.actual = expected, actual


class WrongExpectedVersionError(ConflictError):
    """Another writer appended to the stream first."""

    def __init__(self, stream_id: str, expected: int) -> None:
        super().__init__(f"stream {stream_id} already has a version {expected}; reload and decide again")
        self.stream_id, self.expected = stream_id, expected


class TurnEditedError(ConflictError):
    """The same turn came again with another content."""

    def __init__(self, session: str, message_id: str | None) -> None:
        name = f"message {message_id!r} of session {session!r}" if message_id else f"a turn of {session!r}"
        super().__init__(
            f"{name} was ingested with another content; use --revise to replace what it produced"
        )
        self.session, self.message_id = session, message_id


class BatchStateError(ConflictError):
    """A batch cannot be undone: it is unknown to this state, or undone already."""

    def __init__(self, batch_id: str, problem: str) -> None:
        super().__init__(f"batch {batch_id}: {problem}; `memstrata log --type BatchOpened` lists the batches")
        self.batch_id, self.problem = batch_id, problem


class MemoryStateError(ConflictError):
    """The memory is not in a state in which this can be done to it."""

    def __init__(self, memory_id: str, problem: str, next_step: str) -> None:
        super().__init__(f"memory {memory_id}: {problem}; {next_step}")
        self.memory_id, self.problem, self.next_step = memory_id, problem, next_step


class RefusedError(MemstrataError):
    """The aggregate refuses a command, whatever a model or a person says.

    `reason` is a stable code, recorded with the refused proposal.
    """

    def __init__(self, reason: str, explanation: str) -> None:
        super().__init__(f"{reason}: {explanation}")
        self.reason, self.explanation = reason, explanation


class StoreError(MemstrataError):
    """The store could not do its work; whether something was written is said by the subclass."""


class StoreUnavailableError(StoreError):
    """The database cannot be reached or written (read-only folder, full disk, file is not a database)."""

    def __init__(self, where: str, problem: str, next_step: str) -> None:
        super().__init__(f"{where}: {problem}; {next_step}")
        self.where, self.problem, self.next_step = where, problem, next_step


class StoreTooNewError(StoreError):
    """The store was written by a later version of Memstrata."""

    def __init__(self, where: str, found: int, known: int) -> None:
        super().__init__(
            f"{where}: the store has format {found}, this program knows up to {known}; upgrade Memstrata"
        )
        self.where, self.found, self.known = where, found, known


class UnknownEventError(StoreError):
    """An event type or schema version that this program does not know."""

    def __init__(self, topic: str, schema_version: int) -> None:
        super().__init__(f"event {topic!r} version {schema_version} is unknown; upgrade Memstrata")
        self.topic, self.schema_version = topic, schema_version


class VerificationFailedError(StoreError):
    """The log is not what it was: a digest, a position or a projection does not agree."""

    def __init__(
        self,
        problem: str,
        position: int | None = None,
        *,
        next_step: str = "restore the store from a backup",
    ) -> None:
        at = "" if position is None else f" at position {position}"
        super().__init__(f"verification failed{at}: {problem}; {next_step}")
        self.problem, self.position, self.next_step = problem, position, next_step


class ProjectionDamagedError(VerificationFailedError):
    """Rows of a projection are not what any events say; the log may well be whole."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, next_step="`memstrata rebuild` makes them anew from the events")
