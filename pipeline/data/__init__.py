"""The documents that the policy is made of: rules with thresholds and words, and the attribute registry."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable


@cache
def read_document(name: str) -> Mapping[str, object]:
    """One of the TOML documents of this folder, by its file name; not to be changed."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


def policy_document() -> dict[str, object]:
    """The whole policy document.

    That is `policy.toml`, the registry under `attributes`, and under `lexicons` the SHA-256 of each
    word list of the gate by file name, so that a changed word list is a changed policy.
    """
    document = dict(read_document("policy.toml"))
    document["attributes"] = read_document("attributes.toml")
    document["lexicons"] = dict(_lexicon_digests())
    return document


@cache
def _lexicon_digests() -> tuple[tuple[str, str], ...]:
    folder = resources.files(__package__.rpartition(".")[0]).joinpath("lexicon")
    return tuple(
        (name, hashlib.sha256(entry.read_bytes()).hexdigest()) for name, entry in sorted(_word_lists(folder))
    )


def _word_lists(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _word_lists(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith((".toml", ".tsv", ".json")):
            yield prefix + entry.name, entry
