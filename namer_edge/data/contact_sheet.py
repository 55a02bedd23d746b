"""Contact sheets of training samples with VAT's targets drawn in."""

import textwrap
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.picture.overlay import FONT, FONT_HEIGHT
from namer_edge_runtime.preprocessing import CELL

from .batches import TrainingSample, TrainingSet

ENLARGED = 3
FADED = 0.6
"""Darkness of the ink, light enough for the text on it."""
CELL_COLOR, WINDOW_COLOR, TEXT_COLOR = (40, 40, 220), (235, 190, 150), (60, 60, 60)
"""Blue, green, red."""
LINE, LETTERS, LETTER_HEIGHT = 15, 118, 11.0


def contact_sheet(
    ink: TrainingSet, numbers: Sequence[int], seed: int = 0, window: int = 5
) -> NDArray[np.uint8]:
    """[H, W, 3] (blue, green, red): one sample of each formula of `numbers` with its label, the
    estimated cell of each visual token, and the `window` in which matching may move it."""
    tiles = []
    for number in numbers:
        sample = ink[ink.sample_spec(number, seed, epoch=0)]
        label = " ".join(sample.label.tokens(ink.vocabulary))
        caption = f"{ink.formulas[number].name}: {label}"
        tiles.append(_tile(sample, caption, ink.vocabulary, window))
    width = max(tile.shape[1] for tile in tiles)
    return np.vstack([_widened(tile, width) for tile in tiles])


def _tile(
    sample: TrainingSample, caption: str, vocabulary: Vocabulary, window: int
) -> NDArray[np.uint8]:
    image = (
        sample.image if sample.image.ndim == 3 else np.repeat(sample.image[..., None], 3, axis=2)
    )
    large = image.repeat(ENLARGED, 0).repeat(ENLARGED, 1)
    tile = np.ascontiguousarray((255 - large * FADED).astype(np.uint8))
    side = CELL * ENLARGED
    reach = window // 2 * side
    for row, column in sample.cells:
        corner = np.array([column * side, row * side])
        cv2.rectangle(tile, _point(corner - reach), _point(corner + side + reach), WINDOW_COLOR)
    names = sample.label.names(vocabulary)
    # Formulas without positions have no cells.
    placed = sample.label.visual if len(sample.cells) else ()
    for place, (row, column) in zip(placed, sample.cells, strict=True):
        corner = np.array([column * side, row * side])
        cv2.rectangle(tile, _point(corner), _point(corner + side), CELL_COLOR)
        _write(tile, names[place], _point(corner + np.array([2, side - 3])), CELL_COLOR)
    lines = textwrap.wrap(caption, LETTERS) or [""]
    width = max(tile.shape[1], max(map(len, lines)) * 8)
    text = np.full((LINE * len(lines) + 8, width, 3), 255, np.uint8)
    for number, line in enumerate(lines, 1):
        _write(text, line, (4, LINE * number))
    return np.vstack([_widened(tile, width), text])


def _write(
    tile: NDArray[np.uint8],
    text: str,
    at: tuple[int, int],
    color: tuple[int, int, int] = TEXT_COLOR,
) -> None:
    """`text` with its lower left corner at (x, y); OpenCV's letters are ASCII."""
    plain = text.encode("ascii", "replace").decode()
    cv2.putText(tile, plain, at, FONT, LETTER_HEIGHT / FONT_HEIGHT, color, 1, cv2.LINE_AA)


def _point(place: NDArray[np.integer]) -> tuple[int, int]:
    return int(place[0]), int(place[1])


def _widened(tile: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    return np.pad(tile, ((0, 0), (0, width - tile.shape[1]), (0, 0)), constant_values=255)
