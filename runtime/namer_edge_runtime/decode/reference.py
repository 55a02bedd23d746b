"""Plain Python twins of the compiled kernels: the same answers, ties included, slower.

They stand in where Numba is missing, and the tests hold the kernels against them. Each step is
written in another way than its compiled part, so that the two do not share a mistake.
"""

from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .thresholds import MIN_CLASS, MIN_DELETE, MIN_EDGE, MIN_PROBABILITY

Arrays = tuple[Any, ...]
"""Return values of kernels; their callers wrap them into dataclasses."""


class Graph(NamedTuple):
    """The acyclic graph of path selection; `<sos>` is node 0, `<eos>` node 1."""

    scores: NDArray[np.float64]
    """[N, N] E of eq. 10 from row to column, whether or not that edge is in the graph."""
    sources: NDArray[np.int64]
    """[M] the node that each edge of the graph leaves, ascending."""
    targets: NDArray[np.int64]
    """[M] the node it enters, ascending within one source."""
    weights: NDArray[np.float64]
    """[M] its E."""


def pick(
    scores: NDArray[np.float32],
    classes: NDArray[np.int32],
    none: NDArray[np.float32],
    endings: NDArray[np.int8],
    end_class: int,
    sos: int,
    eos: int,
    threshold: float,
    max_nodes: int,
) -> Arrays:
    """Nodes of one picture, for `pick_all`."""
    known = (classes >= 0) & (classes < len(endings))
    unknown = int(classes[~known].max(initial=-1))
    number = np.full(classes.shape, -1)
    number[known] = endings[classes[known]]
    wins = scores[:1] > none
    recalled = {-1: np.zeros(none.shape, bool)}
    for group in set(endings.tolist()):
        mass = np.zeros(none.shape)
        for own, score in zip(number == group, scores, strict=True):
            mass += np.where(own, score, 0)
        recalled[group] = (mass >= threshold) & _peaks(mass)
    firing = np.any([*wins, *recalled.values()], axis=0)
    found: list[tuple[float, int, int, int]] = []
    for row, column in np.argwhere(firing).tolist():
        taken = {-1}
        for rank, group in enumerate(number[:, row, column].tolist()):
            first = group not in taken
            taken.add(group)
            if first and (recalled[group][row, column] or (rank == 0 and wins[0, row, column])):
                score, label = scores[rank, row, column], classes[rank, row, column]
                found.append((float(score), row, column, int(label)))

    sizes = [1 + int(endings[label]) for *_, label in found]
    truncated = 2 + sum(sizes) > max_nodes
    if truncated:
        best_first = sorted(range(len(found)), key=lambda index: (-found[index][0], index))
        filled = np.cumsum([2] + [sizes[index] for index in best_first])[1:]
        kept = int(np.searchsorted(filled, max_nodes, side="right"))
        found = [found[index] for index in sorted(best_first[:kept])]

    nodes: list[tuple[int, int, int, int, int, float]] = [
        (0, 0, sos, 0, -1, 1.0),
        (0, 0, eos, 0, -1, 1.0),
    ]
    for score, row, column, label in found:
        parent = len(nodes)
        nodes.append((row, column, label, 0, -1, score))
        for which in range(1, 1 + int(endings[label])):
            nodes.append((row, column, end_class, which, parent, score))
    rows, columns, picked, ending, parents, strength = zip(*nodes, strict=True)
    whole = (np.array(values, np.int64) for values in (rows, columns, picked, ending, parents))
    return (*whole, np.array(strength, np.float32), truncated, unknown)


def pick_all(
    scores: NDArray[np.float32],
    classes: NDArray[np.int32],
    none: NDArray[np.float32],
    endings: NDArray[np.int8],
    end_class: int,
    sos: int,
    eos: int,
    threshold: float,
    max_nodes: int,
) -> Arrays:
    """Twin of `pick.pick_all`'s kernel."""
    shape = (len(scores), max(2, max_nodes))
    cells = np.zeros((*shape, 2), np.int64)
    picked = np.full(shape, end_class, np.int64)
    ending = np.zeros(shape, np.int64)
    parents = np.full(shape, -1, np.int64)
    strength = np.zeros(shape, np.float32)
    counts = np.zeros(shape[0], np.int64)
    truncated = np.zeros(shape[0], bool)
    unknown = -1
    for b in range(len(scores)):
        rows, columns, *own, truncated[b], wrong = pick(
            scores[b],
            classes[b],
            none[b],
            endings,
            end_class,
            sos,
            eos,
            threshold,
            max_nodes,
        )
        counts[b] = count = len(rows)
        cells[b, :count, 0], cells[b, :count, 1] = rows, columns
        picked[b, :count], ending[b, :count], parents[b, :count], strength[b, :count] = own
        unknown = wrong if wrong >= 0 or unknown < 0 else unknown
    arrays = (cells, picked, ending, parents, strength)
    longest = counts.max(initial=2)
    return (*(array[:, :longest] for array in arrays), counts, truncated, unknown)


def _peaks(mass: NDArray[np.float64]) -> NDArray[np.bool_]:
    """[h, w] what 3 × 3 non-maximum suppression leaves; of equals, the first one stays."""
    height, width = mass.shape
    padded = np.pad(mass, 1, constant_values=-np.inf)
    peaks = np.ones(mass.shape, bool)
    for down in (0, 1, 2):
        for right in (0, 1, 2):
            other = padded[down : down + height, right : right + width]
            if (down, right) < (1, 1):
                peaks &= ~(other >= mass)
            elif (down, right) > (1, 1):
                peaks &= ~(other > mass)
    return peaks


def revise(
    self_probs: NDArray[np.float32],
    classes: NDArray[np.int64],
    parents: NDArray[np.int64],
    vocabulary_endings: NDArray[np.int8],
    deleting: bool,
) -> NDArray[np.int64]:
    """Twin of `graph.fill_revised`: the revised class of each node."""
    end, delete = len(vocabulary_endings), len(vocabulary_endings) + 1
    revised = classes.copy()
    revised[:2] = -1
    for node in range(2, len(classes)):
        if parents[node] < 0:
            wanted = vocabulary_endings == vocabulary_endings[classes[node]]
            same = np.append(wanted, [False, deleting])
            probs = np.where(same & ~np.isnan(self_probs[node]), self_probs[node], -1)
            if probs.max() >= 0:
                revised[node] = probs.argmax()
    gone = (parents >= 0) & (revised[parents] == delete)
    return np.where(gone, delete, np.where(parents >= 0, end, revised))


def build(
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    alive: NDArray[np.bool_],
    epsilon: float,
    left_weight: float,
    right_weight: float,
) -> Graph:
    """Twin of `graph.weigh`, `enter` and `list_edges`: one sort, and bit sets of what each node
    reaches."""
    size = len(alive)
    allowed = alive[:, None] & alive & ~np.eye(size, dtype=bool)
    allowed[:, 0] = allowed[1] = False
    scores = left_weight * left.T.astype(np.float64) + right_weight * right.astype(np.float64)
    scores = np.where(allowed & (scores > 0), scores, 0.0)
    order = np.argsort(-scores[allowed], kind="stable")
    candidates = np.argwhere(allowed)[order].tolist()
    reached = [1 << node for node in range(size)]  # one bit for each node
    edges: list[tuple[int, int]] = []
    for source, target in candidates:
        if reached[0] & 2 and scores[source, target] < epsilon:
            break
        if reached[target] >> source & 1:
            continue
        edges.append((source, target))
        if not reached[source] >> target & 1:
            beyond = reached[target]
            reached = [bits | beyond if bits >> source & 1 else bits for bits in reached]
    sources, targets = np.array(sorted(edges), np.int64).reshape(-1, 2).T
    return Graph(scores, sources.copy(), targets.copy(), scores[sources, targets])


def longest_paths(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    weights: NDArray[np.float64],
    size: int,
    most: int,
) -> Arrays:
    """Twin of `path.extend` and `trace`: whole paths are kept at every node.

    Returns nodes [R, N], their number and the length of each path, the longest first.
    """
    entering: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    for source, target, weight in zip(
        *map(np.ndarray.tolist, (sources, targets, weights)), strict=True
    ):
        entering[target].append((source, weight))
    # At each node its best paths: length and nodes.
    best: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in range(size)]
    best[0] = [(0.0, (0,))]
    sorter = TopologicalSorter({node: [edge[0] for edge in entering[node]] for node in range(size)})
    try:
        order = list(sorter.static_order())
    except CycleError:
        order = []
    for node in order:
        offers = [
            (-(length + weight), source, rank)
            for source, weight in entering[node]
            for rank, (length, _) in enumerate(best[source])
        ]
        if node != 0:
            best[node] = [
                (-negative, (*best[source][rank][1], node))
                for negative, source, rank in sorted(offers)[:most]
            ]
    found = best[1]
    nodes = np.zeros((len(found), size), np.int64)
    for row, (_, path) in zip(nodes, found, strict=True):
        row[: len(path)] = path
    sizes = np.array([len(path) for _, path in found], np.int64)
    return nodes, sizes, np.array([length for length, _ in found], np.float64)


def repair(
    path: NDArray[np.int64], parents: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Twin of `repair.walk`: the open arguments are found anew by replaying the walk."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            children[parent].append(node)
    walked: list[int] = []

    def opened(count: int) -> list[tuple[int, int]]:
        """(relation, endings it has had) of all that is open after so many nodes."""
        stack: list[tuple[int, int]] = []
        for node in walked[:count]:
            if parents[node] >= 0:
                relation, had = stack.pop()
                if had + 1 < len(children[relation]):
                    stack.append((relation, had + 1))
            elif children[node]:
                stack.append((node, 0))
        return stack

    def insert_next(following: int) -> None:
        """Inserts the next ending of the innermost open relation where it fits best."""
        relation, had = opened(len(walked))[-1]
        ending = children[relation][had]

        def fit(place: int) -> float:
            beyond = walked[place] if place < len(walked) else following
            return float(scores[walked[place - 1], ending] + scores[ending, beyond])

        places = [
            place for place in range(1, len(walked) + 1) if opened(place)[-1:] == [(relation, had)]
        ]
        walked.insert(max(places, key=fit), ending)

    rest = path.tolist()
    while rest:
        node = rest.pop(0)
        relation = int(parents[node])
        if relation < 0:
            walked.append(node)
        elif any(relation == open_relation for open_relation, _ in opened(len(walked))):
            while opened(len(walked))[-1][0] != relation:
                insert_next(node)
            siblings = children[relation]
            if node == siblings[-1] and not {*siblings[:-1]} & {*walked, *rest}:
                while opened(len(walked))[-1][1] < len(siblings) - 1:
                    insert_next(node)
            walked.append(siblings[opened(len(walked))[-1][1]])
    while opened(len(walked)):
        insert_next(1)
    return np.array(walked, np.int64)


def select_paths(
    self_probs: NDArray[np.float32],
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    classes: NDArray[np.int64],
    parents: NDArray[np.int64],
    sizes: NDArray[np.int64],
    vocabulary_endings: NDArray[np.int8],
    epsilon: float,
    left_weight: float,
    right_weight: float,
    weighed: bool,
    ranks: int,
) -> Arrays:
    """Twin of `path_selection.select_paths`, of the twins of its steps."""
    batch, most = classes.shape
    chosen = np.zeros((batch, ranks, most), np.int64)
    counts = np.zeros((batch, ranks), np.int64)
    scores = np.full((batch, ranks), -1.0)
    repaired = np.zeros((batch, ranks), bool)
    revised, node_scores = np.zeros_like(classes), np.zeros(classes.shape, np.float32)
    delete, total = len(vocabulary_endings) + 1, left_weight + right_weight
    for b, n in enumerate(sizes.tolist()):
        probs, own = np.nan_to_num(self_probs[b, :n]), parents[b, :n]
        labels = revise(self_probs[b, :n], classes[b, :n], own, vocabulary_endings, not weighed)
        class_probs = probs[np.arange(n), labels]
        class_probs[:2] = 0
        revised[b, :n], node_scores[b, :n] = labels, class_probs
        deleted = np.maximum(probs[:, delete].astype(np.float64), MIN_DELETE)
        deleted[:2] = deleted[own >= 0] = 1
        alive = labels != delete
        if weighed:
            of_symbol = np.where(own < 0, np.arange(n), own)
            alive &= (class_probs[of_symbol].astype(np.float64) >= MIN_CLASS) | (of_symbol < 2)
        edges, sources, targets, weights = build(
            left[b, :n, :n],
            right[b, :n, :n],
            alive,
            MIN_EDGE * total if weighed else epsilon,
            left_weight,
            right_weight,
        )
        if weighed:
            likely = np.where(np.arange(n) < 2, 1.0, class_probs.astype(np.float64))
            likely = np.log(np.maximum(likely, MIN_PROBABILITY)) - np.log(deleted)
            weights = np.log(np.maximum(weights / total, MIN_PROBABILITY)) + likely[targets]
        paths = zip(*longest_paths(sources, targets, weights, n, ranks), strict=True)
        for rank, (row, length, _) in enumerate(paths):
            route = row[1 : length - 1]
            path = repair(route, own, edges)
            whole = [0, *path.tolist(), 1]
            product = 1.0
            for place, prob in enumerate(class_probs[path].tolist()):
                product *= float(edges[whole[place], whole[place + 1]]) / total * prob
            product *= float(edges[whole[-2], 1]) / total
            for node in np.setdiff1d(np.arange(n), path).tolist():
                product *= float(deleted[node])
            scores[b, rank] = min(1.0, product)
            counts[b, rank] = len(path)
            chosen[b, rank, : len(path)] = path
            repaired[b, rank] = not np.array_equal(route, path)
    return chosen, counts, scores, repaired, revised, node_scores
