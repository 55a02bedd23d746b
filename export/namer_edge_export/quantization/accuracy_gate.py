"""The gate: what quantization costs in accuracy, measured before anything is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from namer_edge.data.pack import source_hash
from namer_edge.evaluation.calibration import fit_score_calibration
from namer_edge.evaluation.exprate import Prediction, paired_interval, rate
from namer_edge.evaluation.pairing import Answer, protocol_name, reading
from namer_edge.evaluation.samples import Sample, file_samples, pack_samples
from namer_edge_runtime.engine.base import open_engine
from namer_edge_runtime.engine.int8_sums import arithmetic
from namer_edge_runtime.errors import NamerEdgeError, UsageError
from namer_edge_runtime.inputs import LoadedInput, open_input
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result
from namer_edge_runtime.score_calibration import ScoreCalibration

from ..memory import peak_memory

FEWEST = 500
"""Labelled formulas below which half a point cannot be told from chance."""
SHOWN = 10
"""Lost formulas that are printed; the model file lists all."""


@dataclass(frozen=True)
class EvaluationSet:
    """Labelled formulas, and where they come from."""

    samples: tuple[Sample, ...]
    data: str
    sha256: str | None
    """SHA-256 of the file; None for a folder."""


@dataclass(frozen=True)
class Measured:
    """One of the two models on the evaluation set."""

    precision: str
    bytes: int
    """Bytes of both graphs."""
    readings: tuple[Prediction, ...]
    milliseconds: float
    """Median over formulas of both graphs together, one formula at a time on one thread."""
    memory: int | None = None
    """Peak bytes of a process that opens it and reads the longest formula; None: not known."""
    score_calibration: ScoreCalibration = field(default_factory=ScoreCalibration)
    """Score calibration fitted on this set."""

    @property
    def exprate(self) -> float:
        return rate(self.readings).exprate

    def to_json(self) -> dict[str, Any]:
        return {
            "exprate": round(self.exprate, 3),
            "bytes": self.bytes,
            "milliseconds": round(self.milliseconds, 2),
            "memory": self.memory,
        }


@dataclass(frozen=True)
class Comparison:
    """Two models on the same formulas."""

    data: EvaluationSet
    before: Measured
    after: Measured
    arithmetic: Mapping[str, str] = field(default_factory=dict)
    """Processor, its int8 unit, and whether the second model's engine adds up int8 exactly."""

    @property
    def drop(self) -> float:
        """ExpRate lost, in points; negative where it was gained."""
        return self.before.exprate - self.after.exprate

    @property
    def lost(self) -> list[tuple[Prediction, Prediction]]:
        """Formulas that only the first reads right."""
        return self._flipped(before=True)

    @property
    def won(self) -> list[tuple[Prediction, Prediction]]:
        """Formulas that only the second reads right."""
        return self._flipped(before=False)

    @property
    def changed(self) -> int:
        """Number of formulas that the two read differently, right or wrong."""
        return sum(a.read != b.read for a, b in self._pairs())

    def interval(self, resamples: int = 10_000, seed: int = 0) -> tuple[float, float]:
        """95 % interval of the drop, in points; see `paired_interval`."""
        total = len(self.before.readings)
        return paired_interval(len(self.lost), len(self.won), total, resamples, seed)

    def to_json(self) -> dict[str, Any]:
        return {
            "data": self.data.data,
            "sha256": self.data.sha256,
            "protocol": protocol_name(loose=False),
            "total": len(self.before.readings),
            self.before.precision: self.before.to_json(),
            self.after.precision: self.after.to_json(),
            "drop": round(self.drop, 3),
            "drop_interval": [round(bound, 3) for bound in self.interval()],
            "lost": [a.name for a, _ in self.lost],
            "won": [a.name for a, _ in self.won],
            "changed": self.changed,
            "arithmetic": dict(self.arithmetic),
        }

    def text(self) -> str:
        """Both side by side, and the formulas lost."""
        low, high = self.interval()
        lines = [f"{'':9} ExpRate       size    latency  peak memory   ({self.data.data})"]
        for model in (self.before, self.after):
            memory = "" if model.memory is None else f"{model.memory / 1e6:9.0f} MB"
            lines.append(
                f"{model.precision:9} {model.exprate:6.2f}% {model.bytes / 1e6:7.2f} MB "
                f"{model.milliseconds:7.2f} ms {memory}"
            )
        lines.append(
            f"drop {self.drop:.2f} points, 95% interval {low:.2f} to {high:.2f}; of "
            f"{len(self.before.readings)} formulas {len(self.lost)} lost, {len(self.won)} won, "
            f"{self.changed} read differently"
        )
        lines += [", ".join(f"{key}: {value}" for key, value in self.arithmetic.items())]
        for before, after in self.lost[:SHOWN]:
            answer = " ".join(after.read or ()) or after.reason or "nothing"
            lines.append(f"  lost {before.name}: {' '.join(before.label)} → {answer}")
        if len(self.lost) > SHOWN:
            lines.append(f"  … and {len(self.lost) - SHOWN} more, named in the model file")
        return "\n".join(lines)

    def _pairs(self) -> list[tuple[Prediction, Prediction]]:
        return list(zip(self.before.readings, self.after.readings, strict=True))

    def _flipped(self, before: bool) -> list[tuple[Prediction, Prediction]]:
        return [
            (a, b)
            for a, b in self._pairs()
            if (a.errors == 0) != (b.errors == 0) and (a.errors == 0) == before
        ]


def load_evaluation(data: Path) -> EvaluationSet:
    """Labelled formulas of a pack (.npz), or of InkML with truths in a folder or zip.

    Raises `DataError` where there is nothing, `UsageError` for fewer than `FEWEST` labeled ones.
    """
    if data.suffix.lower() == ".npz":
        samples = pack_samples(data)
    else:
        samples = list(file_samples(data, own_labels=True))
    labeled = tuple(sample for sample in samples if sample.label is not None)
    if len(labeled) < FEWEST:
        raise UsageError(
            f"{data} has {len(labeled)} labeled formulas and the gate needs {FEWEST}, or chance "
            "decides it: give --eval a larger set (a pack, or InkML with truths)"
        )
    return EvaluationSet(labeled, data.name, source_hash(data) if data.is_file() else None)


def compare(
    before: ModelFile, after: ModelFile, data: EvaluationSet, memory: bool = True
) -> Comparison:
    """Both models on every formula, one after the other, so that what else the machine does
    weighs on both."""
    models = (before, after)
    recognizers = [_recognizer(model) for model in models]
    answers: tuple[list[Answer], list[Answer]] = ([], [])
    results: tuple[dict[int, Result], dict[int, Result]] = ({}, {})
    times: tuple[list[float], list[float]] = ([], [])
    bar = tqdm(data.samples, desc="gate", unit=" formulas", disable=None)
    for number, sample in enumerate(bar):
        opened = _opened(sample)
        for which, recognizer in enumerate(recognizers):
            if isinstance(opened, NamerEdgeError):
                answers[which].append(Answer(sample.source.name, error=str(opened)))
                continue
            result = recognizer(opened)
            answers[which].append(Answer(sample.source.name, result.canonical))
            results[which][number] = result
            if result.milliseconds.vat > 0:  # a blank page runs no graph
                times[which].append(result.milliseconds.vat + result.milliseconds.pgd)
    longest = _longest(data, before.preprocessing) if memory else None
    measured = []
    for which, model in enumerate(models):
        readings = _readings(data.samples, answers[which])
        read = [readings[number] for number in results[which]]
        measured.append(
            Measured(
                model.precision,
                sum(part.bytes for part in model.parts.values()),
                readings,
                median(times[which]) if times[which] else 0.0,
                None if longest is None else peak_memory(model, longest),
                fit_score_calibration(list(results[which].values()), read),
            )
        )
    first, second = measured
    return Comparison(data, first, second, arithmetic(recognizers[1].engine))


def _recognizer(model: ModelFile) -> Recognizer:
    engine = open_engine(None, model, threads=1)
    return Recognizer.of_model(model, engine, calibrated=False)


def _opened(sample: Sample) -> LoadedInput | NamerEdgeError:
    if sample.source.error is not None:
        return sample.source.error
    try:
        return open_input(sample.source.value)
    except NamerEdgeError as error:
        return error


def _longest(data: EvaluationSet, preprocessing: Preprocessing) -> NDArray[np.uint8] | None:
    """The formula of most tokens, black on white, as the model is shown it."""
    by_length = sorted(data.samples, key=lambda s: -len(s.label.latex.split() if s.label else ()))
    for sample in by_length:
        opened = _opened(sample)
        if not isinstance(opened, NamerEdgeError):
            return np.asarray(255 - opened.prepare(preprocessing).image)
    return None


def _readings(samples: Sequence[Sample], answers: Sequence[Answer]) -> tuple[Prediction, ...]:
    return tuple(
        reading(sample.label, answer, loose=False)
        for sample, answer in zip(samples, answers, strict=True)
        if sample.label is not None
    )
