"""Pictures made smaller by whole numbers, and their components counted."""

import numpy as np
import pytest

from namer_edge_runtime.picture.components import connected
from namer_edge_runtime.picture.downscale import shrunk
from namer_edge_runtime.picture.steps import Unseen


@pytest.mark.parametrize(
    ("shape", "times"), [((512, 100), 1), ((513, 100), 2), ((1030, 700), 3), ((1, 2000), 4)]
)
def test_blocks_become_their_mean(shape: tuple[int, int], times: int) -> None:
    picture = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    small, found = shrunk(picture, 512)
    assert found == times
    assert max(small.shape) <= 512
    if min(shape) >= times:
        block = picture[:times, :times].mean()
        assert abs(float(small[0, 0]) - block) <= 0.5


def test_more_components_than_16_bits_can_count() -> None:
    mask = np.zeros((600, 600), np.uint8)
    mask[::2, ::2] = 1
    few, stats, _ = connected(mask)
    assert len(stats) - 1 == few.max() == 300 * 300
    many = np.zeros((4, 9), np.uint8)
    many[1:3, 2:7] = 1
    labels, stats, centers = connected(many)
    assert stats[1].tolist() == [2, 1, 5, 2, 10]
    assert centers[1].tolist() == [4, 1.5]
    assert (labels == many).all()


def test_steps_nobody_looks_at_are_not_kept() -> None:
    steps = Unseen()
    steps.add("a picture", np.zeros((2, 2), np.uint8))
    assert steps.taken == []
