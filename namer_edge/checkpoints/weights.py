"""Checkpoints as safetensors and JSON, written atomically, never as a pickle.

Two forms. A *state* file holds all that resumes a run exactly: weights, averaged weights,
optimizer state and progress. *Weights* are a half-precision file with a JSON beside it, small
enough to commit; any run can start from them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor, nn

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.errors import CheckpointError, ConfigError, ModelFileError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import Preprocessing

from ..autoregressive.model import AutoregressiveModel, DecoderArchitecture
from ..autoregressive.registry import build_autoregressive
from ..model.namer import Architecture, Namer

FORMAT_VERSION = 1


def save_state(
    path: Path, tensors: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]
) -> None:
    """Writes groups of tensors and `state` (JSON values) into one file, atomically."""
    flat = {
        f"{group}/{name}": value.detach().cpu().contiguous()
        for group, values in tensors.items()
        for name, value in values.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(save(flat, {"state": json.dumps(state)}))


def load_state(path: Path) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
    """Reads what `save_state` wrote; raises `CheckpointError` if it is missing or damaged."""
    tensors: dict[str, dict[str, Tensor]] = {}
    try:
        with safe_open(path, "pt") as file:
            state = json.loads(file.metadata()["state"])
            for key in file.keys():  # noqa: SIM118 (no mapping)
                group, name = key.split("/")
                # A tensor that stays mapped would keep Windows from replacing the file.
                tensors.setdefault(group, {})[name] = file.get_tensor(key).clone()
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise CheckpointError(f"no checkpoint to resume from in {path}: {error}") from None
    return tensors, state


def save_weights(
    path: Path,
    model: Namer | AutoregressiveModel,
    preprocessing: Preprocessing,
    record: Mapping[str, Any],
) -> None:
    """Writes half-precision weights to `path` (.safetensors) and their JSON, with `record`, beside
    it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = {
        k: (v.half() if v.is_floating_point() else v).detach().cpu().contiguous()
        for k, v in model.state_dict().items()
    }
    data = save(half)
    description = {
        "format": "namer-edge-weights",
        "format_version": FORMAT_VERSION,
        "architecture": asdict(model.architecture),
        "look": preprocessing.to_json(),
        "vocabulary": model.vocabulary.to_json(),
        "sha256": hashlib.sha256(data).hexdigest(),
        **deduplicate_provenance(record, set()),
    }
    with atomic_file(path) as file:
        file.write(data)
    with atomic_file(path.with_suffix(".json"), "w") as text:
        json.dump(description, text, indent=1)


def provenance(record: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a checkpoint's JSON that its descendants keep: hash, progress, hashes of the
    data, and the provenance of its own parents (`averaged`, or `before` if it was fine-tuned)."""
    kept = ("sha256", "progress", "data", "averaged", "before")
    return {key: record[key] for key in kept if key in record}


def deduplicate_provenance(record: Mapping[str, Any], seen: set[str]) -> dict[str, Any]:
    """`record` with the first occurrence of each parent in full and later ones, or those `seen`,
    as their SHA-256: means of means repeat the same parents."""

    def once(parent: Mapping[str, Any]) -> dict[str, Any]:
        known = parent["sha256"] in seen
        seen.add(parent["sha256"])
        return {"sha256": parent["sha256"]} if known else deduplicate_provenance(parent, seen)

    shorter = dict(record)
    if record.get("before"):
        shorter["before"] = once(record["before"])
    if record.get("averaged"):
        shorter["averaged"] = [once(parent) for parent in record["averaged"]]
    return shorter


def load_weights(path: Path) -> tuple[Namer, Preprocessing, dict[str, Any]]:
    """A `Namer` in eval mode, its preprocessing, and the JSON of `save_weights`.

    Raises `CheckpointError` for a missing or altered file, one of an unknown version, or one of
    another kind of model.
    """
    model, preprocessing, record = load_model(path)
    if not isinstance(model, Namer):
        raise CheckpointError(f"{path} holds a {model.architecture.model}, and no NAMER")
    return model, preprocessing, record


def load_model(path: Path) -> tuple[Namer | AutoregressiveModel, Preprocessing, dict[str, Any]]:
    """Loads a model of any kind; otherwise as `load_weights`."""
    try:
        record = json.loads(path.with_suffix(".json").read_text("utf-8"))
        if not isinstance(record, dict):
            raise ValueError("its JSON is no object")
        if (record.get("format"), record.get("format_version")) != (
            "namer-edge-weights",
            FORMAT_VERSION,
        ):
            raise CheckpointError(
                f"{path.with_suffix('.json')} is of format {record.get('format')!r} version "
                f"{record.get('format_version')!r}; this namer-edge reads version {FORMAT_VERSION}"
            )
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != record["sha256"]:
            raise CheckpointError(f"{path} is not the file its JSON describes: SHA-256 differs")
        tensors = load(data)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise CheckpointError(
            f"cannot read the weights {path}: {error}; a checkpoint is NAME.safetensors with "
            "NAME.json beside it, as `namer-edge train` writes them"
        ) from None
    try:
        if not isinstance(record.get("config", {}), dict):
            raise ValueError("config is no object")
        preprocessing = Preprocessing.from_json(record["look"])
        vocabulary = Vocabulary.from_json(record["vocabulary"])
        with torch.device("meta"):  # a model that is larger than its weights takes no memory
            _fit(_build(record["architecture"], vocabulary), tensors)
        model = _build(record["architecture"], vocabulary)
        model.load_state_dict(
            {k: v.float() if v.is_floating_point() else v for k, v in tensors.items()}
        )
    except (*_MISFIT, ModelFileError, ConfigError) as error:
        raise CheckpointError(f"the weights {path} do not fit their JSON: {error}") from None
    return model.eval(), preprocessing, record


_MISFIT = (KeyError, TypeError, ValueError, IndexError, AssertionError, RuntimeError)
"""Exceptions of Python and torch for impossible sizes and names of a model."""


def _fit(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Raises `ValueError` unless the tensors are those of the model, by names and shapes."""
    wanted = {name: value.shape for name, value in model.state_dict().items()}
    found = {name: value.shape for name, value in tensors.items()}
    wrong = sorted(k for k in wanted.keys() | found if wanted.get(k) != found.get(k))
    if wrong:
        raise ValueError(f"other names or shapes of tensors ({', '.join(wrong[:4])})")


def _build(architecture: Any, vocabulary: Vocabulary) -> Namer | AutoregressiveModel:
    """The model of an architecture; only those of autoregressive models have the key `model`."""
    if isinstance(architecture, dict) and "model" in architecture:
        return build_autoregressive(DecoderArchitecture.from_json(architecture), vocabulary)
    return Namer(Architecture.from_json(architecture), vocabulary)
