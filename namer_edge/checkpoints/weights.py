"""Checkpoints: safetensors and JSON, written whole or not at all, never a pickle.

Two forms. A *state* file holds all that a run needs to go on exactly as it would have: weights,
averaged weights, the optimizer's state and the place in the schedule. *Weights* are one file in
half precision with a JSON beside it, small enough to commit; training can go on from them anywhere.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.errors import CheckpointError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.preprocessing import Preprocessing

from ..autoregressive.model import AutoregressiveModel, DecoderArchitecture
from ..autoregressive.registry import build_autoregressive
from ..model.namer import Architecture, Namer

FORMAT_VERSION = 1


def save_state(
    path: Path, tensors: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]
) -> None:
    """Write groups of tensors and `state` (JSON values) into one file, in one step."""
    flat = {
        f"{group}/{name}": value.detach().cpu().contiguous()
        for group, values in tensors.items()
        for name, value in values.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(save(flat, {"state": json.dumps(state)}))


def load_state(path: Path) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
    """What `save_state` wrote; raises `CheckpointError` where it is missing or damaged."""
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
    """Half-precision weights at `path` (.safetensors) and their JSON, with `record`, beside it."""
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


def origin(record: Mapping[str, Any]) -> dict[str, Any]:
    """What weights made of others keep of the JSON of those: place in the schedule, hashes of the
    data, and the origins of what those are the mean of or began from in turn."""
    kept = ("sha256", "progress", "data", "averaged", "before")
    return {key: record[key] for key in kept if key in record}


def deduplicate_provenance(record: Mapping[str, Any], told: set[str]) -> dict[str, Any]:
    """`record` with each origin in full where it comes up first, and by its SHA-256 alone where it
    does again, or is among those `told`: means of means have the same ones many times."""

    def once(its: Mapping[str, Any]) -> dict[str, Any]:
        known = its["sha256"] in told
        told.add(its["sha256"])
        return {"sha256": its["sha256"]} if known else deduplicate_provenance(its, told)

    shorter = dict(record)
    if record.get("before"):
        shorter["before"] = once(record["before"])
    if record.get("averaged"):
        shorter["averaged"] = [once(its) for its in record["averaged"]]
    return shorter


def load_weights(path: Path) -> tuple[Namer, Preprocessing, dict[str, Any]]:
    """A `Namer` in eval mode, its look, and the JSON of `save_weights`.

    Raises `CheckpointError` for a missing or altered file, one of an unknown version, or one of
    another kind of model.
    """
    model, preprocessing, record = load_model(path)
    if not isinstance(model, Namer):
        raise CheckpointError(f"{path} holds a {model.architecture.model}, and no NAMER")
    return model, preprocessing, record


def load_autoregressive(path: Path) -> tuple[AutoregressiveModel, Preprocessing, dict[str, Any]]:
    """The same for an autoregressive recognizer."""
    model, preprocessing, record = load_model(path)
    if not isinstance(model, AutoregressiveModel):
        raise CheckpointError(f"{path} holds a NAMER, and no autoregressive recognizer")
    return model, preprocessing, record


def load_model(path: Path) -> tuple[Namer | AutoregressiveModel, Preprocessing, dict[str, Any]]:
    """The model of a checkpoint, whatever its kind; as `load_weights` else."""
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
        model = _build(record["architecture"], Vocabulary.from_json(record["vocabulary"]))
        model.load_state_dict(
            {k: v.float() if v.is_floating_point() else v for k, v in tensors.items()}
        )
    except (KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"the weights {path} do not fit their JSON: {error}") from None
    return model.eval(), Preprocessing.from_json(record["look"]), record


def _build(architecture: Mapping[str, Any], vocabulary: Vocabulary) -> Namer | AutoregressiveModel:
    """Only the architectures of recognizers name their model."""
    if "model" in architecture:
        return build_autoregressive(DecoderArchitecture.from_json(architecture), vocabulary)
    return Namer(Architecture.from_json(architecture), vocabulary)
