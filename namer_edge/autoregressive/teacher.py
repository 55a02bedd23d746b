"""Teachers: the paper's position estimates T from attention under teacher forcing.

Enumerated list before eq. 3. They need no segmented strokes, unlike positions from ink.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from namer_edge_runtime.errors import LatexError, NamerEdgeError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import CELL, STRIDE, Prepared, Preprocessing
from namer_edge_runtime.recognition.batching import by_padded_size

from ..data.formula import Formula
from .model import AutoregressiveModel


class Teacher:
    """Takes the maximum of attention to each token of a label as the position of the token.

    DWAP-MSA attends at H/8; attention at H/16 is upsampled bilinearly. Of transformers it is the
    mean over the last layer's heads. Braces are skipped.
    """

    def __init__(
        self, model: AutoregressiveModel, preprocessing: Preprocessing, device: str = "cpu"
    ) -> None:
        self.model, self.preprocessing = model.eval().to(device), preprocessing

    def positions(
        self, formulas: Sequence[Formula], batch_size: int = 16
    ) -> list[NDArray[np.float32]]:
        """[V, 2] (x, y) for each formula, in its ink's unit or its picture's pixels, in the order
        of its visual nodes; [0, 2] without ink, or if the teacher lacks a token of the label.
        """
        found = [np.zeros((0, 2), np.float32) for _ in formulas]
        pages: list[tuple[int, Prepared]] = []
        for number, formula in enumerate(formulas):
            try:
                self.model.alphabet.numbers(formula.tokens)
                prepared = prepare_input(formula.source, self.preprocessing)
            except NamerEdgeError:
                continue
            if not prepared.blank:
                pages.append((number, prepared))
        for batch in by_padded_size(pages, batch_size, lambda page: page[1]):
            self._batch(batch, formulas, found)
        return found

    @torch.inference_mode()
    def _batch(
        self,
        items: Sequence[tuple[int, Prepared]],
        formulas: Sequence[Formula],
        found: list[NDArray[np.float32]],
    ) -> None:
        model, alphabet = self.model, self.model.alphabet
        images = np.stack([prepared.planes(self.preprocessing.inputs) for _, prepared in items])
        pixels = torch.from_numpy(images).to(model.device).float() / 255.0
        labels = [alphabet.numbers(formulas[number].tokens) for number, _ in items]
        inputs, _ = model.sequences(labels)
        context = model.prepare(model.encode(pixels))
        attention = model.teacher_forcing(context, inputs.to(model.device)).attention
        for (number, prepared), weights in zip(items, attention, strict=True):
            try:
                places = alphabet.visual_places(formulas[number].tokens)
            except LatexError:
                continue
            cells = maxima(weights[places], images.shape[2])
            centers = (cells[:, ::-1] + 0.5) * CELL
            found[number] = prepared.to_input(centers).astype(np.float32)


def maxima(attention: Tensor, height: int) -> NDArray[np.int64]:
    """Attention [T, h, w] to a picture of `height` pixels → cells [T, 2] (row, column) on H/8."""
    attention = attention.float()
    if attention.shape[1] * STRIDE == height:
        attention = F.interpolate(
            attention[:, None], scale_factor=2, mode="bilinear", align_corners=False
        )[:, 0]
    best = attention.flatten(1).argmax(1).cpu().numpy()
    return np.stack([best // attention.shape[2], best % attention.shape[2]], 1)
