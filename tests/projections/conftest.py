"""A store with live projections, in memory."""

from collections.abc import Iterator

import pytest
from contracts.event_store import ManualClock

from memstrata.adapters.storage import SqlEventStore, open_store
from memstrata.adapters.storage.views import SqlViews, ViewProjector
from memstrata.domain.statement import Statement
from memstrata.projections.memories import Shaping


def slot_key(statement: Statement) -> str:
    return "\x1f".join((statement.subject, statement.attribute, statement.scope.kind))


@pytest.fixture(scope="session")
def shaping() -> Shaping:
    return Shaping(slot_key, str.split)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(clock: ManualClock, shaping: Shaping) -> Iterator[SqlEventStore]:
    with open_store("sqlite://", clock=clock, projector=ViewProjector(shaping)) as store:
        yield store


@pytest.fixture
def views(store: SqlEventStore, shaping: Shaping) -> SqlViews:
    return SqlViews(store, shaping)
