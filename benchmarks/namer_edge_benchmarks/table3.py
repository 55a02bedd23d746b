"""Table 3 of the paper, measured here: NAMER beside those that write token by token.

All on torch, on the features of one DenseNet, on the same pictures, one at a time; the decoders
take turns on each picture, so that their ratios hold on a machine with other work.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np
import torch
from torch import Tensor

from namer_edge.evaluation.samples import Sample
from namer_edge_runtime.decode import warm_up
from namer_edge_runtime.errors import NamerEdgeError, UsageError
from namer_edge_runtime.inputs import prepare_input
from namer_edge_runtime.preprocessing import CELL, Preprocessing
from namer_edge_runtime.recognizer import Recognizer

from .baselines import Baselines
from .decoder_timing import DecoderTiming, Line, Picture, SearchSetting
from .end_to_end import Whole

"""Pixels of a cell of the VAT map."""
WARM = 2
"""Tokens that each decoder writes before the clock runs."""


@dataclass(frozen=True)
class Comparison:
    """All lines, NAMER's first, and what they have in common."""

    lines: list[Line]
    encoder: list[float]
    encoder_flops: int
    size: tuple[int, int]
    """Height and width of the picture that FLOPs are counted on, in pixels."""
    size_tokens: int
    """Tokens of its label."""
    threads: int
    device: str
    processor_time: bool
    """Whether times are processor time rather than wall clock."""
    failed: dict[str, str]
    wholes: list[Whole] = field(default_factory=list)
    """Recognizers that read the same from end to end, in the same turns."""

    def fps(self, line: Line) -> float:
        """The paper's: 1000 / (encoder + decoder), without preparation and LaTeX."""
        return 1000 / (fmean(self.encoder) + fmean(line.decoder))

    def slower_decoding(self, line: Line) -> float:
        """Times that NAMER decodes as quickly."""
        return fmean(line.decoder) / fmean(self.lines[0].decoder)

    def slower(self, line: Line) -> float:
        """The ratio for encoder and decoder together."""
        return self.fps(self.lines[0]) / self.fps(line)

    def times_as_long(self, line: Line, whole: Whole) -> float:
        """Encoder and decoder, against all that `whole` does."""
        return 1000 / self.fps(line) / fmean(whole.milliseconds)

    def gflops(self, line: Line) -> float:
        """Encoder and decoder, of the picture of `size`."""
        return (self.encoder_flops + line.decoder_flops) / 1e9


def compare(
    baselines: Baselines,
    samples: Sequence[Sample],
    beams: Sequence[int] = (1, 10),
    device: str = "cpu",
    progress: Callable[[], object] = lambda: None,
    recognizers: Mapping[str, Recognizer] | None = None,
) -> Comparison:
    """Reads every labeled sample with each entrant, and from end to end with each of the
    `recognizers`; `progress` is called after each.

    A sample without a label, that cannot be read or that an entrant cannot write is named and left
    out for all. Raises `UsageError` where none is left, or for a device that is not there.
    """
    baselines.to(device)
    pictures, failed = _pictures(baselines, samples, beams)
    if not pictures:
        raise UsageError(f"no labeled formula can be read: {failed or 'there is none'}")
    warm_up()
    ways = [
        SearchSetting(baseline, beam, cached)
        for baseline in baselines.decoders
        for beam in beams
        for cached in ((True, False) if baseline.model.two_way else (True,))
    ]
    race = DecoderTiming(baselines, ways, device, recognizers)
    race.run(pictures[0], longest=WARM)
    race.clear()
    for picture in pictures:
        race.run(picture)
        progress()
    ordered = sorted(pictures, key=lambda picture: picture.image.numel())
    counted = ordered[len(ordered) // 2]
    encoder_flops = race.count(counted)
    return Comparison(
        race.lines,
        race.encoder,
        encoder_flops,
        (counted.image.shape[2], counted.image.shape[3]),
        len(counted.label),
        torch.get_num_threads(),
        device,
        race.alone,
        failed,
        race.wholes,
    )


def _pictures(
    baselines: Baselines, samples: Sequence[Sample], beams: Sequence[int]
) -> tuple[list[Picture], dict[str, str]]:
    found, failed = [], {}
    for sample in samples:
        name = sample.source.name
        try:
            if sample.source.error is not None:
                raise sample.source.error
            if sample.label is None or not sample.label.latex:
                raise UsageError("no label, and so no length")
            label = tuple(sample.label.latex.split())
            for baseline in baselines.decoders:
                baseline.model.alphabet.numbers(label)
            image = _image(sample, baselines.preprocessing)
            if len(label) > image.shape[2] * image.shape[3] // CELL**2:
                raise UsageError("more tokens than its picture has cells")
            value = sample.source.value
            lengths = {
                SearchSetting(baseline, beam, True).key: baseline.lengths.steps(value, beam)
                for baseline in baselines.decoders
                if baseline.lengths is not None
                for beam in beams
            }
            found.append(Picture(name, image, label, value, lengths))
        except NamerEdgeError as error:
            failed[name] = str(error)
    return found, failed


def _image(sample: Sample, preprocessing: Preprocessing) -> Tensor:
    prepared = prepare_input(sample.source.value, preprocessing)
    if prepared.blank:
        raise UsageError("a blank page")
    return torch.from_numpy(np.stack([prepared.planes(preprocessing.inputs)]))
