"""A trained model as devices know one: a recogniser straight from a checkpoint, through torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from namer_edge_runtime.picture.look import Look
from namer_edge_runtime.recognizer import Recognizer

from ..model.engine import TorchEngine
from ..model.namer import Namer
from ..recognisers.reader import Reader
from ..recognisers.recogniser import Recogniser
from .checkpoint import load_model, load_weights
from .config import decoding_of


@dataclass(frozen=True)
class Opened:
    """A checkpoint that can be read with, and looked into."""

    namer: Namer
    recognizer: Recognizer
    """Reads once, in fp32, picking nodes as the checkpoint was trained to."""
    record: Mapping[str, Any]
    """The checkpoint's JSON."""


def open_checkpoint(path: Path, device: str | None = None, as_picture: bool = False) -> Opened:
    """`as_picture` is that of a `Recognizer`. Raises `CheckpointError` for what is no NAMER's
    weights, `EngineError` for a device that is not there."""
    return _opened(*load_weights(path), device, as_picture)


def open_reader(
    path: Path, device: str | None = None, beam: int = 1, as_picture: bool = False
) -> Recognizer | Reader:
    """What reads with a checkpoint of either kind; `beam` is for autoregressive recognisers.

    Raises as `open_checkpoint` does.
    """
    model, look, record = load_model(path)
    if isinstance(model, Recogniser):
        return Reader(model, look, beam, device=device or "cpu", as_picture=as_picture)
    return _opened(model, look, record, device, as_picture).recognizer


def _opened(
    namer: Namer, look: Look, record: Mapping[str, Any], device: str | None, as_picture: bool
) -> Opened:
    decoding = decoding_of(record.get("config", {}))
    engine = TorchEngine.of(namer, device)
    recognizer = Recognizer(engine, look, namer.vocabulary, decoding, as_picture=as_picture)
    return Opened(namer, recognizer, record)
