"""A handwritten formula: ink or a picture, its label, and the position of each visual token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.bulk.input_files import NamedBytes
from namer_edge_runtime.ink.strokes import Stroke, Strokes
from namer_edge_runtime.preprocessing import Preprocessing


@dataclass(frozen=True)
class Picture:
    """A picture file and the size of its writing, which gives its size under any preprocessing
    without opening it."""

    data: NDArray[np.uint8]
    """The bytes of the file (JPEG, PNG …)."""
    box: tuple[float, float, float, float]
    """x0, y0, x1, y1 of the ink, in pixels of the upright picture."""
    symbol: float
    """Height of a typical symbol as the runtime measures it, in the same pixels."""

    def scale(self, preprocessing: Preprocessing) -> float:
        """Pixels of the model's input per pixel of the picture, as the runtime scales it."""
        (x0, y0, x1, y1), room = self.box, 2 * preprocessing.margin
        limits = (
            (preprocessing.max_width - room) / (x1 - x0),
            (preprocessing.max_height - room) / (y1 - y0),
        )
        return min(preprocessing.symbol_height / self.symbol, *limits)


@dataclass(frozen=True)
class Formula:
    """One written formula with V visual nodes (symbols and relations, in path order, no `}`)."""

    name: str
    strokes: Strokes
    """float32 [points, 2] each, (x, y) in the ink's own unit, y down; empty for a
    picture."""
    symbols: NDArray[np.int32]
    """[strokes] the visual node of each stroke, or -1."""
    tokens: tuple[str, ...]
    """The label in canonical form."""
    positions: NDArray[np.float32]
    """[V, 2] (x, y) by the rules of `placement`; [0, 2] if label and ink could not be aligned, so
    that the formula serves evaluation but not training."""
    boxes: NDArray[np.float32]
    """[V, 4] x0, y0, x1, y1 of each node's own ink, NaN for `^ _ \\limits`; [0, 4] as above."""
    picture: Picture | None = None
    """The picture of a formula without strokes; positions are in its pixels."""

    @property
    def source(self) -> Any:
        """Input for a recognizer: strokes, or the bytes of a picture."""
        if self.picture is None:
            return list(self.strokes)
        return NamedBytes(self.picture.data.tobytes(), self.name)

    @property
    def blank(self) -> bool:
        """Whether it has neither ink nor a picture: it stands for a typeset one."""
        return not self.strokes and self.picture is None

    @property
    def placed(self) -> bool:
        """Whether every visual node has a position."""
        return len(self.positions) > 0


def unplaced(
    name: str,
    tokens: Sequence[str],
    strokes: Sequence[Stroke] = (),
    picture: Picture | None = None,
) -> Formula:
    """A formula without positions."""
    owners = np.full(len(strokes), -1, np.int32)
    positions, boxes = np.zeros((0, 2), np.float32), np.zeros((0, 4), np.float32)
    return Formula(name, list(strokes), owners, tuple(tokens), positions, boxes, picture)
