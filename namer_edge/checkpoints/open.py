"""A trained model as devices know one: a recognizer straight from a checkpoint, through torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer

from ..autoregressive.model import AutoregressiveModel
from ..autoregressive.recognizer import AutoregressiveRecognizer
from ..model.engine import TorchEngine
from ..model.namer import Namer
from .decoding import decoding_of
from .weights import load_model, load_weights


@dataclass(frozen=True)
class OpenCheckpoint:
    """A checkpoint that can be read with, and looked into."""

    namer: Namer
    recognizer: Recognizer
    """Reads once, in fp32, picking nodes as the checkpoint was trained to."""
    record: Mapping[str, Any]
    """The checkpoint's JSON."""


def open_checkpoint(
    path: Path, device: str | None = None, as_picture: bool = False
) -> OpenCheckpoint:
    """`as_picture` is that of a `Recognizer`. Raises `CheckpointError` for what is no NAMER's
    weights, `EngineError` for a device that is not there."""
    return _opened(*load_weights(path), device, as_picture)


def open_reader(
    path: Path, device: str | None = None, beam: int = 1, as_picture: bool = False
) -> Recognizer | AutoregressiveRecognizer:
    """What reads with a checkpoint of either kind; `beam` is for autoregressive recognizers.

    Raises as `open_checkpoint` does.
    """
    model, preprocessing, record = load_model(path)
    if isinstance(model, AutoregressiveModel):
        return AutoregressiveRecognizer(
            model, preprocessing, beam, device=device or "cpu", as_picture=as_picture
        )
    return _opened(model, preprocessing, record, device, as_picture).recognizer


def _opened(
    namer: Namer,
    preprocessing: Preprocessing,
    record: Mapping[str, Any],
    device: str | None,
    as_picture: bool,
) -> OpenCheckpoint:
    decoding = decoding_of(record.get("config", {}))
    engine = TorchEngine.of(namer, device)
    recognizer = Recognizer(
        engine, preprocessing, namer.vocabulary, decoding, as_picture=as_picture
    )
    return OpenCheckpoint(namer, recognizer, record)
