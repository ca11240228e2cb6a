"""Random histories: any events in any order, as the fold must bear them, cut into appends at random."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import strategies as st

from memstrata.domain.events import Event
from memstrata.domain.scope import GLOBAL, Scope
from memstrata.domain.stream import NewEvent

from .histories import (
    NOON,
    batch_closed,
    batch_opened,
    created,
    endorsed,
    erased,
    expired,
    judged,
    proposed,
    rolled_back,
    statement,
    stream,
    superseded,
    task_changed,
    updated,
)

MEMORIES = [stream(number) for number in (1, 2, 3)]
TURNS = [stream(number) for number in (0x81, 0x82)]
BATCHES = [stream(number) for number in (0xB1, 0xB2)]

moments = st.integers(0, 8).map(lambda days: NOON + timedelta(days=days))
scopes = st.sampled_from([GLOBAL, Scope(kind="family", anchor="writing")])
kinds = st.sampled_from(["replace", "correct", "refine", "merge", "rescope", "extend", "reweigh", "late"])


@st.composite
def statements(draw: st.DrawFn):
    start = draw(moments)
    until = draw(st.none() | st.integers(-1, 4).map(lambda days: start + timedelta(days=days)))
    return statement(
        draw(st.sampled_from(["15k", "20k", "杭州", "Suzhou 🌸"])),
        start,
        said_at=draw(moments),
        scope=draw(scopes),
        confidence=draw(st.sampled_from([0.65, 0.92, 1.0])),
        until=until,
    )


@dataclass
class Draft:
    """Events of one owner, by append; versions are counted as the store will."""

    ledger: str
    appends: list[list[NewEvent]] = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)

    def add(self, stream_id: str, event: Event) -> None:
        version = self.versions.get(stream_id, 0) + 1
        self.versions[stream_id] = version
        self.appends[-1].append(NewEvent(stream_id, version, event))


@st.composite
def histories(draw: st.DrawFn, ledger: str, *, erasing: bool) -> list[list[NewEvent]]:
    """Appends of one owner, with up to thirty events."""
    draft = Draft(ledger)
    for size in draw(st.lists(st.integers(1, 5), min_size=1, max_size=8)):
        draft.appends.append([])
        for _ in range(size):
            _add_event(draw, draft, erasing)
    return [append for append in draft.appends if append]


def _add_event(draw: st.DrawFn, draft: Draft, erasing: bool) -> None:
    memory, turn, at = draw(st.sampled_from(MEMORIES)), draw(st.sampled_from(TURNS)), draw(moments)
    names = ["created", "updated", "updated", "superseded", "expired", "undo", "undo", "undo", "proposed"]
    names += ["proposed", "turn", "refused", "endorsed", "batch", "closed", "task"]
    match draw(st.sampled_from(names + ["erased"] * erasing)):
        case "created":
            draft.add(memory, created(draw(statements())))
        case "updated":
            of = draw(st.none() | st.integers(1, 3))
            draft.add(memory, updated(draw(kinds), draw(statements()), of))
        case "superseded":
            draft.add(memory, superseded(draw(st.sampled_from(MEMORIES)), at))
        case "expired":
            draft.add(memory, expired(draw(st.sampled_from(["ended", "retracted"])), at))
        case "undo":
            _undo(draw, draft)
        case "proposed":
            outcome = draw(st.sampled_from(["accepted", "held", "refused", "confirmed"]))
            said = draw(st.none() | statements())
            task = draw(st.sampled_from([None, "t1", "t2"]))
            draft.add(memory, proposed(turn, "15k", outcome, target=memory, stated=said, task=task))
        case "turn":
            draft.add(turn, judged(turn, draw(st.sampled_from(["hello", "你好"])), at))
        case "refused":
            draft.add(turn, proposed(turn, "a joke", "refused", said_at=at))
        case "endorsed":
            verdict = draw(st.sampled_from(["confirmed", "rejected", "pinned", "unpinned", "wrong"]))
            draft.add(memory, endorsed(verdict))
        case "batch":
            # A batch is opened once, in the owner's own ledger.
            fresh = [b for b in BATCHES if not draft.versions.get(b)]
            if fresh:
                draft.versions[fresh[0]] = 1
                draft.add(draft.ledger, batch_opened(fresh[0]))
        case "closed":
            draft.add(draft.ledger, batch_closed(draw(st.sampled_from(BATCHES)), draw(st.integers(0, 9))))
        case "task":
            draft.add(draft.ledger, task_changed(draw(st.sampled_from(["started", "finished"]))))
        case "erased":
            draft.add(memory, erased())


def _undo(draw: st.DrawFn, draft: Draft) -> None:
    written = [s for s in (*MEMORIES, *TURNS, draft.ledger) if draft.versions.get(s)]
    if not written:
        return
    undone = draw(st.sampled_from(written))
    names = draw(st.sets(st.integers(1, draft.versions[undone]), min_size=1, max_size=3))
    draft.add(undone, rolled_back(*sorted(names), batch=draw(st.sampled_from(BATCHES))))


def ask_at() -> list[datetime]:
    """Moments at the starts and in the middle of everything that a random history may say."""
    return [NOON + timedelta(hours=12 * half) for half in range(-1, 18)]
