"""Memories that somebody brings along: taken over as attested, without a turn that they rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import Field

from ..domain.attesting import ATTESTED, attest
from ..domain.candidate import Candidate, CandidateKind
from ..domain.draft import Draft, Header
from ..domain.errors import InvalidInputError
from ..domain.events import BatchClosed, BatchOpened
from ..domain.evidence import Evidence
from ..domain.expiry import NEVER, End
from ..domain.given import Given
from ..domain.judgement import Category
from ..domain.memory import is_placeholder
from ..domain.owner import Owner
from ..domain.policy import Policy
from ..domain.ports import Clock
from ..domain.scope import GLOBAL, Scope
from ..domain.statement import Provenance, Statement
from ..domain.turn import TurnContext
from ..domain.values import MemoryType, Moment, Polarity
from ..domain.zone import fixed_zone_name
from ..pipeline.keywords import KeyWordReader, KeyWords
from ..pipeline.secrets import find_secrets
from ..pipeline.text import check_text
from .owners import Writer
from .reports import BatchReport

EXTRACTOR = "import/1"
SESSION = "import"

_MEASURED = ("money", "number", "duration", "date")
"""Value types with one canonical form, which the rules read out of the content where they can."""


@dataclass(frozen=True, slots=True)
class _Nature:
    """What an imported memory of a type is put forward as."""

    kind: CandidateKind
    category: Category
    attribute: str
    """The attribute of a text that names none."""


_NATURES: dict[MemoryType, _Nature] = {
    "preference": _Nature("preference", "preference", "preference"),
    "boundary": _Nature("boundary", "boundary", "topic_boundary"),
    "relationship_goal": _Nature("relationship", "relationship_goal", "relationship"),
    "conversation_style": _Nature("style", "conversation_style", "answer_style"),
    "important_fact": _Nature("fact", "important_fact", "fact"),
    "identity_profile": _Nature("fact", "identity_profile", "fact"),
    "constraint": _Nature("constraint", "preference", "constraint"),
    "state": _Nature("state", "important_fact", "fact"),
}


class ImportedMemory(Given):
    """One memory to take over.

    What is None is filled in: `type` by the attribute (a stage of a long process is a `state`, all
    else an `important_fact`), `attribute` by the type (free text), `polarity` by the words,
    `confidence` by the policy for attestations, `valid_from` by the time of the import, `end` by the
    scope (`task_finished` for a task) and for states by their process.

    Raises:
        InvalidInputError: a field is missing, unknown or of the wrong kind; the first one is named.
    """

    content: str = Field(min_length=1)
    type: MemoryType | None = None
    attribute: str | None = Field(default=None, min_length=1)
    value: str | None = None
    subject: str = Field(default="user", min_length=1)
    scope: Scope = GLOBAL
    polarity: Polarity | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    importance: int = Field(default=3, ge=0, le=5)
    valid_from: Moment | None = None
    end: End | None = None


class Importing:
    """Takes memories over in one batch, which can be undone as a whole."""

    def __init__(
        self,
        writer: Writer,
        clock: Clock,
        policy: Policy,
        value_of: Callable[[str, str], str | None],
    ) -> None:
        self._writer, self._clock, self._policy, self._value_of = writer, clock, policy, value_of

    @cached_property
    def _read(self) -> Callable[[str], KeyWords]:
        # Its patterns take longer to compile than most commands take in all.
        return KeyWordReader(self._policy).read

    def take_over(
        self, owner: Owner, memories: Sequence[ImportedMemory], *, actor: str, reason: str
    ) -> BatchReport:
        """Write the memories, each with its proposal; see the façade."""
        for number, memory in enumerate(memories):
            _check(memory, number)
        if not memories:
            return BatchReport(None)
        batch: list[str] = []
        touched: list[str] = []

        def decide(draft: Draft) -> tuple[None, None]:
            batch[:], touched[:] = [draft.ids.new_id()], []
            header = Header(actor, batch[0], self._policy.fingerprint, self._clock.now())
            ledger = draft.state.ledger.ledger_id
            draft.add(ledger, BatchOpened(**header.fields(), batch_id=batch[0], kind="import", reason=reason))
            before = len(draft.events)
            for memory in memories:
                touched.append(self._take(draft, memory, header))
            written = len(draft.events) - before
            draft.add(ledger, BatchClosed(**header.fields(), batch_id=batch[0], written=written))
            return None, None

        _, events = self._writer.write(owner, decide)
        return BatchReport(batch[0], len(events) - 2, touched)

    def _take(self, draft: Draft, memory: ImportedMemory, header: Header) -> str:
        """Put one memory forward; the id of the memory that says it afterwards."""
        statement = self._statement(memory, header)
        context = TurnContext(
            turn_id=header.correlation_id,
            session=SESSION,
            said_at=header.said_at,
            zone=statement.provenance.zone,
        )
        decision = attest(draft.state, statement)
        _, memory_id = draft.carry_out(_candidate(statement), context, decision, header)
        if memory_id is None:
            raise AssertionError("an imported memory has a memory to go to")
        return memory_id

    def _statement(self, memory: ImportedMemory, header: Header) -> Statement:
        kind = memory.type or self._type_by_attribute(memory.attribute)
        attribute = self._policy.registry.canonical(memory.attribute or _NATURES[kind].attribute)
        value = memory.value
        if value is not None and self._policy.registry.get(attribute).type in _MEASURED:
            value = self._value_of(memory.content, attribute) or value
        weight = self._policy.rules.confidence.by_source["attestation"]
        return Statement(
            subject=memory.subject,
            attribute=attribute,
            type=kind,
            content=memory.content,
            value=value,
            polarity=memory.polarity or self._polarity(attribute, memory.content),
            scope=memory.scope,
            confidence=weight if memory.confidence is None else memory.confidence,
            importance=memory.importance,
            valid_from=memory.valid_from or header.said_at,
            end=memory.end or self._end(attribute, memory.scope),
            evidence=(Evidence(kind="import", quotes=(memory.content,), attested_by=header.actor),),
            provenance=Provenance(
                said_at=header.said_at,
                zone=fixed_zone_name(header.said_at),
                channel="import",
                extractor=EXTRACTOR,
                rule=ATTESTED,
                source="attestation",
            ),
        )

    def _type_by_attribute(self, attribute: str | None) -> MemoryType:
        tells_stage = attribute is not None and self._policy.registry.get(attribute).type == "stage"
        return "state" if tells_stage else "important_fact"

    def _polarity(self, attribute: str, content: str) -> Polarity:
        """Likes and dislikes are one attribute: the words tell which of them it is."""
        attitudes = self._policy.rules.relations.attitude_attributes
        return "negative" if attribute in attitudes and self._read(content).negated else "positive"

    def _end(self, attribute: str, scope: Scope) -> End:
        if scope.kind == "current_task":
            return End(kind="task_finished", task_id=scope.anchor)
        process = self._policy.registry.get(attribute).process
        return End(kind="process", process=process) if process else NEVER


def _check(memory: ImportedMemory, number: int) -> None:
    texts = {"content": memory.content, "value": memory.value, "subject": memory.subject}
    for name, text in texts.items():
        problem = check_text(text) if text else None
        if problem:
            field = f"memories[{number}].{name}"
            raise InvalidInputError(field, f"holds a {problem.replace('_', ' ')}", "send valid Unicode")
        secrets = find_secrets(text) if text else ()
        if secrets:
            held = f"holds a secret ({secrets[0].kind})"
            raise InvalidInputError(f"memories[{number}].{name}", held, "take it out; secrets are not kept")
    if is_placeholder(memory.content):
        raise InvalidInputError(f"memories[{number}].content", "says nothing", "leave this memory out")


def _candidate(statement: Statement) -> Candidate:
    nature = _NATURES[statement.type]
    return Candidate(
        kind=nature.kind,
        subject=statement.subject,
        attribute=statement.attribute,
        value=statement.value,
        content=statement.content,
        polarity=statement.polarity,
        source="attestation",
        channel="import",
        extractor=EXTRACTOR,
        rule=ATTESTED,
        category=nature.category,
        importance=statement.importance,
        evidence=statement.evidence,
    )
