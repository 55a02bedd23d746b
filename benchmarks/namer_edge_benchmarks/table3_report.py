"""Our table 3 beside the paper's."""

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from .decoder_timing import Line
from .machine import Machine
from .report import table
from .table3 import Comparison
from .target import Target


@dataclass(frozen=True)
class Published:
    """A row of the paper's table 3, on one V100."""

    encoder: float
    """ms, as is `decoder`."""
    decoder: float
    gflops: float
    fps: float
    memory: int
    """MB of GPU memory."""


PAPER = {
    "NAMER": Published(18.31, 15.02, 11.39, 30.00, 2569),
    "DWAP": Published(18.31, 35.41, 30.30, 18.62, 4945),
    "TreeDecoder": Published(18.31, 115.81, 55.39, 7.46, 6290),
    "CoMER": Published(18.31, 206.12, 174.33, 4.46, 13441),
}
"""In the paper VAT takes 3.0 of NAMER's 15.02 ms, PGD 9.62 and path selection 2.4. The rivals are
read by beam search."""

NOTES = """\
Milliseconds a picture, means over {pictures} pictures, one at a time, on torch, {device}, {threads}
threads ({clock}); decoders take turns on each picture, so compare ratios. *slower* is against
NAMER: in decoding, and in FPS. FPS is the paper's, 1000 / (encoder + decoder), without preparation
and LaTeX. GFLOPs (2 x multiply-adds / 10^9, encoder included) are counted on a picture of {height}
x {width} pixels with a label of {tokens} tokens; the paper names no size. Its memory is the most
GPU memory: ours stands beside it where torch ran on CUDA (all entrants' weights included), else
nothing does, as a process's memory is another thing. What GRUs carry from token to token is their
state, so DWAP and TreeDecoder have no uncached form; coverage is taken in by kernels multiplied
beforehand, which makes our DWAP and TreeDecoder quicker than published ones."""

WHOLE = """\
A model file does everything here, from its input (ink, or a picture with --as-pictures) to LaTeX,
on the CPU; the others' preparation and LaTeX are not counted. It took its turn on each picture."""

DWAP_GREEDY, DWAP_BEAM = ("DWAP", "greedy"), ("DWAP", "beam 10")
COMER_PUBLISHED = ("CoMER", "beam 10, both directions, uncached")

HEAD = (
    "", "search", "encoder, ms", "decoder, ms", "slower in decoding", "FPS", "slower", "GFLOPs",
    "GPU, MB", "steps", "paper: encoder, ms", "decoder, ms", "slower in decoding", "FPS", "slower",
    "GFLOPs", "GPU, MB",
)  # fmt: skip


def paper_page(machine: Machine, found: Comparison) -> str:
    """Markdown."""
    height, width = found.size
    notes = NOTES.format(
        pictures=len(found.encoder),
        device=found.device,
        threads=found.threads,
        clock="processor time" if found.processor_time else "wall clock",
        height=height,
        width=width,
        tokens=found.size_tokens,
    )
    namer = found.lines[0]
    stages = (
        f"NAMER's decoder: VAT {fmean(namer.vat):.2f} ms, PGD {fmean(namer.pgd):.2f} ms, path "
        f"{fmean(namer.path):.2f} ms (paper: 3.0, 9.62, 2.4)."
    )
    stops = "\n".join(
        f"- {name} ends formulas by: {stop}"
        for name, stop in dict.fromkeys((line.name, line.stop) for line in found.lines)
    )
    parts = [machine.text(), table(HEAD, [_row(found, line) for line in found.lines])]
    parts += [stages, stops, notes]
    if found.wholes:
        parts += ["### From end to end", *_wholes(found)]
    aims = targets(found)
    if aims:
        rows = [[aim.name, aim.aim, aim.measured, aim.verdict] for aim in aims]
        parts += ["### Targets", table(["", "aim", "measured", ""], rows)]
    parts += [f"Left out: {name}: {why}" for name, why in found.failed.items()]
    return "\n\n".join(parts)


def _row(found: Comparison, line: Line) -> list[object]:
    paper, theirs = PAPER[line.name], PAPER["NAMER"]
    return [
        line.name, line.way, fmean(found.encoder), fmean(line.decoder),
        found.slower_decoding(line), found.fps(line), found.slower(line), found.gflops(line),
        line.gpu_memory, fmean(line.steps),
        paper.encoder, paper.decoder, paper.decoder / theirs.decoder, paper.fps,
        theirs.fps / paper.fps, paper.gflops, paper.memory,
    ]  # fmt: skip


def _wholes(found: Comparison) -> list[str]:
    """Encoder and decoder of the others, against all that a model file does."""
    head = [
        "",
        "search",
        "encoder + decoder, ms",
        *(f"times as long as {w.name}" for w in found.wholes),
    ]
    rows = [
        [line.name, line.way, 1000 / found.fps(line)]
        + [found.times_as_long(line, whole) for whole in found.wholes]
        for line in found.lines
    ]
    pictures = len(found.encoder)
    return [WHOLE, table(head, rows)] + [
        f"{w.name}: {fmean(w.milliseconds):.2f} ms, {w.exact} of {pictures} exact"
        for w in found.wholes
    ]


def targets(found: Comparison) -> list[Target]:
    """The paper's ratios, and those of the shipped model, where this run can tell."""
    lines = {(line.name, line.way): line for line in found.lines}
    aims = []
    for rival, decoding, whole in (
        (DWAP_BEAM, 2.4, None),
        (COMER_PUBLISHED, 14, 100),
        (DWAP_GREEDY, None, 15),
    ):
        line = lines.get(rival)
        if line is None:
            continue
        called = ", ".join(rival)
        if decoding is not None:
            name = f"NAMER decodes, against {called}"
            aims.append(Target(name, found.slower_decoding(line), decoding, "x", at_least=True))
        if whole is not None:
            aims += [
                Target(
                    f"{w.name}, against {called}", found.times_as_long(line, w), whole, "x", True
                )
                for w in found.wholes
            ]
    return aims


def paper_json(machine: Machine, found: Comparison) -> dict[str, Any]:
    """All figures, the times of each picture included."""
    lines = [
        {
            **asdict(line),
            "fps": found.fps(line),
            "slower_decoding": found.slower_decoding(line),
            "slower": found.slower(line),
            "gflops": found.gflops(line),
            "times_as_long": {w.name: found.times_as_long(line, w) for w in found.wholes},
            "paper": asdict(PAPER[line.name]),
        }
        for line in found.lines
    ]
    aims = [{**asdict(aim), "met": aim.met} for aim in targets(found)]
    return {"machine": machine.to_json(), **asdict(found), "lines": lines, "targets": aims}
