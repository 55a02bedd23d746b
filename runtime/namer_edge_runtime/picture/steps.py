"""A sheet of pictures that shows each step of preparation."""

from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from .save import save_picture

LONGEST = 1200
"""Pixels of a step's longer side on the sheet, at most."""
LINE = 28
"""Pixels for a step's caption."""
PAPER, LETTERS = 225, 40


@dataclass
class Steps:
    """Collects a picture for each step; given to `prepare`, it is filled there."""

    taken: list[tuple[str, NDArray[np.uint8]]] = field(default_factory=list)
    """What a step did, and the picture [H, W] after it."""

    def add(self, caption: str, picture: NDArray[np.uint8]) -> None:
        """Adds a copy of the picture, scaled down to `LONGEST`."""
        factor = LONGEST / max(picture.shape)
        if factor < 1:
            size = [max(1, round(side * factor)) for side in picture.shape[::-1]]
            picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
        self.taken.append((caption, picture.copy()))

    def sheet(self) -> NDArray[np.uint8]:
        """All steps below each other, [H, W] gray; small pictures are shown larger."""
        rows = [_row(f"{n}. {caption}", picture) for n, (caption, picture) in enumerate(self.taken)]
        width = max((row.shape[1] for row in rows), default=1)
        filled = [
            np.pad(row, ((0, 0), (0, width - row.shape[1])), constant_values=PAPER) for row in rows
        ]
        return np.vstack(filled) if filled else np.full((1, 1), PAPER, np.uint8)

    def save(self, path: Path) -> None:
        """The sheet as a PNG; raises `UsageError` where it cannot be written."""
        save_picture(path, self.sheet())


class Unseen(Steps):
    """Steps that are not collected, which costs no time."""

    def add(self, caption: str, picture: NDArray[np.uint8]) -> None:
        """Does nothing."""


def _row(caption: str, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    times = max(1, LONGEST // 2 // max(picture.shape))
    picture = picture.repeat(times, axis=0).repeat(times, axis=1)
    (needed, _), _ = cv2.getTextSize(caption, cv2.FONT_HERSHEY_SIMPLEX, 0.5, 1)
    width = max(picture.shape[1], needed) + 16
    row = np.full((picture.shape[0] + LINE + 8, width), PAPER, np.uint8)
    cv2.putText(row, caption, (8, 19), cv2.FONT_HERSHEY_SIMPLEX, 0.5, LETTERS, 1, cv2.LINE_AA)
    row[LINE : LINE + picture.shape[0], 8 : 8 + picture.shape[1]] = picture
    return row
