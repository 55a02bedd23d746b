"""A small training set of written formulas, and a model small enough to learn it in a test."""

from pathlib import Path

import pytest

from namer_edge.data.pack import Pack, save_pack
from namer_edge.data.report import Report

from ..handwriting import WRITTEN, written

SMALL = [
    "widths=[16, 24, 48, 64]",
    "blocks=[0, 1, 1, 1]",
    "vat_width=64",
    "pgd_width=64",
    "pgd_heads=4",
    "threads=1",
    "symbol_height=20",
    "ema=0.0",
]
PLAIN = [
    f"{name}=0"
    for name in (
        *("scale", "aspect", "rotation", "shear", "symbol_shift", "symbol_shape", "wave", "pen"),
        *("stroke_shift", "ripple", "scanned", "strangers"),
        *("corrupt", "jitter", "surplus", "cut", "swap", "typeset"),
    )
]
"""Formulas as they were written, and nodes as they are found."""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Sixteen formulas in one hand, as a pack."""
    formulas = [written(number) for number in range(len(WRITTEN))]
    path = tmp_path / "sixteen.npz"
    save_pack(path, Pack(formulas, Report(len(formulas)), {}))
    return path
