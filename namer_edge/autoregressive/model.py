"""What every autoregressive recognizer is: an encoder, and a decoder that writes tokens in turn."""

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
"""A target that no loss counts."""
State = dict[str, Tensor]
"""What a decoder remembers between tokens; the first dimension of each tensor is the row's."""


@dataclass(frozen=True)
class DecoderArchitecture(StoredArchitecture):
    """What of a recognizer is a matter of choice; kept in every checkpoint."""

    model: str = "dwap"
    encoder: str = Architecture.encoder
    widths: tuple[int, ...] = bounded(Architecture.widths, 1, 4096)
    blocks: tuple[int, ...] = bounded(Architecture.blocks, 0, 64)
    decoder_width: int = bounded(256, 1, 4096)
    """Of embeddings and of the GRU's or the transformer's state."""
    attention_width: int = bounded(512, 1, 4096)
    """Of coverage attention, and of CAN's counting."""
    decoder_layers: int = bounded(3, 1, 64)
    decoder_heads: int = bounded(8, 1, 256)
    decoder_feedforward: int = bounded(4, 1, 64)
    """Of transformers, the last in multiples of `decoder_width`."""
    dropout: float = bounded(Architecture.dropout, 0, 0.999)
    channels: int = bounded(Architecture.channels, 1, 16)


@dataclass(frozen=True)
class Features:
    """What the encoder sees in N pictures."""

    f8: Tensor
    """[N, width8, H/8, W/8]."""
    f16: Tensor
    """[N, width16, H/16, W/16]."""
    mask: Tensor | None
    """[N, 1, H/16, W/16], 0 on what pads a batch; None where nothing does."""

    def repeat(self, times: int) -> "Features":
        """Each picture `times` times in a row."""
        if times == 1:
            return self
        mask = None if self.mask is None else self.mask.repeat_interleave(times, 0)
        return Features(
            self.f8.repeat_interleave(times, 0), self.f16.repeat_interleave(times, 0), mask
        )

    def of(self, picture: int) -> "Features":
        """One picture alone."""
        one = slice(picture, picture + 1)
        return Features(self.f8[one], self.f16[one], None if self.mask is None else self.mask[one])

    def mask_at(self, stride: int) -> Tensor | None:
        """The mask of F8 (8) or F16 (16)."""
        return None if self.mask is None else mask_pyramid(self.mask)[stride]


@dataclass(frozen=True)
class DecoderOutput:
    """What a decoder says after each of T tokens in N rows."""

    logits: Tensor
    """[N, T, A]: the next token."""
    attention: Tensor
    """[N, T, h, w]: where it looked to say so; adds up to 1 over a picture."""
    state: State


class AutoregressiveModel(nn.Module, ABC):
    """Picture → canonical tokens, one after the other.

    Training hands in the whole label at once (teacher forcing), reading one token at a time; both
    go through `step`, so a recognizer has one description of what it computes.
    """

    two_way = False
    """Whether it also writes formulas from their end, from <eos> to <sos>."""

    longest = 200
    """Tokens after which a formula is cut off that does not end."""

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
        """What is computed once for a picture, however many tokens it has."""

    @abstractmethod
    def initial_state(self, context: Any) -> State:
        """The state before the first token."""

    @abstractmethod
    def step(self, context: Any, state: State, tokens: Tensor) -> DecoderOutput:
        """Take in T ≥ 1 tokens [N, T], <sos> the first of all, and foretell the one after each."""

    def teacher_forcing(self, context: Any, tokens: Tensor) -> DecoderOutput:
        """Teacher forcing: all tokens [N, T] of the labels, <sos> first, at once."""
        return self.step(context, self.initial_state(context), tokens)

    def losses(
        self, context: Any, labels: Sequence[Sequence[int]], smoothing: float = 0.0
    ) -> dict[str, Tensor]:
        """Scalars, `loss` first: mean cross-entropy of the labels' tokens and of the end."""
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
        """The tokens that open and close a formula in this direction."""
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
