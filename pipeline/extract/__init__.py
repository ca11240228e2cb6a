"""The rule extractor: what a turn says that could be remembered, found by rules kept as data.

How to add a rule. Put a `[[rule]]` table into a file `../lexicon/rules/<lang>_<topic>.toml` (every file of
that folder is read, in the order of the names; `macros*.toml` hold the `%NAME%` parts of patterns):

    [[rule]]
    id = "en.city.live"                  # unique, language first
    description = "Where the user lives, said plainly."
    lang = "en"
    kind = "fact"                        # a CandidateKind
    attribute = "city"
    category = "important_fact"          # a judgement category; decides the memory type
    importance = 4                       # 0..5, default 3
    any = ["live in", "based in"]        # the rule is tried only where one of these words stands
    pattern = '''%ME% (?:live in|am based in) (?P<value>%PLACE%)'''
    content = "The user lives in {value}"
    positive = ["I live in Leeds now => Leeds"]      # text => value, or part of the content
    negative = ["My sister lives in Leeds"]

Patterns (`pattern`, or a list `patterns`) are searched in normalised text: NFKC, lower case, simplified
characters. The groups of the pattern fill `content`, `value`, `former_value` and `target_words` in the
user's own spelling, with end particles trimmed. Further fields:

- `unit`: `clause` (default), `sentence`, or `rest` (from the clause with the trigger to the sentence's end);
- `intent`, `polarity`, `exclusive`, `stability`, `source`, `process`, `final`, `hint_key`, `family`
  (a name, or `words` / `task` / `any` for what the words or the task name): as in the candidate;
- `need`, `forbid`: names of signals or conditions that must (must not) hold: any signal kind, `question`,
  `task`, `project_in_hand`, `job`, `order`, `family_named`, `answer`, `dated`, `other_person`;
- `durable = true`: "now" means the present state, not a passing one (the `passing` signal is left out);
- `person`: `user` (default: another subject adds the signal `third_party`), `any`, or `household`;
- `tier`: `slot` (default), `free` (tried only where no candidate rests on these words yet), `also` (always);
- `builder`: the name of a function in `builders.py` that refines the draft or refuses the match.

A group named `me` says that the user is the subject whatever stood before; a group named `evidence` narrows
the evidence. A question, joke, hypothetical or a third person's words yield a candidate that carries the
signal, which the policy refuses with its reason; quoted material yields none.
"""

from __future__ import annotations

from . import (
    builders_en,
    builders_en_contrast,
    builders_en_orders,
    builders_en_slots,
    builders_zh_facts,
    builders_zh_orders,
    remembered,
    retelling,
)
from .engine import RuleExtractor

__all__ = [
    "RuleExtractor",
    "builders_en",
    "builders_en_contrast",
    "builders_en_orders",
    "builders_en_slots",
    "builders_zh_facts",
    "builders_zh_orders",
    "remembered",
    "retelling",
]
