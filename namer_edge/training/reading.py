"""A trained NAMER as devices know one: a `Recognizer` straight from a checkpoint, through torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from namer_edge_runtime.recognizer import Recognizer

from ..model.engine import TorchEngine
from ..model.namer import Namer
from .checkpoint import load_weights
from .config import decoding_of


@dataclass(frozen=True)
class Opened:
    """A checkpoint that can be read with, and looked into."""

    namer: Namer
    recognizer: Recognizer
    """Reads once, in fp32, picking nodes as the checkpoint was trained to."""
    record: Mapping[str, Any]
    """The checkpoint's JSON."""


def open_checkpoint(path: Path, device: str | None = None) -> Opened:
    """Raises `CheckpointError` for what is no NAMER's weights, `EngineError` for a device that is
    not there."""
    namer, look, record = load_weights(path)
    decoding = decoding_of(record.get("config", {}))
    engine = TorchEngine.of(namer, device)
    return Opened(namer, Recognizer(engine, look, namer.vocabulary, decoding), record)
