"""Writers that write on and on, and how the time was shared out among them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from concurrency.acting import Actor


@dataclass
class Share:
    """What one thread came to."""

    acknowledged: list[str]
    longest_wait: float = 0.0


def writing_on(actor: Actor, owners: Sequence[str], start: float, seconds: float) -> list[list[object]]:
    """One thread for each name of an owner, writing turn after turn; for each, what was acknowledged.

    Answers texts, and the longest wait in seconds, by thread.
    """
    shares = [Share([]) for _ in owners]

    def write(place: int) -> None:
        time.sleep(max(0.0, start - time.monotonic()))
        share, number = shares[place], 0
        while time.monotonic() < start + seconds:
            text = f"{os.getpid()}.{place}.{number}"
            number += 1
            before = time.monotonic()
            outcome = actor.do({"do": "say", "owner": owners[place], "text": text, "finds": [["city", text]]})
            share.longest_wait = max(share.longest_wait, time.monotonic() - before)
            if outcome[0] == "new":
                share.acknowledged.append(text)

    threads = [threading.Thread(target=write, args=(place,)) for place in range(len(owners))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [[share.acknowledged, share.longest_wait] for share in shares]
