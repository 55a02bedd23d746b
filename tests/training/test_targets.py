"""What VAT and PGD are told to learn, on cases made by hand."""

import numpy as np
import pytest
import torch

from namer_edge.data.batches import UNKNOWN, LabelPath
from namer_edge.data.symbols import OOV
from namer_edge.training.loss import cross_entropy_sum as summed
from namer_edge.training.targets import (
    IGNORE,
    Candidates,
    NodeTargets,
    node_targets,
    stack,
    visual_map,
)
from namer_edge_runtime.formula.vocabulary import Vocabulary

V = Vocabulary("tiny", ("-", "1", "x", "y"), {"^": ("{",), "\\frac": ("{", "{")})
PAPER = Candidates(threshold=2.0)


def seen(*cells: tuple[int, int, str, float], shape: tuple[int, int] = (6, 8)) -> np.ndarray:
    """P [K + 1, h, w] with "none" everywhere but in the given cells (row, column, token, P)."""
    p = np.full((V.size + 1, *shape), 1e-4, np.float32)
    p[V.none] = 1.0
    for row, column, token, probability in cells:
        p[V.none, row, column] = min(p[V.none, row, column], 1 - probability)
        p[V.id(token), row, column] = probability
    return p / p.sum(0)


def targets(
    label: str, matched: list[tuple[int, int]], p: np.ndarray, options: Candidates = PAPER
) -> NodeTargets:
    of = LabelPath.of(label.split(), V)
    cells = np.array(matched, np.int64).reshape(-1, 2)
    return node_targets(of, cells, p, V, options, np.random.default_rng(0))


def path(t: NodeTargets, step: str = "right") -> list[int]:
    """Node indices from <sos> to <eos> by the right targets (or back by the left ones)."""
    node, end = (0, 1) if step == "right" else (1, 0)
    nodes = []
    while node != end:
        node = int(getattr(t, step)[node])
        nodes.append(node)
    return nodes[:-1]


def read(t: NodeTargets) -> list[str]:
    return [V.token(int(t.self_correction[node])) for node in path(t)]


def test_the_map_holds_each_token_at_its_cell_and_none_elsewhere() -> None:
    label = LabelPath.of(["x", "^", "{", "1", "}"], V)
    cells = np.array([[2, 1], [1, 2], [0, 3]])
    target = visual_map(label, cells, (4, 5), V)
    assert [target[r, c] for r, c in cells] == [V.id("x"), V.id("^"), V.id("1")]
    assert (target == V.none).sum() == 4 * 5 - 3


def test_a_formula_seen_right_is_joined_from_sos_to_eos_both_ways() -> None:
    p = seen((2, 1, "x", 0.9), (1, 2, "^", 0.9), (0, 3, "1", 0.9), (2, 5, "-", 0.9))
    t = targets("x ^ { 1 } -", [(2, 1), (1, 2), (0, 3), (2, 5)], p)
    assert read(t) == ["x", "^", "1", "}", "-"]
    assert path(t, "left") == path(t)[::-1]
    assert (t.self_correction[:2] == IGNORE).all()
    assert t.left[0] == t.right[1] == IGNORE
    end = path(t)[3]
    assert t.endings[end] == 1
    assert t.cells[end].tolist() == [1, 2]  # its relation's


def test_a_missed_token_is_added_where_it_was_matched() -> None:
    p = seen((2, 1, "x", 0.9), (2, 3, "y", 0.2))
    t = targets("x y", [(2, 1), (2, 3)], p)
    assert read(t) == ["x", "y"]
    assert t.cells[path(t)[1]].tolist() == [2, 3]


def test_a_redundant_token_is_to_be_deleted_with_its_endings() -> None:
    p = seen((2, 1, "x", 0.9), (0, 6, "^", 0.8))
    t = targets("x", [(2, 1)], p)
    surplus = np.flatnonzero(t.self_correction == V.delete)
    assert [V.token(int(c)) for c in t.classes[surplus]] == ["^", "}"]
    assert (t.left[surplus] == IGNORE).all()
    assert (t.right[surplus] == IGNORE).all()
    assert read(t) == ["x"]


def test_a_wrong_class_is_corrected_in_place() -> None:
    p = seen((2, 1, "y", 0.9))
    t = targets("x", [(2, 1)], p)
    assert len(t.classes) == 3
    assert V.token(int(t.classes[2])) == "y"
    assert read(t) == ["x"]


def test_a_wrong_class_with_other_endings_enters_as_two_candidates() -> None:
    """`-` seen for `\\frac`: correction cannot give it the endings it lacks."""
    p = seen((3, 2, "-", 0.9), (1, 2, "1", 0.9), (5, 2, "x", 0.9))
    t = targets("\\frac { 1 } { x }", [(3, 2), (1, 2), (5, 2)], p)
    assert read(t) == ["\\frac", "1", "}", "x", "}"]
    minus = np.flatnonzero(t.classes == V.id("-"))
    assert t.self_correction[minus].tolist() == [V.delete]


def test_a_second_class_of_a_cell_counts_as_seen() -> None:
    p = seen((3, 2, "-", 0.6), (3, 2, "\\frac", 0.3), (1, 2, "1", 0.9), (5, 2, "x", 0.9))
    t = targets("\\frac { 1 } { x }", [(3, 2), (1, 2), (5, 2)], p, Candidates(0.25))
    assert read(t) == ["\\frac", "1", "}", "x", "}"]
    assert t.scores[path(t)[0]] == p[V.id("\\frac"), 3, 2]


def test_recall_first_cells_are_nodes_to_delete() -> None:
    p = seen((2, 1, "x", 0.9), (2, 5, "y", 0.4))
    assert len(targets("x", [(2, 1)], p).classes) == 3
    t = targets("x", [(2, 1)], p, Candidates(threshold=0.25))
    assert t.self_correction[2:].tolist() == [V.id("x"), V.delete]


@pytest.mark.parametrize("believed", [0.9, 0.0])
def test_a_stranger_is_a_node_of_the_path_whatever_it_was_taken_for(believed: float) -> None:
    cells = [(2, 1), (2, 3)]
    p = seen((2, 1, "x", 0.9), (2, 3, "y", believed))
    t = targets(f"x {OOV}", cells, p)
    first, second = path(t)
    assert (t.self_correction[first], t.self_correction[second]) == (V.id("x"), UNKNOWN)
    assert t.cells[second].tolist() == [2, 3]
    assert V.endings[t.classes[second]] == 0
    label = LabelPath.of(["x", OOV], V)
    assert visual_map(label, np.array(cells), (6, 8), V)[2, 3] == UNKNOWN
    assert label.tokens(V) == ["x", OOV]


def test_for_a_stranger_every_class_is_wanted_alike() -> None:
    even, sure = torch.zeros(1, V.size + 2), torch.zeros(1, V.size + 2)
    even[:, V.size :] = sure[:, V.size :] = -20.0
    sure[:, V.id("x")] = 5.0
    unknown, known = (torch.tensor([c]) for c in (UNKNOWN, V.id("x")))
    assert summed(even, unknown, V.size, 0.0) == pytest.approx(np.log(V.size), abs=1e-4)
    assert summed(sure, unknown, V.size, 0.0) > summed(even, unknown, V.size, 0.0)
    assert summed(sure, known, V.size, 0.0) < summed(even, known, V.size, 0.0)
    assert summed(torch.cat([sure, sure]), torch.tensor([IGNORE, UNKNOWN]), V.size, 0.0) == (
        summed(sure, unknown, V.size, 0.0)
    )


def test_an_empty_label_joins_sos_to_eos() -> None:
    t = targets("", [], seen())
    assert len(t.classes) == 2
    assert t.right[0] == 1
    assert t.left[1] == 0


def test_disturbed_nodes_keep_their_targets() -> None:
    """Whatever is corrupted, jittered or added, the path still spells the label."""
    p = seen((2, 1, "x", 0.5), (2, 1, "y", 0.3), (1, 2, "^", 0.9), (0, 3, "1", 0.9))
    of = LabelPath.of(["x", "^", "{", "1", "}"], V)
    cells = np.array([[2, 1], [1, 2], [0, 3]])
    wild = Candidates(0.25, corrupt=0.8, jitter=0.8, surplus=3.0)
    classes, lengths = set(), set()
    for seed in range(30):
        t = node_targets(of, cells, p, V, wild, np.random.default_rng(seed))
        assert read(t) == ["x", "^", "1", "}"]
        assert path(t, "left") == path(t)[::-1]
        classes.add(V.token(int(t.classes[path(t)[0]])))
        lengths.add(len(t.classes))
    assert len(classes) > 1
    assert "^" not in classes  # endings never change by corruption
    assert len(lengths) > 1


def test_stacking_pads_with_nodes_that_count_for_nothing() -> None:
    both = [
        targets("x", [(2, 1)], seen((2, 1, "x", 0.9))),
        targets("x y", [(2, 1), (2, 3)], seen((2, 1, "x", 0.9), (2, 3, "y", 0.9))),
    ]
    batch = stack(both, step=16)
    assert batch["mask"].sum(1).tolist() == [3, 4]
    assert batch["classes"].shape == (2, 16)
    assert (batch["self_correction"][batch["mask"] == 0] == IGNORE).all()
