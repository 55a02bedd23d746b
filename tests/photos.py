"""Made-up camera pictures of the tests' own handwriting: blue ink on paper in uneven light."""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.render import render
from namer_edge_runtime.preprocessing import Preprocessing

from .handwriting import written

PAPER, INK = np.array([214.0, 228.0, 232.0]), np.array([120.0, 50.0, 30.0])
"""Blue, green, red."""


def photo(number: int, seed: int = 0) -> NDArray[np.uint8]:
    """[H, W, 3] (blue, green, red) of formula `number` of `handwriting.WRITTEN`."""
    preprocessing = Preprocessing(symbol_height=46.0, pen_width=4.0, margin=30)
    ink = render(written(number, seed).strokes, preprocessing).image[..., None] / 255.0
    height, width = ink.shape[:2]
    light = (
        1
        - 0.25
        * np.linspace(0, 1, width)[None, :, None]
        * np.linspace(1, 0.6, height)[:, None, None]
    )
    noise = np.random.default_rng(seed).normal(0, 3, (height, width, 3))
    picture = (PAPER * (1 - ink) + INK * ink) * light + noise
    return np.clip(picture, 0, 255).astype(np.uint8)


def write_photos(folder: Path, numbers: Sequence[int], seed: int = 0) -> Path:
    """`NUMBER.jpg` of each in a new folder."""
    folder.mkdir()
    for number in numbers:
        cv2.imwrite(str(folder / f"{number}.jpg"), photo(number, seed))
    return folder
