"""The rules of memory, pure: no clock, no random ids, no input or output.

Begin with `events` (what can happen), `memory` (what the events of one memory come to) and `decide` (what
becomes of a candidate). The rest stands around these:

- Words and places: `values`, `owner`, `turn`, `evidence`, `scope`, `expiry`, `zone`; `given` for what
  callers build.
- What is said: `candidate` as it was observed, `judgement` as the gate answered, `statement` as a memory
  says it.
- The log: `events`, in their envelope in `stream`, old ones lifted by `upcasting`.
- What it comes to: `history` folds versions and periods, `memory` one memory, `ledger` what is the owner's,
  `owner_state` all of it. `slot` tells memories apart, `directory` finds them, over `layered` maps.
- Deciding: `policy` is the rules as data. `decide` asks `admission`, `taking_back`, `repetition` and
  `settling` about a `case`; `frame` makes the statement of a candidate, `finding` looks for the memory that
  it is about, `attesting` is for imports. `decision` is the answer, and `draft` makes events of it.
- Undoing: `selector` names events, `rollback` works out what undoing them comes to, on the `timeline` of what
  rests on what; `plan` is the result, with its `effects`.
- Towards the outside: `ports`, `errors`, and `many_objects` for long work.
"""
