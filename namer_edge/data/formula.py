"""A formula as it was written: ink, label, and where each visual token of the label is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.strokes import Strokes


@dataclass(frozen=True)
class Formula:
    """One written formula with V visual nodes (symbols and relations, in path order, no `}`)."""

    name: str
    strokes: Strokes
    """float32 [points, 2] each, (x, y) in the ink's own unit, y down."""
    symbols: NDArray[np.int32]
    """[strokes]: the visual node that each stroke belongs to; -1 where it belongs to none."""
    tokens: tuple[str, ...]
    """The label in canonical form."""
    positions: NDArray[np.float32]
    """[V, 2] (x, y) by the rules of `placement`; [0, 2] where label and ink could not be aligned,
    so that the formula can be evaluated but not trained on."""
    boxes: NDArray[np.float32]
    """[V, 4] x0, y0, x1, y1 of each node's own ink, NaN for `^ _ \\limits`; [0, 4] as above."""

    @property
    def placed(self) -> bool:
        """Whether every visual node has a position."""
        return len(self.positions) > 0
