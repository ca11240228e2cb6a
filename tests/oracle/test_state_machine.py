"""Whatever happens to a store, its views are what the events mean.

CI plays 200 histories of 60 steps, always the same ones. `MEMSTRATA_HYPOTHESIS=nightly` plays 5,000,
others every day; `MEMSTRATA_NIGHT` names the day (an ordinal) whose histories are to be played again.
See CONTRIBUTING.md.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis.stateful import run_state_machine_as_test

from .machine import Histories

NIGHTLY = os.environ.get("MEMSTRATA_HYPOTHESIS") == "nightly"
EXAMPLES = 25
"""Histories of one item: a failure ends its own item only, and names it."""
PARTS = int(os.environ.get("MEMSTRATA_HISTORIES") or (5_000 if NIGHTLY else 200)) // EXAMPLES or 1
NIGHT = int(os.environ.get("MEMSTRATA_NIGHT") or datetime.now(UTC).toordinal()) if NIGHTLY else 0
STEPS = 60


@pytest.mark.parametrize("part", range(PARTS))
def test_after_every_step_the_views_are_what_the_events_mean(part: int) -> None:
    class Part(Histories):
        """Hypothesis derives the histories from the name, so that each part plays others."""

    Part.__name__ = Part.__qualname__ = f"Histories{part}"

    chosen = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        derandomize=False,
        database=None,
        # Cutting a failure down takes many minutes: not what a run for a change waits for.
        phases=(Phase.generate, Phase.shrink) if NIGHTLY else (Phase.generate,),
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    # CI's are night 0; no two nights share a seed.
    seeded(100_000 * NIGHT + part)(Part)
    run_state_machine_as_test(Part, settings=chosen)
