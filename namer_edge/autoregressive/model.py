"""Base of all autoregressive models: an encoder, and a decoder that outputs one token at a time."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from namer_edge_runtime.bounded import bounded
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..model.encoder import build_encoder
from ..model.layers import mask_pyramid
from ..model.namer import Architecture, StoredArchitecture
from .alphabet import Alphabet

IGNORE = -100
"""Target that losses leave out."""
State = dict[str, Tensor]
"""State of a decoder between tokens; rows are the first dimension of each tensor."""


@dataclass(frozen=True)
class DecoderArchitecture(StoredArchitecture):
    """Hyperparameters of an autoregressive model; every checkpoint holds them."""

    model: str = "dwap"
    encoder: str = Architecture.encoder
    widths: tuple[int, ...] = bounded(Architecture.widths, 1, 4096)
    blocks: tuple[int, ...] = bounded(Architecture.blocks, 0, 64)
    decoder_width: int = bounded(256, 1, 4096)
    """Width of embeddings and of the GRU's or the transformer's state."""
    attention_width: int = bounded(512, 1, 4096)
    """Channels of coverage attention, and of CAN's counting."""
    decoder_layers: int = bounded(3, 1, 64)
    decoder_heads: int = bounded(8, 1, 256)
    decoder_feedforward: int = bounded(4, 1, 64)
    """Heads, layers and feed-forward width of transformers, the last in `decoder_width`s."""
    dropout: float = bounded(Architecture.dropout, 0, 0.999)
    channels: int = bounded(Architecture.channels, 1, 16)


@dataclass(frozen=True)
class Features:
    """Outputs of the encoder for N pictures."""

    f8: Tensor
    """[N, width8, H/8, W/8]."""
    f16: Tensor
    """[N, width16, H/16, W/16]."""
    mask: Tensor | None
    """[N, 1, H/16, W/16], 0 on padding; None without padding."""

    def repeat(self, times: int) -> "Features":
        """Repeats each picture `times` times."""
        if times == 1:
            return self
        mask = None if self.mask is None else self.mask.repeat_interleave(times, 0)
        return Features(
            self.f8.repeat_interleave(times, 0), self.f16.repeat_interleave(times, 0), mask
        )

    def of(self, picture: int) -> "Features":
        """The features of one picture."""
        one = slice(picture, picture + 1)
        return Features(self.f8[one], self.f16[one], None if self.mask is None else self.mask[one])

    def mask_at(self, stride: int) -> Tensor | None:
        """The mask of F8 (8) or F16 (16)."""
        return None if self.mask is None else mask_pyramid(self.mask)[stride]


@dataclass(frozen=True)
class DecoderOutput:
    """Outputs of a decoder after each of T tokens in N rows."""

    logits: Tensor
    """[N, T, A] logits of the next token."""
    attention: Tensor
    """[N, T, h, w] attention weights, 1 in sum over a picture."""
    state: State


class AutoregressiveModel(nn.Module, ABC):
    """Picture → canonical tokens, one at a time.

    Teacher forcing in training and decoding both call `step`.
    """

    two_way = False
    """Whether it also decodes backward, from <eos> to <sos>."""

    longest = 200
    """Most tokens of a formula; decoding stops there."""

    def __init__(self, architecture: DecoderArchitecture, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.architecture, self.vocabulary = architecture, vocabulary
        self.alphabet = Alphabet(vocabulary)
        self.encoder = build_encoder(
            architecture.encoder, architecture.channels, architecture.widths, architecture.blocks
        )

    def encode(self, image: Tensor, mask: Tensor | None = None) -> Features:
        """Image [N, channels, H, W] in 0 … 1, H and W multiples of 16; mask [N, 1, H/16, W/16]."""
        f8, f16 = self.encoder(image, None if mask is None else mask_pyramid(mask))
        return Features(f8, f16, mask)

    @abstractmethod
    def prepare(self, features: Features) -> Any:
        """The context of decoding: everything that does not depend on tokens."""

    @abstractmethod
    def initial_state(self, context: Any) -> State:
        """The state before the first token."""

    @abstractmethod
    def step(self, context: Any, state: State, tokens: Tensor) -> DecoderOutput:
        """Takes T ≥ 1 tokens [N, T], starting with <sos>, and predicts the one after each."""

    def teacher_forcing(self, context: Any, tokens: Tensor) -> DecoderOutput:
        """All tokens [N, T] of the labels, <sos> first, in one step."""
        return self.step(context, self.initial_state(context), tokens)

    def losses(
        self, context: Any, labels: Sequence[Sequence[int]], smoothing: float = 0.0
    ) -> dict[str, Tensor]:
        """Scalars, `loss` first: mean cross-entropy of the labels' tokens, closing included."""
        if not self.two_way:
            return {"loss": self._cross_entropy(context, labels, False, smoothing)}
        forward, backward = (
            self._cross_entropy(context, labels, way, smoothing) for way in (False, True)
        )
        return {"loss": (forward + backward) / 2, "forward": forward, "backward": backward}

    def _cross_entropy(
        self, context: Any, labels: Sequence[Sequence[int]], backward: bool, smoothing: float
    ) -> Tensor:
        inputs, targets = self.sequences(labels, backward)
        logits = self.teacher_forcing(context, inputs.to(self.device)).logits
        return F.cross_entropy(
            logits.float().flatten(0, 1),
            targets.flatten().to(self.device),
            ignore_index=IGNORE,
            label_smoothing=smoothing,
        )

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def ends(self, backward: bool) -> tuple[int, int]:
        """The opening and the closing token of a direction."""
        ends = (self.alphabet.sos, self.alphabet.eos)
        return ends[::-1] if backward else ends

    def sequences(
        self, labels: Sequence[Sequence[int]], backward: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Inputs and targets int64 [N, T], T one more than the longest label's tokens."""
        start, stop = self.ends(backward)
        length = max(map(len, labels)) + 1
        inputs = torch.full((len(labels), length), stop)
        targets = torch.full((len(labels), length), IGNORE)
        for row, label in enumerate(labels):
            numbers = torch.tensor(label[::-1] if backward else label, dtype=torch.int64)
            inputs[row, 0], inputs[row, 1 : len(label) + 1] = start, numbers
            targets[row, : len(label)], targets[row, len(label)] = numbers, stop
        return inputs, targets
