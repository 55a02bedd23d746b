"""Checkpoints: safetensors and JSON, written whole or not at all, never a pickle.

Two forms. A *state* folder holds all that a run needs to go on exactly as it would have: weights,
averaged weights, the optimiser's state and the place in the schedule. *Weights* are one file in
half precision with a JSON beside it, small enough to commit; training can go on from them anywhere.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from namer_edge_runtime.errors import CheckpointError
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.picture.look import Look

from ..model.namer import Architecture, Namer

FORMAT_VERSION = 1


def save_state(
    folder: Path, tensors: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]
) -> None:
    """Write each group of tensors and `state` into `folder`, replacing what was there at once."""
    fresh, old = folder.with_name(folder.name + ".new"), folder.with_name(folder.name + ".old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name, group in tensors.items():
        save_file(
            {k: v.detach().cpu().contiguous() for k, v in group.items()},
            fresh / f"{name}.safetensors",
        )
    (fresh / "state.json").write_text(json.dumps(state, indent=1), "utf-8")
    if folder.exists():
        os.replace(folder, old)
    os.replace(fresh, folder)
    shutil.rmtree(old, ignore_errors=True)


def load_state(folder: Path) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
    """What `save_state` wrote; raises `CheckpointError` where it is missing or damaged."""
    if not folder.exists():  # killed between the two renames
        folder = folder.with_name(folder.name + ".old")
    try:
        state = json.loads((folder / "state.json").read_text("utf-8"))
        return {path.stem: load_file(path) for path in folder.glob("*.safetensors")}, state
    except (OSError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"no checkpoint to resume from in {folder}: {error}") from None


def save_weights(path: Path, namer: Namer, look: Look, record: Mapping[str, Any]) -> None:
    """Half-precision weights at `path` (.safetensors) and their JSON, with `record`, beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = {
        k: (v.half() if v.is_floating_point() else v).detach().cpu().contiguous()
        for k, v in namer.state_dict().items()
    }
    temporary = path.with_suffix(".tmp")
    save_file(half, temporary)
    description = {
        "format": "namer-edge-weights",
        "format_version": FORMAT_VERSION,
        "architecture": asdict(namer.architecture),
        "look": look.to_json(),
        "vocabulary": namer.vocabulary.to_json(),
        "sha256": hashlib.sha256(temporary.read_bytes()).hexdigest(),
        **record,
    }
    json_temporary = path.with_suffix(".json.tmp")
    json_temporary.write_text(json.dumps(description, indent=1), "utf-8")
    os.replace(temporary, path)
    os.replace(json_temporary, path.with_suffix(".json"))


def load_weights(path: Path) -> tuple[Namer, Look, dict[str, Any]]:
    """A `Namer` in eval mode, its look, and the JSON of `save_weights`.

    Raises `CheckpointError` for a missing or altered file, or one of an unknown version.
    """
    try:
        record = json.loads(path.with_suffix(".json").read_text("utf-8"))
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
        tensors = load_file(path)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise CheckpointError(
            f"cannot read the weights {path}: {error}; a checkpoint is NAME.safetensors with "
            "NAME.json beside it, as `namer-edge train` writes them"
        ) from None
    try:
        namer = Namer(
            Architecture.from_json(record["architecture"]),
            Vocabulary.from_json(record["vocabulary"]),
        )
        namer.load_state_dict(
            {k: v.float() if v.is_floating_point() else v for k, v in tensors.items()}
        )
    except (KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"the weights {path} do not fit their JSON: {error}") from None
    return namer.eval(), Look.from_json(record["look"]), record
