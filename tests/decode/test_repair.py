"""Any path becomes a well-nested one, and a well-nested one stays as it is."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from namer_edge_runtime.decode import Nodes

from . import steps
from .formulas import random_nodes

# Nodes by name: three symbols, ^ with its }, \frac with both of its, _ with its.
NAMES = ["<sos>", "<eos>", "x", "y", "z", "^", "^}", "frac", "frac}", "frac}}", "_", "_}"]
PARENTS = np.array([-1, -1, -1, -1, -1, -1, 5, -1, 7, 7, -1, 10])


def repaired(path: str, **fits: float) -> str:
    """Repairs a path of names; `fits` gives E for edges, as in `x__y=1`."""
    scores = np.zeros((len(NAMES), len(NAMES)))
    for edge, score in fits.items():
        before, after = (NAMES.index(SPELL.get(name, name)) for name in edge.split("__"))
        scores[before, after] = score
    nodes = np.array([NAMES.index(name) for name in path.split()], np.int64)
    return " ".join(NAMES[node] for node in steps.repaired(nodes, PARENTS, scores))


SPELL = {"up": "^", "up_end": "^}", "down": "_", "down_end": "_}", "half": "frac}", "end": "<eos>"}


def well_nested(path: np.ndarray, nodes: Nodes) -> bool:
    """Every relation opened once, its endings in order and innermost first."""
    waiting: list[int] = []
    for node in path.tolist():
        if nodes.parents[node] >= 0:
            if not waiting or waiting.pop() != node:
                return False
        else:
            waiting += np.flatnonzero(nodes.parents == node)[::-1].tolist()
    return not waiting


def nested_path(random: np.random.Generator, nodes: Nodes) -> list[int]:
    """A random well-nested path through all nodes."""
    path: list[int] = []
    waiting: list[int] = []
    for node in random.permutation(np.flatnonzero(nodes.parents < 0)[2:]).tolist():
        while waiting and random.random() < 0.4:
            path.append(waiting.pop())
        path.append(node)
        waiting += np.flatnonzero(nodes.parents == node)[::-1].tolist()
    return path + waiting[::-1]


def test_a_well_nested_path_stays() -> None:
    for path in ("", "x", "x ^ y ^} z", "frac x frac} y _ z _} frac}}", "frac frac} frac}}"):
        assert repaired(path) == path


def test_an_ending_without_its_relation_is_left_out() -> None:
    assert repaired("x ^} y frac}}") == "x y"


def test_an_ending_before_its_relation_is_left_out_and_set_anew() -> None:
    assert repaired("^} x ^ y z", y__up_end=1, up_end__z=1) == "x ^ y ^} z"


def test_a_missing_ending_goes_where_it_fits_best() -> None:
    assert repaired("x ^ y z", y__up_end=0.3, up_end__z=0.1) == "x ^ y ^} z"
    assert repaired("x ^ y z", y__up_end=0.3, z__up_end=0.2, up_end__end=0.3) == "x ^ y z ^}"


def test_a_missing_ending_never_lands_inside_another_argument() -> None:
    fits = {"z__up_end": 2.0, "up_end__down_end": 2.0, "down_end__up_end": 0.1}
    assert repaired("x ^ y _ z _}", **fits) == "x ^ y _ z _} ^}"


def test_an_ending_closes_what_is_open_inside() -> None:
    fits = {"y__down_end": 0.4, "down_end__z": 0.4}
    assert repaired("x ^ _ y z ^} _}", **fits) == "x ^ _ y _} z ^}"


def test_endings_in_the_wrong_order_change_places() -> None:
    assert repaired("frac x frac}} y frac}") == "frac x frac} y frac}}"


def test_a_second_ending_alone_gets_the_first_one_inserted() -> None:
    assert repaired("frac x y frac}}", x__half=1, half__y=1) == "frac x frac} y frac}}"
    assert repaired("frac} frac x y frac}}", x__half=1) == "frac x frac} y frac}}"
    assert repaired("frac x y frac}}", frac__half=1) == "frac frac} x y frac}}"


@settings(deadline=None, max_examples=1000)
@given(st.integers(0, 2**32 - 1), st.integers(2, 24))
def test_any_path_is_made_well_nested(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    nodes = random_nodes(random, size)
    path = 2 + random.permutation(size - 2)[: random.integers(0, size - 1)]
    scores = random.integers(0, 4, (size, size)) / 2
    result = steps.repaired(path, nodes.parents, scores)
    assert well_nested(result, nodes)
    visual = path[nodes.parents[path] < 0]
    assert result[nodes.parents[result] < 0].tolist() == visual.tolist()
    assert np.array_equal(steps.repaired(result, nodes.parents, scores), result)


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
def test_any_well_nested_path_stays(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    nodes = random_nodes(random, size)
    path = np.array(nested_path(random, nodes), np.int64)
    assert well_nested(path, nodes)
    assert np.array_equal(steps.repaired(path, nodes.parents, np.ones((size, size))), path)
