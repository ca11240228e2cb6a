"""The other processes of the tests in this folder: started once, since a start takes half a second."""

from collections.abc import Iterator

import pytest

from .racing import Peer


@pytest.fixture(scope="session")
def started() -> Iterator[tuple[Peer, Peer]]:
    both = Peer(), Peer()
    yield both
    for peer in both:
        peer.end()


@pytest.fixture
def peers(started: tuple[Peer, Peer]) -> Iterator[tuple[Peer, Peer]]:
    yield started
    for peer in started:
        peer.finish()
