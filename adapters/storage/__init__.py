"""The event store on SQL: eventsourcing's `Application` over our own recorder."""

from .codec import Codec
from .ids import UuidSevenIds
from .opening import open_store
from .projector import InlineProjector
from .store import SqlEventStore, TrustedEvent
from .verify import VerifyReport

__all__ = [
    "Codec",
    "InlineProjector",
    "SqlEventStore",
    "TrustedEvent",
    "UuidSevenIds",
    "VerifyReport",
    "open_store",
]
