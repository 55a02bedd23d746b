"""Tests of decoding are tests of the kernels: they wait until these are compiled."""

import pytest

from namer_edge_runtime.decode import warm_up


@pytest.fixture(scope="session", autouse=True)
def kernels_are_compiled() -> None:
    assert warm_up().compiled
