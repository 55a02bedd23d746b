"""The explanation as one picture: the reading, its tokens, then stage by stage."""

import textwrap
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.picture.overlay import FONT, FONT_HEIGHT
from namer_edge_runtime.picture.save import save_picture

from . import panels
from .canvas import Canvas, Color
from .stages import Insight

LETTERS = 15.0
LINE = 26
"""Height of a text line, and gap around a column of tokens, in pixels."""
BLACK: Color = (30, 30, 30)


def sheet(insight: Insight) -> NDArray[np.uint8]:
    """[H, W, 3] RGB."""
    stages: list[tuple[str, Canvas]] = [
        (
            "VAT: orange where it sees something, and the token it sees there",
            panels.vat_map(insight),
        ),
        (
            "PGD: tokens after correction; red: corrected, crossed: deleted",
            panels.corrections(insight),
        ),
        (
            f"The graph: edges with their E, {insight.most:g} at most; bold: the chosen path",
            panels.graph(insight),
        ),
    ]
    node = insight.telling
    for layer, canvas in enumerate(panels.attention(insight), 1):
        assert node is not None
        name = panels.change_of(insight, node)
        caption = f"Cross-attention of self-correction for {name}, layer {layer} (root of weight)"
        stages.append((caption, canvas))
    width = max(canvas.pixels.shape[1] for _, canvas in stages)
    rows = [*_reading(insight, width), *_tokens(insight, width)]
    for number, (caption, canvas) in enumerate(stages, 1):
        rows += [_text(f"{number}. {caption}", width), canvas.pixels]
    rows.append(_paper(LINE // 2, width))
    return np.vstack(rows)


def save(insight: Insight, path: Path) -> None:
    """Writes the sheet as a PNG, atomically."""
    save_picture(path, sheet(insight)[:, :, ::-1])


def _paper(height: int, width: int) -> NDArray[np.uint8]:
    return np.full((height, width, 3), 255, np.uint8)


def _text(text: str, width: int) -> NDArray[np.uint8]:
    row = _paper(LINE, width)
    Canvas(row, LINE).word(text, (8, LINE - 8), BLACK, LETTERS)
    return row


def _reading(insight: Insight, width: int) -> list[NDArray[np.uint8]]:
    repaired = ", the path repaired" if insight.path.repaired else ""
    reading = f"{insight.canonical}   (score {insight.path.score:.3f}{repaired})"
    letters = max(20, int(width / (LETTERS * 0.85)))
    return [_text(line, width) for line in textwrap.wrap(reading, letters)]


def _tokens(insight: Insight, width: int) -> list[NDArray[np.uint8]]:
    """Two lines, VAT above PGD, a column for each visual node in path order; nodes off the path are
    last."""
    columns = [(insight.before(node), insight.after(node) or "x") for node in insight.visual]
    scale = LETTERS / FONT_HEIGHT
    rows: list[NDArray[np.uint8]] = []
    left = width
    for (before, after), node in zip(columns, insight.visual, strict=True):
        needed = max(cv2.getTextSize(t, FONT, scale, 1)[0][0] for t in (before, after)) + LINE // 2
        if left + needed > width:
            rows.append(_paper(2 * LINE, width))
            for line, name in enumerate(("VAT", "PGD")):
                Canvas(rows[-1], LINE).word(name, (8, (line + 1) * LINE - 8), BLACK, LETTERS)
            left = 3 * LINE
        color = panels.CORRECTED if insight.changed(node) else BLACK
        canvas = Canvas(rows[-1], LINE)
        canvas.word(before, (left, LINE - 8), BLACK, LETTERS)
        canvas.word(after, (left, 2 * LINE - 8), color, LETTERS)
        left += needed
    return rows
