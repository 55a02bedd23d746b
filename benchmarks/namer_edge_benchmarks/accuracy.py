"""Tables 1 and 2 of the paper with a row of ours: how often a whole formula is read right."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from namer_edge.evaluation.answers import answer_all, paired_with_own
from namer_edge.evaluation.report import Report
from namer_edge_runtime.errors import DataError, UsageError
from namer_edge_runtime.model_file import CHECKPOINT, ModelFile

from .formulas import samples
from .published import CROHME, HME100K, NONE, TABLE_1, TABLE_2, Method, Rates
from .report import table

if TYPE_CHECKING:
    from namer_edge_runtime.recognizer import Recognizer

NOTES = """\
Percent of formulas, exact and with at most one and two errors. All rows but *ours* are as
published: (*) used more than the picture, (+) trained anew by the paper's authors; *aug* tells
whether pictures were changed for training. What ours was trained on is in its model card."""


@dataclass(frozen=True)
class Scored:
    """A model's rates on one set."""

    name: str
    """The set's: 2014, 2016, 2019, HME100K, or any other."""
    model: str
    exprate: float
    exprate_le1: float
    exprate_le2: float
    interval: tuple[float, float]
    """95 %, of exprate."""
    total: int
    failed: int
    protocol: str

    @property
    def rates(self) -> Rates:
        return self.exprate, self.exprate_le1, self.exprate_le2


def score(
    name: str,
    data: Path,
    model: str | None = None,
    *,
    engine: str | None = None,
    device: str | None = None,
    threads: int | None = None,
    one_look: bool = False,
    limit: int | None = None,
) -> Scored:
    """Reads a pack, or InkML and pictures with their own labels; of a `.json`, which is what
    `namer-edge evaluate --json` wrote, its rates are taken over.

    Raises the typed errors of model, engine and data, `UsageError` where nothing has a label.
    """
    if data.suffix.lower() == ".json":
        return _from_report(name, data)
    chosen = samples(data, limit)
    if all(sample.label is None for sample in chosen):
        raise UsageError(
            f"{data}: nothing carries a label; read it with `namer-edge evaluate --labels TSV "
            f"--json OUT.json`, and give {name}=OUT.json"
        )
    recognizer, called = _opened(model, engine, device, threads, one_look)
    paired = paired_with_own(answer_all(recognizer, chosen), "the data's own", loose=False)
    return _scored(name, called, Report.of(paired.readings, paired.protocol).to_json())


def _opened(
    model: str | None, engine: str | None, device: str | None, threads: int | None, one_look: bool
) -> tuple["Recognizer", str]:
    """The recognizer and its name."""
    if model is not None and model.endswith(CHECKPOINT):
        from namer_edge.checkpoints.open import open_reader

        reader = cast("Recognizer", open_reader(Path(model), device))
        return reader, f"{Path(model).stem}, torch, fp32"
    from namer_edge_runtime.recognizer import Recognizer

    recognizer = Recognizer.from_pretrained(
        model, engine=engine, device=device, threads=threads, one_look=one_look
    )
    looks, used = (", one pass" if one_look else ""), recognizer.engine
    return recognizer, f"{ModelFile.open(model).name}, {used.name}, {used.precision}{looks}"


def _from_report(name: str, path: Path) -> Scored:
    try:
        report = json.loads(path.read_text("utf-8"))
        called = f"{Path(report['model'] or '').stem}, {report['engine']}, {report['precision']}"
        return _scored(name, called, report)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: not what `namer-edge evaluate --json` writes ({error!r})"
        ) from None


def _scored(name: str, called: str, report: dict[str, Any]) -> Scored:
    low, high = report["interval"]
    return Scored(
        name,
        called,
        report["exprate"],
        report["exprate_le1"],
        report["exprate_le2"],
        (low, high),
        report["total"],
        report["unreadable"],
        report["protocol"],
    )


def accuracy_page(found: Sequence[Scored]) -> str:
    """Markdown: the tables of which a set was read, and what else was."""
    parts = [NOTES]
    models = list(dict.fromkeys(scored.model for scored in found))
    for number, sets, methods in ((1, CROHME, TABLE_1), (2, (HME100K,), TABLE_2)):
        if any(scored.name in sets for scored in found):
            ours = [
                Method(f"**ours: {model}**", None, _rates(found, model, sets)) for model in models
            ]
            rows = [_row(method) for method in (*methods, *ours)]
            head = [
                "",
                "aug",
                *(f"{name} {rate}" for name in sets for rate in ("%", "<= 1", "<= 2")),
            ]
            parts += [f"### Table {number}", table(head, rows)]
    own = [
        "set",
        "model",
        "formulas",
        "exact, %",
        "95 % interval",
        "<= 1, %",
        "<= 2, %",
        "no answer",
    ]
    parts += ["### As measured", table(own, [_own(scored) for scored in found])]
    protocols = dict.fromkeys(scored.protocol for scored in found)
    return "\n\n".join([*parts, *(f"Protocol: {protocol}" for protocol in protocols)])


def _rates(found: Sequence[Scored], model: str, sets: Sequence[str]) -> tuple[Rates, ...]:
    own = {scored.name: scored.rates for scored in found if scored.model == model}
    return tuple(own.get(name, NONE) for name in sets)


def _row(method: Method) -> list[object]:
    every = [rate for rates in method.rates for rate in rates]
    augmented = None if method.augmented is None else "yes" if method.augmented else "no"
    return [method.name, augmented, *every]


def _own(scored: Scored) -> list[object]:
    low, high = scored.interval
    return [
        scored.name, scored.model, scored.total, scored.exprate, f"{low:.1f} to {high:.1f}",
        scored.exprate_le1, scored.exprate_le2, scored.failed,
    ]  # fmt: skip
