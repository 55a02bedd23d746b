"""Field bench (`namer-edge evaluate --field`): formulas read clean and under field conditions.

The formulas are those of a labeled set of ink that are read right both as ink and as a clean
picture; `namer_edge/data/field` brings each under every condition.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.errors import DataError, NamerEdgeError
from namer_edge_runtime.ink.strokes import Strokes
from namer_edge_runtime.inputs import open_input

from ..data.field.conditions import Condition, chosen
from ..data.field.ranges import Half
from ..data.labels import bare, labels_by_name
from .exprate import Prediction, Rate, rate, wilson_interval
from .robustness import Drawing
from .samples import file_samples, pack_samples

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer
    from namer_edge_runtime.result import Result

DATA = Path("runs/data/test2013.npz")
FORMULAS = 200
GOALS = {False: 90.0, True: 80.0}
"""Percent that a condition, and a pair of them, is meant to reach."""


@dataclass(frozen=True)
class InkSample:
    """Labeled ink."""

    name: str
    strokes: Strokes
    label: str


def run_field(
    arguments: argparse.Namespace, opened: Callable[[argparse.Namespace], "Recognizer"]
) -> int:
    """Runs the bench on the recognizer that is `opened` for the options of `evaluate`.

    Raises the typed errors of model, engine, labels, data and conditions.
    """
    from tqdm import tqdm

    from namer_edge_runtime.outputs import STANDARD_OUTPUT, write_text

    several = chosen(arguments.condition or ())
    samples = ink_samples(arguments.data or DATA, arguments.labels)
    recognizer = opened(arguments)
    seed, size, count = arguments.field, arguments.batch_size, arguments.formulas or FORMULAS
    half: Half = arguments.half or "tune"
    with tqdm(total=count, unit="formula", disable=None) as bar:
        right, tried = right_clean(recognizer, samples, count, seed, size, bar.update)
    report = FieldReport(seed, half, len(right), tried)
    failures = Failures(arguments.failures, recognizer) if arguments.failures else None
    with tqdm(total=len(right) * len(several), unit="input", disable=None) as bar:
        for reading in field_readings(recognizer, right, several, seed, half, size):
            report.add(reading)
            if failures is not None and not reading.right:
                failures.add(reading)
            bar.update()
    if failures is not None:
        failures.finish()
    if arguments.json:
        write_text(arguments.json, json.dumps(report.to_json(), indent=1) + "\n")
    print(report.text(), file=sys.stderr if arguments.json == STANDARD_OUTPUT else sys.stdout)
    return 0


def ink_samples(data: Path, labels: Path | None) -> list[InkSample]:
    """The labeled ink of a pack, or of InkML files; raises `DataError` where there is none."""
    published = {} if labels is None else labels_by_name(labels)
    packed = data.suffix.lower() == ".npz"
    samples = pack_samples(data) if packed else file_samples(data, own_labels=labels is None)
    found: list[InkSample] = []
    for sample in samples:
        name = bare(sample.source.name)
        label = sample.label if labels is None else published.get(name)
        if sample.source.error is not None or label is None:
            continue
        try:
            strokes = open_input(sample.source.value).strokes
        except NamerEdgeError:  # read wrong by `evaluate`, and not right clean here
            continue
        if strokes:
            found.append(InkSample(name, strokes, label.latex))
    if not found:
        raise DataError(f"{data}: no labeled ink, of which the field bench is made")
    return found


@dataclass(frozen=True)
class Reading:
    """A formula's input under a condition, and its reading."""

    condition: Condition
    sample: InkSample
    input: Any
    answer: "Result | NamerEdgeError"

    @property
    def prediction(self) -> Prediction:
        label = tuple(self.sample.label.split())
        if isinstance(self.answer, NamerEdgeError):
            return Prediction(self.sample.name, label, None, str(self.answer))
        return Prediction(self.sample.name, label, self.answer.expression.tokens)

    @property
    def right(self) -> bool:
        return self.prediction.errors == 0


@dataclass
class FieldReport:
    """Counts of formulas that are still read right, by condition."""

    seed: int
    half: Half
    formulas: int
    tried: int
    """Formulas of which these are the ones read right clean."""
    readings: dict[Condition, list[Prediction]] = field(default_factory=dict)

    def add(self, reading: Reading) -> None:
        self.readings.setdefault(reading.condition, []).append(reading.prediction)

    def rates(self) -> dict[Condition, Rate]:
        return {condition: rate(all_) for condition, all_ in self.readings.items()}

    def to_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "half": self.half,
            "formulas": self.formulas,
            "tried": self.tried,
            "conditions": [
                {
                    "name": condition.name,
                    "kind": condition.kind,
                    "pair": condition.pair,
                    "total": one.total,
                    "right": one.exact,
                    "percent": round(one.exprate, 2),
                    "interval": [round(bound, 2) for bound in wilson_interval(one)],
                    "without_answer": sum(p.read is None for p in self.readings[condition]),
                    "wrong": [p.name for p in self.readings[condition] if p.errors != 0],
                }
                for condition, one in self.rates().items()
            ],
        }

    def text(self) -> str:
        """A table of the conditions and how many reach the goals."""
        rates = self.rates()
        width = max([len(condition.name) for condition in rates], default=0)
        lines = [
            f"field bench, seed {self.seed}, half {self.half}: {self.formulas} formulas that are "
            f"read right clean (of {self.tried})",
            f"{'condition':{width}s}  right        %   95 % interval",
        ]
        for condition, one in rates.items():
            low, high = wilson_interval(one)
            count = f"{one.exact}/{one.total}"
            shares = f"{one.exprate:5.1f}   {low:.1f} to {high:.1f}"
            lines.append(f"{condition.name:{width}s}  {count:>7s}  {shares}")
        for kind in ("picture", "ink"):
            for pair, goal in GOALS.items():
                own = [r.exprate for c, r in rates.items() if (c.kind, c.pair) == (kind, pair)]
                if own:
                    lines.append(
                        f"{kind}{', pairs' if pair else ''}: mean {np.mean(own):.1f} %; "
                        f"{sum(r >= goal for r in own)} of {len(own)} reach {goal:g} %"
                    )
        return "\n".join(lines)


def right_clean(
    recognizer: "Recognizer",
    samples: Sequence[InkSample],
    count: int,
    seed: int,
    batch_size: int = 8,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[list[InkSample], int]:
    """`count` samples, or as many as there are, in an order that `seed` shuffles, which are read
    right as ink and as a clean picture; and how many were tried."""
    order = np.random.default_rng(seed).permutation(len(samples))
    right: list[InkSample] = []
    tried = 0
    while len(right) < count and tried < len(order):
        some = [samples[i] for i in order[tried : tried + batch_size]]
        ink = recognizer.each([list(one.strokes) for one in some], batch_size)
        pictures = recognizer.each([Drawing().png(one.strokes) for one in some], batch_size)
        for one, *answers in zip(some, ink, pictures, strict=True):
            if len(right) == count:
                break
            tried += 1
            if all(_is_right(answer, one.label) for answer in answers):
                right.append(one)
                progress(1)
    return right, tried


def _is_right(answer: "Result | NamerEdgeError", label: str) -> bool:
    return not isinstance(answer, NamerEdgeError) and answer.canonical == label


def field_readings(
    recognizer: "Recognizer",
    samples: Sequence[InkSample],
    conditions: Sequence[Condition],
    seed: int,
    half: Half,
    batch_size: int = 8,
) -> Iterator[Reading]:
    """Yields readings of all samples, condition by condition."""
    for condition in conditions:
        for start in range(0, len(samples), batch_size):
            some = samples[start : start + batch_size]
            inputs = [condition.input(one.strokes, half, seed, one.name) for one in some]
            answers = recognizer.each(inputs, batch_size)
            for one, value, answer in zip(some, inputs, answers, strict=True):
                yield Reading(condition, one, value, answer)


@dataclass(frozen=True)
class Failures:
    """A folder with a picture of each formula that is read wrong, by condition.

    Beside it lies the input, where that is no picture, and `failures.tsv` says what was read.
    """

    folder: Path
    recognizer: "Recognizer"
    rows: list[str] = field(default_factory=list)

    def add(self, reading: Reading) -> None:
        """Writes one; raises what writing raises."""
        place = self.folder / re.sub(r"[^\w+-]+", "-", reading.condition.name)
        place.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "-", reading.sample.name)
        if reading.condition.kind == "picture":
            suffix = ".jpg" if reading.input.startswith(b"\xff\xd8") else ".png"
            _write(place / f"{name}{suffix}", reading.input)
        else:
            suffix = ".inkml" if isinstance(reading.input, bytes) else ".json"
            data = reading.input if suffix == ".inkml" else json.dumps(reading.input).encode()
            _write(place / f"{name}{suffix}", data)
            _write(place / f"{name}.png", self._seen(reading))
        prediction = reading.prediction
        read = prediction.reason if prediction.read is None else " ".join(prediction.read)
        score = "" if isinstance(reading.answer, NamerEdgeError) else f"{reading.answer.score:.3f}"
        file = f"{place.name}/{name}{suffix}"
        label = reading.sample.label
        row = (file, reading.condition.name, label, " ".join(read.split()), score)
        self.rows.append("\t".join(row) + "\n")

    def finish(self) -> None:
        """Writes the list."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_file(self.folder / "failures.tsv", "w") as file:
            file.write("file\tcondition\tlabel\tread\tscore\n" + "".join(self.rows))

    def _seen(self, reading: Reading) -> bytes:
        """Ink as the model sees it, or as it was meant where it cannot be read."""
        preprocessing = self.recognizer.preprocessing
        try:
            image = open_input(reading.input).prepare(preprocessing).image
        except NamerEdgeError:
            image = open_input(list(reading.sample.strokes)).prepare(preprocessing).image
        return bytes(cv2.imencode(".png", 255 - image)[1])


def _write(path: Path, data: bytes) -> None:
    with atomic_file(path, "wb") as file:
        file.write(data)
