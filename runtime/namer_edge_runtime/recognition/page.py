"""A page: the ink of one input, taken apart into lines that are read one by one."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from ..ink.strokes import Strokes
from ..ink.text_lines import Shapes
from ..inputs import LoadedInput
from ..picture.components import SOFT, connected
from ..picture.prepare import INK, PageInk


class Page(ABC):
    """Shapes that lines are made of, and the input that some of them are alone."""

    shapes: Shapes
    """[n] points of each stroke, or of the outline of each connected component."""
    lines: int = 1
    """Number of parts that it was divided into so far."""

    @staticmethod
    def of(value: LoadedInput) -> "Page | None":
        """The page of an input that has been prepared; None of a blank one, or a turned one."""
        if value.turn or value.part is not None:
            return None
        if value.strokes:
            return InkPage(value.strokes, value.name)
        return PicturePage(value.page, value) if value.page is not None else None

    @abstractmethod
    def part(self, own: Sequence[int]) -> LoadedInput:
        """The input with these shapes alone, read in the coordinates of the whole."""

    @abstractmethod
    def strokes(self, own: Sequence[int]) -> tuple[int, ...] | None:
        """The shapes as strokes; None where they are none."""


class InkPage(Page):
    """Pen strokes."""

    def __init__(self, strokes: Strokes, name: str = "") -> None:
        self.shapes = strokes
        self._name = name

    def part(self, own: Sequence[int]) -> LoadedInput:
        return LoadedInput([self.shapes[number] for number in own], None, self._name)

    def strokes(self, own: Sequence[int]) -> tuple[int, ...]:
        return tuple(own)


class PicturePage(Page):
    """The connected components of a picture's cleaned ink."""

    def __init__(self, ink: PageInk, value: LoadedInput) -> None:
        self._ink = ink
        self._value = value
        mask = np.asarray(ink.image > INK, np.uint8)
        self._labels, _, _ = connected(mask)
        outlines, nesting = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
        outer = [
            np.asarray(outline[:, 0], np.float64)
            for outline, (_, _, _, hole_of) in zip(
                outlines, nesting[0] if nesting is not None else (), strict=True
            )
            if hole_of < 0
        ]
        self.shapes = outer
        self._numbers = np.array(
            [self._labels[int(y), int(x)] for x, y in (one[0] for one in outer)]
        )

    def part(self, own: Sequence[int]) -> LoadedInput:
        kept = np.zeros(int(self._labels.max()) + 1, np.uint8)
        kept[self._numbers[list(own)]] = 1
        # With their soft edges, and nothing of the others.
        kept[0] = 1
        round_it = np.ones((2 * SOFT + 1, 2 * SOFT + 1), np.uint8)
        own_ink = kept[self._labels] * (self._labels > 0)
        near = np.asarray(cv2.dilate(own_ink, round_it)) * kept[self._labels]
        rows, columns = np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0))
        top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
        inside = slice(top, bottom), slice(left, right)
        # Ink at the edge would be taken for that of the paper.
        image = np.pad(self._ink.image[inside] * near[inside], 1)
        return replace(self._value, part=self._ink.part(image, (int(left) - 1, int(top) - 1)))

    def strokes(self, own: Sequence[int]) -> None:
        return None
