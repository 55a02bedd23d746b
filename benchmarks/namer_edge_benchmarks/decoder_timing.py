"""Decoders that take turns on the same pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from namer_edge.autoregressive.beam_search import read
from namer_edge.autoregressive.model import Features
from namer_edge_runtime.recognizer import Recognizer

from .baselines import BASELINES, Baseline, Baselines
from .end_to_end import Whole
from .namer_stages import Stages, run_stages

OWN_STOP = "own stop token"
FORCED = "forced to the label's length, as no trained weights were given"
LENGTH_STOP = (
    "as many tokens as a trained {name} on encoder {encoder} writes of it, with the same beam"
)
FORCED_NAMER = "the label's nodes and order, as no trained weights were given"


@dataclass(frozen=True)
class SearchSetting:
    """How a baseline decodes: beam width and cache."""

    baseline: Baseline
    beam: int
    cached: bool

    def __str__(self) -> str:
        search = f"beam {self.beam}" if self.beam > 1 else "greedy"
        if self.baseline.model.two_way and self.beam > 1:
            search += ", both directions"
        # What a GRU carries along is its state, which it has always kept.
        keeps = self.baseline.model.two_way
        return f"{search}, {'cached' if self.cached else 'uncached'}" if keeps else search

    @property
    def key(self) -> str:
        """Its key in `Picture.lengths`."""
        return f"{self.baseline.name} {self.beam}"

    @property
    def stop(self) -> str:
        """The stop criterion in words."""
        baseline = self.baseline
        if baseline.trained:
            return OWN_STOP
        if baseline.lengths is None:
            return FORCED
        return LENGTH_STOP.format(name=BASELINES[baseline.name], encoder=baseline.lengths.encoder)


@dataclass
class Line:
    """Times of one decoder in milliseconds, one for each picture."""

    name: str
    way: str
    stop: str
    """Stop criterion."""
    decoder: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """Tokens written, the closing one not counted; three numbers a node by TreeDecoder."""
    vat: list[float] = field(default_factory=list)
    """VAT's times, of NAMER alone, as are `pgd` and `path`."""
    pgd: list[float] = field(default_factory=list)
    path: list[float] = field(default_factory=list)
    decoder_flops: int = 0
    gpu_memory: float | None = None
    """MB that PyTorch had allocated at most, the weights of all entrants included; CUDA alone."""


@dataclass(frozen=True)
class Picture:
    """An input: pixels uint8 [1, channels, H, W] and the label's tokens."""

    name: str
    image: Tensor
    label: tuple[str, ...]
    value: Any = None
    """Source of the pixels: strokes, or a picture in its own size."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """Tokens to write, by the name and beam of a search setting (`SearchSetting.key`); where it is
    missing, those of the label."""


class DecoderTiming:
    """All decoders in turn on one picture after the other."""

    def __init__(
        self,
        baselines: Baselines,
        ways: Sequence[SearchSetting],
        device: str,
        recognizers: Mapping[str, Recognizer] | None = None,
    ) -> None:
        """`recognizers` read the same pictures from end to end, by their names."""
        self.baselines, self.ways, self.device = baselines, ways, device
        self.lines = [
            Line("NAMER", "one pass", OWN_STOP if baselines.namer_trained else FORCED_NAMER)
        ]
        self.lines += [Line(BASELINES[way.baseline.name], str(way), way.stop) for way in ways]
        self.recognizers = dict(recognizers or {})
        self.wholes = [Whole(name) for name in self.recognizers]
        self.alone = not device.startswith("cuda") and torch.get_num_threads() == 1
        self.encoder: list[float] = []

    def clear(self) -> None:
        """Forget what was measured."""
        self.encoder.clear()
        for line in self.lines:
            for series in (line.decoder, line.steps, line.vat, line.pgd, line.path):
                series.clear()
            line.gpu_memory = None
        self.wholes = [Whole(name) for name in self.recognizers]

    @torch.inference_mode()
    def run(self, picture: Picture, longest: int | None = None) -> None:
        """Times encoder and decoders; with `longest`, decoders are cut off there."""
        image = picture.image.to(self.device).float() / 255.0
        started = self._clock()
        f8, f16 = self.baselines.namer.encoder(image)
        self.encoder.append(1000 * (self._clock() - started))
        self._reset_memory()
        stages = self._namer(picture, f8, f16)
        line = self.lines[0]
        self._keep_memory(line)
        line.decoder.append(stages.total)
        line.steps.append(len(stages.tokens))
        for spent, series in (
            (stages.vat, line.vat),
            (stages.pgd, line.pgd),
            (stages.path, line.path),
        ):
            series.append(spent)
        for way, line in zip(self.ways, self.lines[1:], strict=True):
            features = self._features(way.baseline, image, f8, f16)
            self._reset_memory()
            started = self._clock()
            steps = self._read(way, features, picture, longest)
            line.decoder.append(1000 * (self._clock() - started))
            line.steps.append(steps)
            self._keep_memory(line)
        for recognizer, whole in zip(self.recognizers.values(), self.wholes, strict=True):
            started = self._clock()
            result = recognizer(picture.value)
            whole.milliseconds.append(1000 * (self._clock() - started))
            whole.exact += result.canonical == " ".join(picture.label)

    @torch.inference_mode()
    def count(self, picture: Picture) -> int:
        """Counts FLOPs of all decoders on one picture, into their lines; returns the encoder's."""
        image = picture.image.to(self.device).float() / 255.0
        with FlopCounterMode(display=False) as counter:
            f8, f16 = self.baselines.namer.encoder(image)
        encoder = counter.get_total_flops()
        with FlopCounterMode(display=False) as counter:
            self._namer(picture, f8, f16)
        self.lines[0].decoder_flops = counter.get_total_flops()
        for way, line in zip(self.ways, self.lines[1:], strict=True):
            features = self._features(way.baseline, image, f8, f16)
            with FlopCounterMode(display=False) as counter:
                self._read(way, features, picture)
            line.decoder_flops = counter.get_total_flops()
        return encoder

    def _namer(self, picture: Picture, f8: Tensor, f16: Tensor) -> Stages:
        label = None if self.baselines.namer_trained else picture.label
        decoding = self.baselines.decoding
        return run_stages(self.baselines.namer, decoding, f8, f16, self._clock, label)

    def _features(self, baseline: Baseline, image: Tensor, f8: Tensor, f16: Tensor) -> Features:
        """NAMER's; a trained decoder needs those of the encoder that it was trained with."""
        return baseline.model.encode(image) if baseline.trained else Features(f8, f16, None)

    def _read(
        self, way: SearchSetting, features: Features, picture: Picture, longest: int | None = None
    ) -> int:
        """Writes one formula; returns its number of steps."""
        baseline = way.baseline
        most = baseline.model.longest
        if not baseline.trained:  # these tokens, and the one that closes them
            length = picture.lengths.get(way.key)
            if length is None:
                length = len(baseline.model.alphabet.numbers(picture.label))
            most = length + 1
        most = min(most, longest or most)
        best = read(baseline.reader, features, way.beam, most, cached=way.cached)[0]
        return len(best.tokens) - (0 if baseline.trained else 1)

    def _clock(self) -> float:
        """Seconds, once the device has done all that it was asked for; on one CPU thread processor
        time, which other work on the machine does not change."""
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()
        return process_time() if self.alone else perf_counter()

    def _reset_memory(self) -> None:
        if self.device.startswith("cuda"):
            torch.cuda.reset_peak_memory_stats()

    def _keep_memory(self, line: Line) -> None:
        if self.device.startswith("cuda"):
            used = torch.cuda.max_memory_allocated() / 2**20
            line.gpu_memory = max(line.gpu_memory or 0.0, round(used, 1))
