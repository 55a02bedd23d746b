"""Weights of another run to begin from; with another vocabulary, a class goes by its name."""

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
"""Parameters of a NAMER with a row for each visual class, and some for other classes after them."""


@dataclass(frozen=True)
class LoadedWeights:
    """What was taken over."""

    record: dict[str, Any]
    """The JSON of the weights."""
    new: tuple[str, ...] = ()
    """Classes that the weights did not know; they begin at random."""
    lost: tuple[str, ...] = ()
    """Classes of the weights that there are no more."""

    def tell(self, weights: Path) -> None:
        """For people, on standard error; nothing where the classes are the same."""
        for classes, what in ((self.new, "new, to be learned"), (self.lost, "left behind")):
            if classes:
                print(f"{weights}: {len(classes)} classes {what}: {_few(classes)}", file=sys.stderr)


def load_pretrained(model: Namer | AutoregressiveModel, weights: Path) -> LoadedWeights:
    """Load `weights` into `model`, whose architecture must be theirs, save that it may lack heads,
    and that an encoder may read further input planes and an encoder `edge` be deeper: weights of
    new planes begin at 0 and new blocks add nothing, so that the model reads as before.

    An autoregressive recognizer may take the encoder of a NAMER alone, where it has the same one.

    A NAMER may have another vocabulary: then the row of each class goes where the token of this
    name stands now, if it takes as many arguments, and other classes keep the random rows that
    they were made with. Raises `CheckpointError` for weights that cannot be read, `ConfigError`
    for those of another architecture, or of a vocabulary that has no token in common.
    """
    old, _, record = load_model(weights)
    if isinstance(old, Namer) and isinstance(model, AutoregressiveModel):
        _take_encoder(model, old, weights)
        return LoadedWeights(record)
    if not _fits(old.architecture, model.architecture):
        raise ConfigError(
            f"{weights} is a {old.architecture}, the configuration asks for {model.architecture}"
        )
    if isinstance(old, Namer) and isinstance(model.encoder, EdgeEncoder):
        _pass_new_blocks(model.encoder, old.architecture.blocks)
    state = model.state_dict()
    kept = {name: value for name, value in old.state_dict().items() if name in state}
    given = state | with_inputs(kept, model.architecture.channels - old.architecture.channels)
    if old.vocabulary == model.vocabulary:
        model.load_state_dict(given)
        return LoadedWeights(record)
    if not isinstance(model, Namer):
        raise ConfigError(
            f"{weights} reads vocabulary {old.vocabulary.name!r}, the configuration asks for "
            f"another one under the name {model.vocabulary.name!r}: only a NAMER can take over "
            "other classes"
        )
    rows = same_classes(old.vocabulary, model.vocabulary)
    if not (rows >= 0).any():
        raise ConfigError(
            f"{weights} reads vocabulary {old.vocabulary.name!r}, which has no token in common "
            f"with {model.vocabulary.name!r}: give the vocabulary that the weights were made for"
        )
    for name in CLASS_ROWS:
        given[name] = _with_rows(state[name], given[name], rows, old.vocabulary.size)
    model.load_state_dict(given)
    known = {old.vocabulary.token(int(row)) for row in rows if row >= 0}
    return LoadedWeights(
        record,
        tuple(t for t, row in zip(model.vocabulary.tokens, rows, strict=True) if row < 0),
        tuple(t for t in old.vocabulary.tokens if t not in known),
    )


def _pass_new_blocks(encoder: EdgeEncoder, before: Sequence[int]) -> None:
    """Blocks beyond the number `before`, of each stage, add nothing for now."""
    for stage, count in zip(encoder.stages, before, strict=True):
        assert isinstance(stage, Stage)
        for block in list(stage.blocks)[count:]:
            assert isinstance(block, ResidualBlock)
            nn.init.zeros_(block.second.norm.weight)


def _take_encoder(model: AutoregressiveModel, old: Namer, weights: Path) -> None:
    try:
        more = model.architecture.channels - old.architecture.channels
        model.encoder.load_state_dict(with_inputs(old.encoder.state_dict(), more))
    except RuntimeError as error:
        raise ConfigError(
            f"{weights} has another encoder than the configuration asks for: {error}"
        ) from None


def with_inputs(state: Mapping[str, Tensor], more: int) -> dict[str, Tensor]:
    """Weights of a model that reads `more` input planes than those of `state`: 0 for these."""
    wide = dict(state)
    if more > 0:
        first = next(name for name, value in state.items() if value.ndim == 4)
        wide[first] = nn.functional.pad(state[first], (0, 0, 0, 0, 0, more))
    return wide


def _fits(old: Architecture | DecoderArchitecture, new: Architecture | DecoderArchitecture) -> bool:
    """Whether all weights that the new model has are in the old one; dropout has none."""
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


def same_classes(old: Vocabulary, new: Vocabulary) -> Tensor:
    """[K of `new`]: which class of `old` has the same token and number of endings; -1 for none."""
    return torch.tensor(
        [
            old.id(token) if token in old and old.endings[old.id(token)] == endings else -1
            for token, endings in zip(new.tokens, new.endings, strict=True)
        ],
        dtype=torch.long,
    )


def _with_rows(fresh: Tensor, given: Tensor, rows: Tensor, old_size: int) -> Tensor:
    """`fresh` with the rows of `given`; those after the visual classes (none, `}` …) in order."""
    result = fresh.clone()
    known = rows >= 0
    result[: len(rows)][known] = given[rows[known]].to(fresh)
    result[len(rows) :] = given[old_size:].to(fresh)
    return result


def _few(classes: Sequence[str], most: int = 12) -> str:
    return " ".join(classes[:most]) + (" …" if len(classes) > most else "")
