"""Folders and files with permissions that bind whoever runs the tests."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def as_somebody_whom_permissions_bind() -> Iterator[None]:
    """They do not bind root, who therefore becomes nobody for a while.

    Open a store in memory before: nobody may not be able to read the modules that are still to be loaded.
    """
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach and write to, unlike pytest's; whatever is made of it, it goes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        try:
            yield folder
        finally:
            folder.chmod(0o700)
