"""Where markup stands in a text: HTML and XML with what they enclose, comments, and tokens of chat templates.

Formatting such as `<b>` is no markup here, nor is a name that stands for what is to be filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TEMPLATE = re.compile(r"<\|[^|<>\n]{1,40}\|>|\[/?inst\]|<</?sys>>")
_TAG = re.compile(
    r"(?<![a-z0-9_])<(?P<name>[a-z\u4e00-\u9fff][\w.:-]{0,40})(?P<rest>[\s/][^<>]{0,600})?>"
    r"|</(?P<closes>[a-z\u4e00-\u9fff][\w.:-]{0,40})\s?>"
)
_FORMATS = frozenset(
    ("b", "i", "u", "s", "em", "strong", "br", "hr", "sub", "sup", "mark", "code", "kbd", "del", "ins")
)


def markup_in(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of a normalised text that are markup; they may overlap."""
    for comment in _COMMENT.finditer(text):
        yield comment.span()
    template = _TEMPLATE.search(text)
    if template is not None:
        yield template.start(), len(text)
    tags = [tag for tag in _TAG.finditer(text) if not _is_format(tag)]
    closed = {tag["closes"]: tag.end() for tag in tags if tag["closes"]}
    """The last place where an element of each name is closed."""
    at = 0
    for tag in tags:
        if tag.start() < at:
            continue
        at = max(tag.end(), closed.get(tag["name"], 0))
        if tag["closes"] or tag["rest"] or at > tag.end():
            yield tag.start(), at


def _is_format(tag: re.Match[str]) -> bool:
    return (tag["name"] or tag["closes"]) in _FORMATS and not (tag["rest"] or "").strip(" /")
