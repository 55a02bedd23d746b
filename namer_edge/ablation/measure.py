"""Measures the rows of a table: one trained model with parts disabled, or runs of their own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.engine.base import Engine
from namer_edge_runtime.recognizer import Recognizer

from ..checkpoints.open import OpenCheckpoint, open_checkpoint
from ..data.pack import source_hash
from ..evaluation.answers import answer_all, paired_with_own
from ..evaluation.exprate import rate, wilson_interval
from ..evaluation.samples import Sample, pack_samples
from ..model.graph_decoder import PARTS
from .engine import Remembering, Uncorrected
from .results import Measured
from .tables import Row

PAPER_EPOCHS = 240
"""Schedule of the paper; shorter ones are labeled."""


@dataclass(frozen=True)
class LabeledPack:
    """A labeled pack on which rows are measured."""

    pack: Path
    sha256: str
    samples: list[Sample]
    progress: Callable[[], object] = lambda: None
    """Called after each formula."""

    @classmethod
    def of(cls, pack: Path, progress: Callable[[], object] = lambda: None) -> "LabeledPack":
        """Loads a pack; raises `DataError` for another file."""
        return cls(pack, source_hash(pack), pack_samples(pack), progress)

    def measure(self, recognizer: Recognizer) -> dict[str, Any]:
        """The figures of `Measured`, all files of the pack counted."""
        answers = answer_all(recognizer, self.samples, progress=self.progress)
        paired = paired_with_own(answers, "the pack's", loose=False)
        measured = rate(paired.readings)
        return {
            "data": self.pack.name,
            "data_sha256": self.sha256,
            "exprate": round(measured.exprate, 2),
            "exprate_le1": round(measured.exprate_le1, 2),
            "exprate_le2": round(measured.exprate_le2, 2),
            "interval": tuple(round(x, 2) for x in wilson_interval(measured)),
            "total": measured.total,
            "right": "".join("01"[one.errors == 0] for one in paired.readings),
            "protocol": paired.protocol,
        }


@dataclass
class AtInference:
    """The rows of `edges` and `heads` from one checkpoint: its network runs once for all of them.

    `paper_nodes` picks nodes by eq. 4 alone, as the paper does; otherwise as in training, which
    leaves surplus nodes without self-correction.
    """

    checkpoint: Path
    opened: OpenCheckpoint
    engine: Remembering
    paper_nodes: bool = False

    @classmethod
    def of(cls, checkpoint: Path, device: str | None, paper_nodes: bool) -> "AtInference":
        opened = open_checkpoint(checkpoint, device)
        return cls(checkpoint, opened, Remembering(opened.recognizer.engine), paper_nodes)

    def measure(self, table: str, row: Row, pack: LabeledPack) -> Measured:
        opened = self.opened.recognizer
        decoding, engine = opened.decoding, self.engine
        if self.paper_nodes:
            decoding = replace(decoding, threshold=2.0)
        reader = row_setting(row.settings, engine, decoding)
        recognizer = Recognizer(
            reader.engine, opened.preprocessing, opened.vocabulary, reader.decoding
        )
        return Measured(
            table=table,
            row=row.name,
            kind="inference-time" + (", nodes by eq. 4" if self.paper_nodes else ""),
            model=self.checkpoint.name,
            model_sha256=self.opened.record["sha256"],
            **pack.measure(recognizer),
        )


@dataclass(frozen=True)
class RowSetting:
    """Engine and decoding options of a row."""

    engine: Engine
    decoding: DecodingOptions


def row_setting(
    settings: Mapping[str, Any], engine: Engine, decoding: DecodingOptions
) -> RowSetting:
    """Engine and decoding options with the parts that `settings` enable; see `Row.settings`."""
    parts = settings.get("pgd_parts", PARTS)
    weights = {
        f"{part}_weight": settings.get(f"{part}_weight", 1.0) if part in parts else 0.0
        for part in PARTS[1:]
    }
    return RowSetting(
        engine if "self" in parts else Uncorrected(engine),
        replace(decoding, **weights),  # type: ignore[arg-type]
    )


def measure_run(table: str, row: Row, folder: Path, pack: LabeledPack) -> Measured | None:
    """Measures the best weights of a row's own run, or the last if none were validated; None
    without weights."""
    last, best = folder / "last.safetensors", folder / "best.safetensors"
    if not last.exists():
        return None
    weights = best if best.exists() else last
    opened, record = open_checkpoint(weights), open_checkpoint(last).record
    config = record["config"]
    note = f"{record['progress']['epoch']} of {config['epochs']} epochs"
    return Measured(
        table=table,
        row=row.name,
        kind=f"trained, {config['encoder']}",
        model=f"{folder.name}/{weights.name}",
        model_sha256=opened.record["sha256"],
        note=note + (", shortened" if config["epochs"] < PAPER_EPOCHS else ""),
        **pack.measure(opened.recognizer),
    )
