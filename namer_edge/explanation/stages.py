"""Trace of one recognition through the paper's stages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.decode.hypothesis import Hypothesis
from namer_edge_runtime.decode.pick import EOS, Nodes
from namer_edge_runtime.decode.reference import Graph, build, revise
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.formula.nodes import to_tokens
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.inputs import open_input
from namer_edge_runtime.preprocessing import Prepared
from namer_edge_runtime.recognizer import Recognizer

if TYPE_CHECKING:
    from ..model.namer import Namer
    from .attention import AttentionRecorder


@dataclass(frozen=True)
class Insight:
    """Outputs of VAT, PGD and path selection for one picture; N nodes, h = H/8, w = W/8."""

    prepared: Prepared
    vocabulary: Vocabulary
    none: NDArray[np.float32]
    """[h, w]: VAT's P(none) (eq. 2)."""
    nodes: Nodes
    corrected: NDArray[np.int64]
    """[N] class after self-correction (eq. 6), K + 1 for delete; -1 for <sos> and <eos>."""
    confidence: NDArray[np.float32]
    """[N] probability of that class; 1 for <sos> and <eos>."""
    graph: Graph
    """Eq. 10, between nodes that are not deleted."""
    path: Hypothesis
    most: float
    """Largest possible E: the sum of the edge weights."""
    attention: NDArray[np.float32] | None
    """[J, N, h/2, w/2] cross-attention of the self-correction head's J layers, mean over heads;
    None without a torch model."""

    @property
    def canonical(self) -> str:
        tokens = [self.vocabulary.token(int(number)) for number in self.path.classes]
        return " ".join(to_tokens(tokens, self.vocabulary))

    @property
    def visual(self) -> list[int]:
        """The visual nodes: those on the path in its order, then the others, row by row."""
        on_path = [int(n) for n in self.path.nodes if self.nodes.parents[n] < 0]
        visual = (n for n in range(EOS + 1, len(self.nodes)) if self.nodes.parents[n] < 0)
        return [*on_path, *(n for n in visual if n not in set(on_path))]

    def before(self, node: int) -> str:
        """The token of VAT."""
        return self.vocabulary.token(int(self.nodes.classes[node]))

    def after(self, node: int) -> str:
        """The token after PGD; "" for a deleted node."""
        number = int(self.corrected[node])
        return "" if number == self.vocabulary.delete else self.vocabulary.token(number)

    def changed(self, node: int) -> bool:
        return self.before(node) != self.after(node)

    @property
    def telling(self) -> int | None:
        """The node whose attention is shown: the corrected one of highest confidence, else a
        deleted one, else the one of VAT's lowest score; None without nodes."""

        def rank(node: int) -> tuple[int, float]:
            if not self.changed(node):
                return 0, -float(self.nodes.scores[node])
            return (2 if self.after(node) else 1), float(self.confidence[node])

        return max(self.visual, key=rank, default=None)


def trace_recognition(recognizer: Recognizer, value: Any, namer: "Namer | None" = None) -> Insight:
    """Recognizes `value` (any single input) in a single pass and keeps every stage.

    `namer`, the torch model behind the recognizer's engine, adds cross-attention. Raises what
    `open_input` raises, and `UsageError` for a blank page.
    """
    prepared = recognizer.single_pass.prepared(open_input(value))
    if prepared.blank:
        raise UsageError("the page is blank: there is nothing to explain")
    vocabulary, decoding = recognizer.vocabulary, recognizer.decoding
    with _recording(namer) as recorder:
        stages = recognizer.single_pass.stages([prepared])
    pgd, (nodes,), ((path,),) = stages.pgd, stages.nodes, stages.hypotheses
    corrected = revise(pgd.correction[0], nodes.classes, nodes.parents, vocabulary.endings, True)
    confidence = np.take_along_axis(pgd.correction[0], corrected.clip(0)[:, None], 1)[:, 0]
    graph = build(
        pgd.left[0],
        pgd.right[0],
        corrected != vocabulary.delete,
        decoding.epsilon,
        decoding.left_weight,
        decoding.right_weight,
    )
    corrected[path.nodes] = path.classes  # the path may keep nodes that are likelier deleted
    height, width = prepared.image.shape
    return Insight(
        prepared,
        vocabulary,
        stages.vat.none[0],
        nodes,
        corrected,
        np.where(corrected < 0, np.float32(1), confidence),
        graph,
        path,
        decoding.left_weight + decoding.right_weight,
        None if recorder is None else recorder.maps((height // 16, width // 16)),
    )


@contextmanager
def _recording(namer: "Namer | None") -> "Iterator[AttentionRecorder | None]":
    """Imports torch only for a torch model."""
    if namer is None:
        yield None
        return
    from .attention import recording

    with recording(namer) as recorder:
        yield recorder
