"""Formulas of the tiny model as people hand them over: pictures and InkML."""

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.ink.render import draw

from .tiny_model import formula

Gray = NDArray[np.uint8]
CORNER = np.array([30, 25], np.float32)
"""Where the first stroke's own (0, 0) lies in a picture at scale 1."""


def picture(tokens: str, scale: float = 2.0, pen: float = 4.0) -> Gray:
    """Black on white, [H, W]; one unit of the strokes is `scale` pixels."""
    strokes = [(np.array(s, np.float32) + CORNER) * np.float32(scale) for s in formula(tokens)]
    width = int((56 * len(tokens.split()) + 60) * scale)
    return 255 - draw(strokes, (int(70 * scale), width), pen)


def png(image: NDArray[np.uint8]) -> bytes:
    return cv2.imencode(".png", image)[1].tobytes()


def inkml(tokens: str) -> bytes:
    traces = "".join(
        f"<trace>{', '.join(f'{x} {y}' for x, y in stroke)}</trace>" for stroke in formula(tokens)
    )
    return f'<ink xmlns="http://www.w3.org/2003/InkML">{traces}</ink>'.encode()


def save_inputs(folder: Path) -> dict[str, str]:
    """Four readable files of different kinds and sizes; name → what each says."""
    said = {"a.png": "1 - 1", "b.inkml": "1 ^ - }", "c.jpg": "-", "sub/d.bmp": "1 1 1 1 1"}
    (folder / "sub").mkdir(parents=True)
    for name, tokens in said.items():
        visual = tokens.replace(" }", "")
        if name.endswith(".inkml"):
            (folder / name).write_bytes(inkml(visual))
        else:
            cv2.imwrite(str(folder / name), picture(visual))
    return {**said, "b.inkml": "1 ^ { - }"}
