"""Undo, as a plan: what is struck, what comes back, and what is decided anew because of it.

An undo names events. What was based on them goes too, and so do the ends and confirmations that they
caused: `struck`. Then every later candidate that the touched memories could have swayed is decided
again, without a model and under the policy recorded then, and only what changes is written:
`redeciding`, with `earlier`, `fitting` and `ending`. Memories that come to share a slot are sorted out
last: `sharing`. `recorded` is what all of these look things up in, `outlook` what the plan has come to
so far, and `planning` the way through them.

What an earlier undo decided anew is looked at like everything else, and taken back where its ground is
gone: so the order in which undos are undone does not matter.
"""

from .planning import plan_rollback, plan_turn_revision
from .redeciding import Redecide

__all__ = ["Redecide", "plan_rollback", "plan_turn_revision"]
