"""Whether two engines compute the same: probabilities on random ink, at sizes never traced."""

from typing import Any

import numpy as np

from namer_edge_runtime.engine.base import Engine, PgdInputs
from namer_edge_runtime.errors import ExportError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import CELL

TOLERANCE = {"fp32": 1e-4, "fp16": 2e-2}
"""Largest difference of a probability between what was exported and what it was exported from."""
SIZES = ((32, 32), (48, 208), (96, 320), (320, 64), (64, 1024))
"""Height and width (pixels) that the export is checked at; none is the size it was traced with."""


def check_agreement(reference: Engine, exported: Engine, model: ModelFile, origin: str) -> float:
    """Largest difference of any probability between `reference`, which computes what `origin` (in
    words) computes, and the `exported` engine of `model`.

    Both run alone and in a batch. Raises `ExportError` where it exceeds the `TOLERANCE` of the
    model's precision.
    """
    tolerance = TOLERANCE[model.precision]
    rng = np.random.default_rng(0)
    largest = 0.0
    for height, width in SIZES:
        for batch in (1, 3):
            shape = (batch, model.preprocessing.inputs, height, width)
            images = (rng.random(shape) < 0.1).astype(np.uint8) * np.uint8(255)
            a, b = reference.vat(images), exported.vat(images)
            nodes = _random_nodes(rng, model.vocabulary, batch, height // CELL, width // CELL)
            c = reference.pgd(PgdInputs(a.features, a.memory, **nodes))
            d = exported.pgd(PgdInputs(b.features, b.memory, **nodes))
            pairs = [(a.scores, b.scores), (a.none, b.none), (c.correction, d.correction)]
            pairs += [(c.left, d.left), (c.right, d.right)]
            largest = max(largest, *(float(np.abs(x - y).max()) for x, y in pairs))
    if not largest <= tolerance:
        raise ExportError(
            f"the exported graphs differ from {origin} by {largest:.2g} in probability, more than "
            f"{tolerance}: nothing was written; please report this with the versions that "
            "`namer-edge check` prints"
        )
    return largest


def _random_nodes(
    rng: np.random.Generator, vocabulary: Vocabulary, batch: int, rows: int, columns: int
) -> dict[str, Any]:
    """Inputs of PGD for some random nodes after <sos> and <eos>, the last of them padding."""
    count = int(rng.integers(3, 40))
    classes = rng.integers(0, vocabulary.size, (batch, count))
    classes[:, 0], classes[:, 1] = vocabulary.sos, vocabulary.eos
    mask = np.ones((batch, count), np.float32)
    mask[1:, -1] = 0.0
    cells = np.stack(
        [rng.integers(0, rows, (batch, count)), rng.integers(0, columns, (batch, count))], -1
    )
    return {
        "cells": cells,
        "classes": classes,
        "endings": np.zeros((batch, count), np.int64),
        "scores": rng.random((batch, count), np.float32),
        "mask": mask,
    }
