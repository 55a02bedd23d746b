"""Training samples to look at: as they are drawn, with what VAT is told of them."""

import textwrap
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import CELL

from .batches import TrainingSample, TrainingSet
from .plots import write

ENLARGED = 3
FADED = 0.6
"""Ink is drawn this dark, so that what is written on it can be read."""
CELL_COLOUR, WINDOW_COLOUR = (40, 40, 220), (235, 190, 150)
"""Blue, green, red."""
LINE, LETTERS = 15, 118


def contact_sheet(
    ink: TrainingSet, numbers: Sequence[int], seed: int = 0, window: int = 5
) -> NDArray[np.uint8]:
    """[H, W, 3] (blue, green, red): the samples of formulas `numbers`, each drawn once more by
    chance, with the cell that each visual token is estimated to stand in, the `window` in which
    matching may move it, and its label."""
    tiles = []
    for number in numbers:
        drawn = ink[ink.drawing(number, seed, epoch=0)]
        label = " ".join(drawn.label.tokens(ink.vocabulary))
        caption = f"{ink.formulas[number].name}: {label}"
        tiles.append(_tile(drawn, caption, ink.vocabulary, window))
    width = max(tile.shape[1] for tile in tiles)
    return np.vstack([_widened(tile, width) for tile in tiles])


def _tile(
    drawn: TrainingSample, caption: str, vocabulary: Vocabulary, window: int
) -> NDArray[np.uint8]:
    image = drawn.image if drawn.image.ndim == 3 else np.repeat(drawn.image[..., None], 3, axis=2)
    large = image.repeat(ENLARGED, 0).repeat(ENLARGED, 1)
    tile = np.ascontiguousarray((255 - large * FADED).astype(np.uint8))
    side = CELL * ENLARGED
    reach = window // 2 * side
    for row, column in drawn.cells:
        corner = np.array([column * side, row * side])
        cv2.rectangle(tile, _point(corner - reach), _point(corner + side + reach), WINDOW_COLOUR)
    names = drawn.label.names(vocabulary)
    # A formula that nobody gave places for has no cells.
    placed = drawn.label.visual if len(drawn.cells) else ()
    for place, (row, column) in zip(placed, drawn.cells, strict=True):
        corner = np.array([column * side, row * side])
        cv2.rectangle(tile, _point(corner), _point(corner + side), CELL_COLOUR)
        write(tile, names[place], _point(corner + np.array([2, side - 3])), 1.0, CELL_COLOUR)
    lines = textwrap.wrap(caption, LETTERS) or [""]
    width = max(tile.shape[1], max(map(len, lines)) * 8)
    text = np.full((LINE * len(lines) + 8, width, 3), 255, np.uint8)
    for number, line in enumerate(lines, 1):
        write(text, line, (4, LINE * number))
    return np.vstack([_widened(tile, width), text])


def _point(place: NDArray[np.integer]) -> tuple[int, int]:
    return int(place[0]), int(place[1])


def _widened(tile: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    return np.pad(tile, ((0, 0), (0, width - tile.shape[1]), (0, 0)), constant_values=255)
