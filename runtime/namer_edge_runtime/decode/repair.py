"""Endings in order and closed inside their parent: whatever the path, the LaTeX is balanced.

Compiled into the kernel of path selection; the plain twin is `reference.repair`.
"""

import numpy as np
from numpy.typing import NDArray

from .jit import part
from .pick import EOS


@part
def _insert(
    node: int,
    after: int,
    following: int,
    walked: NDArray[np.int64],
    count: int,
    parents: NDArray[np.int64],
    children: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> int:
    """Puts an ending among `walked[:count]`, behind the node `after`; all inside it is closed."""
    place = 0
    while walked[place] != after:
        place += 1
    place += 1
    best = place
    best_score = -1.0
    depth = 0
    while place <= count:
        beyond = walked[place] if place < count else following
        if depth == 0:
            score = scores[walked[place - 1], node] + scores[node, beyond]
            if score > best_score:
                best = place
                best_score = score
        if place < count:
            parent = parents[beyond]
            if parent < 0 and children[0, beyond] >= 0:
                depth += 1
            elif parent >= 0 and (children[1, parent] < 0 or children[1, parent] == beyond):
                depth -= 1
        place += 1
    for shifted in range(count, best, -1):
        walked[shifted] = walked[shifted - 1]
    walked[best] = node
    return count + 1


@part
def _close(
    relation: int,
    following: int,
    walked: NDArray[np.int64],
    count: int,
    placed: NDArray[np.int64],
    parents: NDArray[np.int64],
    children: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> int:
    """Inserts the endings that the innermost open relation still lacks."""
    after = relation
    for which in range(2):
        ending = children[which, relation]
        if ending < 0:
            break
        if not placed[ending]:
            count = _insert(ending, after, following, walked, count, parents, children, scores)
            placed[ending] = 1
        after = ending
    return count


@part
def walk(
    path: NDArray[np.int64],
    length: int,
    parents: NDArray[np.int64],
    size: int,
    scores: NDArray[np.float64],
    room: NDArray[np.int64],
    walked: NDArray[np.int64],
) -> int:
    """A well-nested path that keeps to `path[:length]` as far as it goes, into `walked`; returns
    its length.

    The path is walked from left to right with the relations that are still open. Visual nodes stay
    as they come. An ending

    - whose relation is not open (not there, still to come, or closed by now) is left out;
    - closes first what is still open inside its relation;
    - that comes before its relation's first ending though it is the second: they change places
      where the first follows later on; otherwise the first one is inserted.

    At `<eos>` all that is open is closed, innermost first. A missing ending is inserted where it
    fits best: of all places directly inside its argument (between what opens it and where the
    walk has come to), the one with the largest E from its left plus E to its right neighbor, the
    first of equals. A path that is well nested comes back unchanged.

    `path` has no `<sos>` and `<eos>`, and each node at most once. `parents` [N] has the relation
    that each ending closes, -1 for other nodes; the endings of one relation stand in order.
    `scores` [N, N] is E between any two of the first `size` nodes; `room` [5, N] keeps notes.
    """
    # The endings of each relation, in order; which nodes are placed; relations still open.
    children = room[:2]
    where, placed, opened = room[2], room[3], room[4]
    children[:, :size] = -1
    where[:size] = -1
    placed[:size] = 0
    for node in range(size):
        if parents[node] >= 0:
            children[0 if children[0, parents[node]] < 0 else 1, parents[node]] = node
    for place in range(length):
        where[path[place]] = place

    count = 0
    depth = 0
    for place in range(length):
        node = path[place]
        relation = parents[node]
        if relation < 0:
            walked[count] = node
            count += 1
            if children[0, node] >= 0:
                opened[depth] = node
                depth += 1
            continue
        level = depth - 1
        while level >= 0 and opened[level] != relation:
            level -= 1
        if level < 0:
            continue
        while depth - 1 > level:
            depth -= 1
            count = _close(opened[depth], node, walked, count, placed, parents, children, scores)
        first = children[0, relation]
        second = children[1, relation]
        ending = node
        if placed[first]:
            ending = second
        elif node == second:
            if where[first] > place:
                ending = first
            else:
                count = _insert(first, relation, node, walked, count, parents, children, scores)
                placed[first] = 1
        walked[count] = ending
        count += 1
        placed[ending] = 1
        if second < 0 or ending == second:
            depth -= 1
    while depth > 0:
        depth -= 1
        count = _close(opened[depth], EOS, walked, count, placed, parents, children, scores)
    return count
