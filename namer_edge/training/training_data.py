"""Training data of a run: its packs with positions, symbol bank and label lists."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from namer_edge_runtime.errors import DataError, LatexError
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..data.formula import Formula, unplaced
from ..data.labels import canonical
from ..data.pack import load_pack
from .config import TrainConfig
from .distributed import ProcessGroup
from .positions import with_positions


@dataclass(frozen=True)
class TrainingData:
    """All data that a configuration names, loaded."""

    formulas: list[Formula]
    """Usable for training."""
    total: int = 0
    """Number of formulas in the training packs, unusable ones included."""
    validation: list[Formula] = field(default_factory=list)
    symbol_bank: list[Formula] = field(default_factory=list)
    """Further formulas or single symbols whose ink synthesis may use."""
    labels: list[list[str]] = field(default_factory=list)
    """Further canonical labels that synthesis may typeset."""
    sources: dict[str, dict[str, str]] = field(default_factory=dict)
    """Pack → SHA-256 of each of its source files."""

    @classmethod
    def gather(
        cls,
        config: TrainConfig,
        vocabulary: Vocabulary,
        processes: ProcessGroup,
        device: torch.device,
    ) -> "TrainingData":
        """Loads the data; raises `DataError` for packs and labels that cannot be read and if there
        is nothing to train on, and what `with_positions` raises."""
        packs = {path: load_pack(path) for path in (*config.train, *config.hands)}
        synthetic = bool(config.cut or config.swap or config.typeset)
        # A NAMER learns from positions; synthesis needs the strokes of each symbol.
        needs_positions = config.model == "namer"
        blanks = 0 if config.train else config.samples
        formulas = [unplaced(f"typeset{number}", ()) for number in range(blanks)]
        usable = list(formulas)
        for path in config.train:
            if processes.rank:  # rank 0 runs the teacher, the others read its cached positions
                processes.wait()
            found = with_positions(
                packs[path].formulas,
                Path(path),
                config.teacher,
                str(device),
                unsegmented=not synthetic,
            )
            if not processes.rank:
                processes.wait()
            formulas += found
            legible = [f for f in found if trainable(f, vocabulary)]
            fitting = [
                f for f in legible if f.placed or not (needs_positions or (synthetic and f.strokes))
            ]
            if legible and not fitting:
                raise DataError(_without_positions(path, legible[0], config, synthetic))
            usable += fitting
        if not usable:
            raise DataError(
                f"no formula to train on in {', '.join(config.train) or 'no pack'}: `namer-edge "
                "data check` tells why; without packs, give samples, labels and hands"
            )
        validation = load_pack(config.validation).formulas if config.validation else []
        if config.evaluate_limit:
            validation = validation[:: max(1, len(validation) // config.evaluate_limit)]
        return cls(
            usable,
            len(formulas),
            validation,
            [f for path in config.hands for f in packs[path].formulas if f.placed],
            [tokens for path in config.labels for tokens in canonical(path, vocabulary)],
            {path: pack.sources for path, pack in packs.items()},
        )


def trainable(formula: Formula, vocabulary: Vocabulary) -> bool:
    """Whether a formula has ink or a picture, a label within the vocabulary, and finite positions
    of all its visual tokens or none."""
    try:
        nodes = to_nodes(formula.tokens, vocabulary)
    except LatexError:
        return False
    visual = [node.token for node in nodes if not node.ending]
    return (
        bool(formula.strokes or formula.picture)
        and bool(visual)
        and all(token in vocabulary for token in visual)
        and len(formula.positions) in (0, len(visual))
        and bool(np.isfinite(formula.positions).all())
    )


def _without_positions(path: str, formula: Formula, config: TrainConfig, synthetic: bool) -> str:
    """The message for a pack without trainable formulas, `formula` being one of them."""
    if synthetic and formula.strokes and (config.teacher or config.model != "namer"):
        return (
            f"{path}: its ink is not segmented, so nothing can be made from it: set cut=0 swap=0 "
            "typeset=0, or leave it out"
        )
    if config.teacher:
        return f"{path}: the teacher {config.teacher} finds the tokens of none of its labels"
    what = "pictures have" if formula.picture is not None else "unsegmented ink has"
    return (
        f"{path}: {what} no positions, and a NAMER is told where its symbols are: give teacher="
        "WEIGHTS, those of a recognizer trained on such data (namer-edge train dwap train=PACK) or "
        "of a NAMER that reads some of it"
    )
