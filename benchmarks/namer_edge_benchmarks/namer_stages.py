"""NAMER's decoder by stages, as table 3 has them: VAT, PGD, path selection."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from namer_edge.model.namer import Namer, PgdGraph
from namer_edge.training.cell_probabilities import BEST
from namer_edge_runtime.decode import DecodingOptions, Nodes, decode_all, pick_nodes
from namer_edge_runtime.decode.filled import without_hollow
from namer_edge_runtime.engine.base import PgdOutput
from namer_edge_runtime.errors import UsageError
from namer_edge_runtime.formula.nodes import to_nodes, to_tokens
from namer_edge_runtime.formula.vocabulary import Vocabulary

SURE = 0.9

Clock = Callable[[], float]
"""Seconds, once the device has done all that it was asked for."""
Maps = tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]


@dataclass(frozen=True)
class Stages:
    """Milliseconds, and what they were spent on."""

    vat: float
    pgd: float
    path: float
    nodes: int
    tokens: tuple[str, ...]

    @property
    def total(self) -> float:
        return self.vat + self.pgd + self.path


@torch.inference_mode()
def run_stages(
    namer: Namer,
    decoding: DecodingOptions,
    f8: Tensor,
    f16: Tensor,
    clock: Clock,
    label: Sequence[str] | None = None,
) -> Stages:
    """Decodes the features of one picture.

    With a `label`, which is for random weights, the networks run as ever, but what they say is
    replaced: VAT finds the label's symbols, spread over the map, and PGD puts them in its order.
    Raises `UsageError` where the label has more symbols than the map cells.
    """
    vocabulary = namer.vocabulary
    started = clock()
    features, logits = namer.vat(f8, f16)
    probabilities = torch.softmax(logits, 1)
    none = probabilities[:, -1].cpu().numpy()
    scores, classes = (x.cpu().numpy() for x in probabilities[:, :-1].topk(BEST, 1))
    vat = clock() - started
    if label is not None:
        scores, classes, none = _label_maps(label, vocabulary, *none.shape[1:])
    started = clock()
    batch = pick_nodes(scores, classes, none, vocabulary, decoding)
    path = clock() - started
    started = clock()
    arrays = (batch.cells, batch.classes, batch.endings, batch.scores, batch.mask)
    inputs = [torch.from_numpy(array).to(f8.device) for array in arrays]
    output = PgdOutput(*(x.cpu().numpy() for x in PgdGraph(namer)(features, f16, *inputs)))
    pgd = clock() - started
    if label is not None:
        output = _label_graph(label, vocabulary, batch[0])
    started = clock()
    heads = (output.correction, output.left, output.right)
    found = decode_all(*heads, batch, vocabulary.endings, decoding)
    ((best,),) = without_hollow(found, vocabulary)
    names = [vocabulary.token(int(number)) for number in best.classes]
    tokens = tuple(to_tokens(names, vocabulary))
    path += clock() - started
    return Stages(1000 * vat, 1000 * pgd, 1000 * path, len(batch[0]), tokens)


def _label_maps(label: Sequence[str], vocabulary: Vocabulary, height: int, width: int) -> Maps:
    """Scores and classes [1, 1, h, w] and P(none) [1, h, w] of a VAT that knows the label."""
    symbols = [node.token for node in to_nodes(label, vocabulary) if not node.ending]
    if len(symbols) > height * width:
        raise UsageError(f"{len(symbols)} symbols do not fit on {height} x {width} cells")
    cells = np.linspace(0, height * width - 1, len(symbols)).astype(int)
    none = np.ones(height * width, np.float32)
    scores, classes = np.zeros_like(none), np.zeros(height * width, np.int64)
    none[cells], scores[cells] = 1 - SURE, SURE
    classes[cells] = [vocabulary.id(symbol) for symbol in symbols]
    shape = (1, 1, height, width)
    return scores.reshape(shape), classes.reshape(shape), none.reshape(shape[1:])


def _label_graph(label: Sequence[str], vocabulary: Vocabulary, nodes: Nodes) -> PgdOutput:
    """Outputs of a PGD that is certain of each class and of the label's order."""
    count = len(nodes)
    visual = np.flatnonzero((nodes.endings == 0) & (nodes.classes < vocabulary.size)).tolist()
    ending = {
        (int(nodes.parents[place]), int(nodes.endings[place])): int(place)
        for place in np.flatnonzero(nodes.endings)
    }
    order, symbols = [0], iter(visual)
    for node in to_nodes(label, vocabulary):
        # `order` begins with <sos>, so the parent stands one further than in the label's nodes.
        key = (order[node.parent + 1], node.ending)
        order.append(ending[key] if node.ending else next(symbols))
    order.append(1)
    left, right = np.full((2, 1, count, count), (1 - SURE) / count, np.float32)
    right[0, order[:-1], order[1:]] = left[0, order[1:], order[:-1]] = SURE
    correction = np.full((1, count, vocabulary.size + 2), 1e-3, np.float32)
    kept = np.minimum(nodes.classes, vocabulary.size)
    correction[0, np.arange(count), kept] = SURE
    return PgdOutput(correction, left, right)
