"""What is remembered about the user, as the user would say it: so that the rules can read it."""

from __future__ import annotations

import re

_SUBJECT = re.compile(r"(?i)(?<![a-z])the user('s|’s)?(?![a-z]) ?(\w+)?")
_VERBS = {"is": "am", "has": "have", "does": "do", "was": "was", "can": "can", "will": "will"}


def in_first_person(content: str) -> str:
    """`用户住在苏州` → `我住在苏州`; `The user lives in Leeds` → `I live in Leeds`."""
    return _SUBJECT.sub(_said, content.replace("用户", "我").replace("用戶", "我"))


def _said(match: re.Match[str]) -> str:
    possessive, word = match.group(1), match.group(2) or ""
    if possessive:
        return f"my {word}"
    if word in _VERBS:
        return f"I {_VERBS[word]}"
    plain = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    return f"I {plain}"
