"""Writers that never pause: each gets its share, whichever process and thread it is in."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import fmean

import pytest

from memstrata.domain.events import Judged

from .racing import Peer, Situation, acting, at_once, check_sound

SECONDS = float(os.environ.get("MEMSTRATA_FAIRNESS_SECONDS", "4"))
"""How long they write; 30 at night."""


@pytest.mark.parametrize(
    ("threads", "one", "grouped"),
    [((4, 4), True, False), ((4, 4), False, False), ((7, 1), False, True), ((1, 7), True, True)],
    ids=["for one owner", "for many owners", "seven threads against one, in groups", "one against seven"],
)
def test_no_writer_starves(
    peers: tuple[Peer, Peer],
    tmp_path: Path,
    threads: tuple[int, int],
    one: bool,
    grouped: bool,
) -> None:
    path = Situation(tmp_path).copy()
    owners = [["acme/one" if one else f"acme/{p}.{t}" for t in range(threads[p])] for p in (0, 1)]
    for peer in peers:
        peer.open(path, group_commit=grouped, durability="full")

    shares = at_once(
        [(peer, {"write": SECONDS, "owners": names}) for peer, names in zip(peers, owners, strict=True)]
    )

    counts = [len(said) for shared in shares for said, _ in shared]
    waits = [round(wait, 2) for shared in shares for _, wait in shared]
    print(f"acknowledged {counts}, longest wait {waits} s")  # shown by -rP
    assert min(counts) >= fmean(counts) / 4, counts
    names = sorted({name for some in owners for name in some})
    with acting(path) as actor:
        check_sound(actor, path, *names)
        log = [entry.event for name in names for entry in actor.memory.log(name)]
    recorded = [event.context.message_id for event in log if isinstance(event, Judged)]
    assert sorted(text for shared in shares for said, _ in shared for text in said) == sorted(recorded)
