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
    word list of the gate, and of each file of its learned model, by file name: a changed word list or
    another model is a changed policy.
    """
    document = dict(read_document("policy.toml"))
    document["attributes"] = read_document("attributes.toml")
    document["lexicons"] = dict(_lexicon_digests())
    return document


@cache
def _lexicon_digests() -> tuple[tuple[str, str], ...]:
    pipeline = resources.files(__package__.rpartition(".")[0])
    read = [*_files(pipeline.joinpath("lexicon")), *_files(pipeline.joinpath("opinion"), "opinion/")]
    return tuple((name, hashlib.sha256(entry.read_bytes()).hexdigest()) for name, entry in sorted(read))


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(_DATA):
            yield prefix + entry.name, entry


_DATA = (".toml", ".tsv", ".json", ".txt", ".bin")
