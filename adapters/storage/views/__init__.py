"""The projections on SQL: rows written with the events, read through `Views`, rebuilt from zero."""

from .projector import ViewProjector
from .queries import SqlViews
from .rebuild import RebuildReport, TableReport, rebuild

__all__ = ["RebuildReport", "SqlViews", "TableReport", "ViewProjector", "rebuild"]
