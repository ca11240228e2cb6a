"""Run as a program: another process, which does deeds on a store when it is told to.

One JSON object a line on standard input asks, one on standard output answers:

    {"open": path, "group_commit": bool, "durability": …}   opens a store, closing the one before
    {"act": deeds, "start": moment of the monotonic clock}  the outcomes, in the order of the deeds
    {"write": seconds, "start": …, "owners": […]}           see `writing_on`
    {"rebuild": check}                                      whether the projections were the same, or an error
    {"look": owner}                                         what this process knows of the owner
    {"counts": true}                                        how often extractor and judge were asked, by text
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from concurrency.acting import Actor
from concurrency.fairness import writing_on

from memstrata.domain.errors import MemstrataError


class Peer:
    def __init__(self) -> None:
        self.actor: Actor | None = None

    def answer(self, asked: dict[str, Any]) -> Any:
        if "open" in asked:
            if self.actor is not None:
                self.actor.memory.close()
            time.sleep(max(0.0, asked.get("start", 0.0) - time.monotonic()))
            self.actor = Actor(
                asked["open"], group_commit=asked["group_commit"], durability=asked["durability"]
            )
            return "open"
        actor = self.actor
        assert actor is not None
        match asked:
            case {"act": deeds, "start": start}:
                return actor.do_at_once(deeds, start)
            case {"write": seconds, "start": start, "owners": owners}:
                return writing_on(actor, owners, start, seconds)
            case {"rebuild": check, "start": start}:
                time.sleep(max(0.0, start - time.monotonic()))
                try:
                    return actor.memory.rebuild(check=check).same
                except MemstrataError as error:
                    return f"{type(error).__name__}: {error}"
            case {"look": owner}:
                return actor.view(owner)
            case {"counts": True}:
                return [dict(actor.counting.extracted), dict(actor.counting.judged)]
        raise AssertionError(f"what is {asked}?")


def main() -> None:
    peer = Peer()
    for line in sys.stdin:
        print(json.dumps(peer.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
