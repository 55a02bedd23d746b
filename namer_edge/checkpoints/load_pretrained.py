"""Loads pretrained weights into a new model; classes of another vocabulary are matched by token."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from namer_edge_runtime.errors import ConfigError
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..autoregressive.model import AutoregressiveModel, DecoderArchitecture
from ..model.edge import EdgeEncoder, ResidualBlock, Stage
from ..model.namer import Architecture, Namer
from .weights import load_model

CLASS_ROWS = (
    *("vat.classify.weight", "vat.classify.bias"),
    *("pgd.token.weight", "pgd.correct.weight", "pgd.correct.bias"),
)
"""Parameters of a NAMER with one row per visual class, followed by rows of non-visual classes."""


@dataclass(frozen=True)
class LoadedWeights:
    """The JSON of loaded weights, and how their classes differ from the model's."""

    record: dict[str, Any]
    """The checkpoint's JSON."""
    new: tuple[str, ...] = ()
    """Classes of the model that the weights lack; their rows begin as the mean of the others."""
    dropped: tuple[str, ...] = ()
    """Classes of the weights that the model lacks."""

    def report(self, weights: Path) -> None:
        """Prints new and dropped classes to standard error."""
        for classes, what in ((self.new, "new, to be learned"), (self.dropped, "left behind")):
            if classes:
                print(
                    f"{weights}: {len(classes)} classes {what}: {_listed(classes)}", file=sys.stderr
                )


def load_pretrained(model: Namer | AutoregressiveModel, weights: Path) -> LoadedWeights:
    """Loads `weights` into `model`, which must have the same architecture with three exceptions:
    it may lack PGD heads, read more input planes, and have more blocks in an `edge` encoder. New
    planes start with zero weights and new blocks as identities, so that outputs do not change.

    An autoregressive model may load the encoder of a NAMER alone.

    A NAMER may have another vocabulary: each class takes the row of the same token with the same
    number of arguments, and other classes the mean of all visual rows: as improbable as an average
    class, where random rows would drown what the weights know. Raises `CheckpointError` for
    weights that cannot be read, `ConfigError` for those of another architecture, or of a
    vocabulary that has no token in common.
    """
    old, _, record = load_model(weights)
    if isinstance(old, Namer) and isinstance(model, AutoregressiveModel):
        _load_encoder(model, old, weights)
        return LoadedWeights(record)
    if not _fits(old.architecture, model.architecture):
        raise ConfigError(
            f"{weights} is a {old.architecture}, the configuration asks for {model.architecture}"
        )
    if isinstance(old, Namer) and isinstance(model.encoder, EdgeEncoder):
        _zero_new_blocks(model.encoder, old.architecture.blocks)
    state = model.state_dict()
    kept = {name: value for name, value in old.state_dict().items() if name in state}
    given = state | widen_input(kept, model.architecture.channels - old.architecture.channels)
    if old.vocabulary == model.vocabulary:
        model.load_state_dict(given)
        return LoadedWeights(record)
    if not isinstance(model, Namer):
        raise ConfigError(
            f"{weights} reads vocabulary {old.vocabulary.name!r}, the configuration asks for "
            f"another one under the name {model.vocabulary.name!r}: only a NAMER can take over "
            "other classes"
        )
    rows = matching_classes(old.vocabulary, model.vocabulary)
    if not (rows >= 0).any():
        raise ConfigError(
            f"{weights} reads vocabulary {old.vocabulary.name!r}, which has no token in common "
            f"with {model.vocabulary.name!r}: give the vocabulary that the weights were made for"
        )
    for name in CLASS_ROWS:
        given[name] = _copy_rows(state[name], given[name], rows, old.vocabulary.size)
    model.load_state_dict(given)
    known = {old.vocabulary.token(int(row)) for row in rows if row >= 0}
    return LoadedWeights(
        record,
        tuple(t for t, row in zip(model.vocabulary.tokens, rows, strict=True) if row < 0),
        tuple(t for t in old.vocabulary.tokens if t not in known),
    )


def _zero_new_blocks(encoder: EdgeEncoder, counts: Sequence[int]) -> None:
    """Makes the blocks beyond the first `counts` of each stage identities."""
    for stage, count in zip(encoder.stages, counts, strict=True):
        assert isinstance(stage, Stage)
        for block in list(stage.blocks)[count:]:
            assert isinstance(block, ResidualBlock)
            nn.init.zeros_(block.second.norm.weight)


def _load_encoder(model: AutoregressiveModel, old: Namer, weights: Path) -> None:
    try:
        more = model.architecture.channels - old.architecture.channels
        model.encoder.load_state_dict(widen_input(old.encoder.state_dict(), more))
    except RuntimeError as error:
        raise ConfigError(
            f"{weights} has another encoder than the configuration asks for: {error}"
        ) from None


def widen_input(state: Mapping[str, Tensor], more: int) -> dict[str, Tensor]:
    """`state` for a model that reads `more` further input planes, with zero weights for them."""
    wide = dict(state)
    if more > 0:
        first = next(name for name, value in state.items() if value.ndim == 4)
        wide[first] = nn.functional.pad(state[first], (0, 0, 0, 0, 0, more))
    return wide


def _fits(old: Architecture | DecoderArchitecture, new: Architecture | DecoderArchitecture) -> bool:
    """Whether the old model has all weights of the new one; dropout has none."""
    if isinstance(old, Architecture) and isinstance(new, Architecture):
        fewer = set(new.pgd_parts) <= set(old.pgd_parts)
        deeper = all(n >= o for n, o in zip(new.blocks, old.blocks, strict=True))
        wider = new.channels >= old.channels
        free = ("pgd_parts", "blocks", "dropout", "vat_dropout", "channels")
        same = all(
            getattr(old, field.name) == getattr(new, field.name)
            for field in fields(Architecture)
            if field.name not in free
        )
        return fewer and deeper and wider and same
    return new.channels >= old.channels and replace(old, channels=new.channels) == new


def matching_classes(old: Vocabulary, new: Vocabulary) -> Tensor:
    """[K of `new`] the class of `old` with the same token and number of endings, or -1."""
    return torch.tensor(
        [
            old.id(token) if token in old and old.endings[old.id(token)] == endings else -1
            for token, endings in zip(new.tokens, new.endings, strict=True)
        ],
        dtype=torch.long,
    )


def _copy_rows(fresh: Tensor, given: Tensor, rows: Tensor, old_size: int) -> Tensor:
    """Rows for the classes `rows` of `given`, the mean of its visual rows for new ones, and its
    non-visual rows (none, `}` …) in order; shaped as `fresh`."""
    result = fresh.clone()
    known = rows >= 0
    result[: len(rows)] = given[:old_size].mean(0)
    result[: len(rows)][known] = given[rows[known]].to(fresh)
    result[len(rows) :] = given[old_size:].to(fresh)
    return result


def _listed(classes: Sequence[str], most: int = 12) -> str:
    return " ".join(classes[:most]) + (" …" if len(classes) > most else "")
