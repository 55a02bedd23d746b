"""A trained model as devices know one: a recogniser straight from a checkpoint, through torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from namer_edge_runtime.preprocessing import Look
from namer_edge_runtime.recognizer import Recognizer

from ..autoregressive.model import Recogniser
from ..autoregressive.recognizer import Reader
from ..model.engine import TorchEngine
from ..model.namer import Namer
from ..training.config import decoding_of
from .weights import load_model, load_weights


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
    return _opened(*load_weights(path), device)


def open_reader(path: Path, device: str | None = None, beam: int = 1) -> Recognizer | Reader:
    """What reads with a checkpoint of either kind; `beam` is for autoregressive recognisers.

    Raises as `open_checkpoint` does.
    """
    model, look, record = load_model(path)
    if isinstance(model, Recogniser):
        return Reader(model, look, beam, device=device or "cpu")
    return _opened(model, look, record, device).recognizer


def _opened(namer: Namer, look: Look, record: Mapping[str, Any], device: str | None) -> Opened:
    decoding = decoding_of(record.get("config", {}))
    engine = TorchEngine.of(namer, device)
    return Opened(namer, Recognizer(engine, look, namer.vocabulary, decoding), record)
