"""Recognizers straight from a checkpoint, run by torch without an export."""

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
    """A NAMER from a checkpoint and the recognizer that runs it."""

    namer: Namer
    recognizer: Recognizer
    """Single pass, fp32, with the decoding options that the checkpoint was trained with."""
    record: Mapping[str, Any]
    """The checkpoint's JSON."""


def open_checkpoint(
    path: Path, device: str | None = None, as_picture: bool = False
) -> OpenCheckpoint:
    """Opens the weights of a NAMER; `as_picture` is that of `Recognizer`.

    Raises `CheckpointError` for any other file, `EngineError` for a device that is missing.
    """
    return _opened(*load_weights(path), device, as_picture)


def open_reader(
    path: Path, device: str | None = None, beam: int = 1, as_picture: bool = False
) -> Recognizer | AutoregressiveRecognizer:
    """A recognizer from the weights of any model; `beam` is the number of hypotheses that an
    autoregressive one keeps.

    Raises what `open_checkpoint` raises.
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
