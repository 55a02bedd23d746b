"""Picking tokens from the VAT map."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namer_edge_runtime.decode import Nodes, pick, pick_all
from namer_edge_runtime.decode.jit import kernels
from namer_edge_runtime.errors import EngineError

# Seven visual classes: four symbols, two relations with one ending, one with two.
ENDINGS = np.array([0, 0, 0, 0, 1, 1, 2], np.int8)
END, SOS, EOS = 7, 8, 9


def vat_map(height: int, width: int, depth: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A map on which nothing fires."""
    scores = np.zeros((depth, height, width), np.float32)
    classes = np.tile(np.arange(depth, dtype=np.int32)[:, None, None], (1, height, width))
    return scores, classes, np.ones((height, width), np.float32)


def run(scores: np.ndarray, classes: np.ndarray, none: np.ndarray, **options: float) -> Nodes:
    return pick(scores, classes, none, ENDINGS, END, SOS, EOS, **options)  # type: ignore[arg-type]


def put(
    maps: tuple[np.ndarray, ...], row: int, column: int, none: float, *best: tuple[int, float]
) -> None:
    scores, classes, nothing = maps
    nothing[row, column] = none
    for rank, (label, score) in enumerate(best):
        classes[rank, row, column] = label
        scores[rank, row, column] = score


def test_blank_map_gives_only_sos_and_eos() -> None:
    nodes = run(*vat_map(4, 6))
    assert nodes.classes.tolist() == [SOS, EOS]
    assert nodes.cells.tolist() == [[0, 0], [0, 0]]
    assert nodes.scores.tolist() == [1, 1]
    assert len(nodes) == 2
    assert not nodes.truncated


def test_map_without_cells_or_classes() -> None:
    assert len(run(*vat_map(0, 5))) == 2
    scores, classes, none = vat_map(2, 2, depth=0)
    assert len(run(scores, classes, none * 0, threshold=0.1)) == 2


def test_nodes_come_row_by_row_each_followed_by_its_endings() -> None:
    maps = vat_map(3, 4)
    put(maps, 2, 0, 0.1, (6, 0.8))
    put(maps, 0, 3, 0.2, (1, 0.7))
    put(maps, 2, 3, 0.0, (4, 1.0))
    nodes = run(*maps)
    assert nodes.classes.tolist() == [SOS, EOS, 1, 6, END, END, 4, END]
    assert nodes.endings.tolist() == [0, 0, 0, 0, 1, 2, 0, 1]
    assert nodes.parents.tolist() == [-1, -1, -1, -1, 3, 3, -1, 6]
    assert nodes.cells[2:].tolist() == [[0, 3], [2, 0], [2, 0], [2, 0], [2, 3], [2, 3]]
    assert nodes.scores[2:] == pytest.approx([0.7, 0.8, 0.8, 0.8, 1, 1])


def test_a_class_must_beat_none_unless_read_recall_first() -> None:
    maps = vat_map(1, 5)
    put(maps, 0, 1, 0.6, (0, 0.3), (1, 0.1))  # together they count
    put(maps, 0, 2, 0.7, (1, 0.3))  # a neighbor is a higher peak
    put(maps, 0, 4, 0.7, (2, 0.3))
    assert len(run(*maps)) == 2
    assert run(*maps, threshold=0.25).classes.tolist() == [SOS, EOS, 0, 2]
    assert run(*maps, threshold=0.35).classes.tolist() == [SOS, EOS, 0]
    assert len(run(*maps, threshold=0.45)) == 2


def test_equal_neighbors_give_one_recalled_node() -> None:
    maps = vat_map(4, 4)
    for row in (1, 2):
        for column in (1, 2):
            put(maps, row, column, 0.8, (0, 0.2))
    nodes = run(*maps, threshold=0.1)
    assert nodes.cells[2:].tolist() == [[1, 1]]


def test_second_class_only_with_another_number_of_endings() -> None:
    maps = vat_map(1, 1)
    put(maps, 0, 0, 0.1, (0, 0.4), (1, 0.3), (6, 0.2))
    assert run(*maps).classes.tolist() == [SOS, EOS, 0]
    assert run(*maps, threshold=0.15).classes.tolist() == [SOS, EOS, 0, 6, END, END]
    assert run(*maps, threshold=0.25).classes.tolist() == [SOS, EOS, 0]


def test_a_faint_relation_is_recalled_beside_a_plain_symbol() -> None:
    """A script's relation lies in a cell next to its base's, whose class is far surer."""
    maps = vat_map(1, 4)
    put(maps, 0, 1, 0.0, (0, 0.9), (4, 0.1))
    put(maps, 0, 2, 0.5, (4, 0.3), (5, 0.1), (1, 0.1))
    nodes = run(*maps, threshold=0.2)
    assert nodes.classes.tolist() == [SOS, EOS, 0, 4, END]
    assert nodes.cells[2:].tolist() == [[0, 1], [0, 2], [0, 2]]
    assert nodes.scores[3] == pytest.approx(0.3)


def test_too_many_nodes_keep_the_best_scoring_with_their_endings() -> None:
    maps = vat_map(1, 4)
    put(maps, 0, 0, 0.0, (0, 0.5))
    put(maps, 0, 1, 0.0, (6, 0.9))
    put(maps, 0, 2, 0.0, (1, 0.7))
    put(maps, 0, 3, 0.0, (2, 0.7))
    assert not run(*maps, max_nodes=8).truncated
    nodes = run(*maps, max_nodes=7)
    assert nodes.truncated
    assert nodes.classes.tolist() == [SOS, EOS, 6, END, END, 1, 2]
    assert run(*maps, max_nodes=6).classes.tolist() == [SOS, EOS, 6, END, END, 1]
    # The best one does not fit with its endings: none is taken before it.
    assert run(*maps, max_nodes=4).classes.tolist() == [SOS, EOS]


def test_outputs_that_do_not_fit_are_refused() -> None:
    scores, classes, none = vat_map(2, 3)
    with pytest.raises(EngineError, match="shape"):
        run(scores, classes, none[:1])
    with pytest.raises(EngineError, match="class 9"):
        run(scores + 2, classes + 7, none)


def test_any_array_layout_gives_the_same_nodes() -> None:
    maps = vat_map(3, 3)
    put(maps, 1, 1, 0.1, (4, 0.8))
    expected = run(*maps)
    scores, classes, none = (np.asfortranarray(part) for part in maps)
    none.flags.writeable = False
    again = run(scores.astype(np.float64), classes.astype(np.int64), none)
    assert np.array_equal(again.cells, expected.cells)
    assert np.array_equal(again.classes, expected.classes)


def test_of_a_batch_each_picture_gets_its_own_nodes() -> None:
    maps = [vat_map(3, 4) for _ in range(3)]
    put(maps[0], 2, 0, 0.1, (6, 0.8))
    put(maps[2], 0, 3, 0.2, (1, 0.7))
    put(maps[2], 1, 1, 0.2, (4, 0.9))
    scores, classes, none = (np.stack(parts) for parts in zip(*maps, strict=True))
    batch = pick_all(scores, classes, none, ENDINGS, END, SOS, EOS, max_nodes=4)
    assert [len(nodes) for nodes in batch] == [2, 2, 4]
    assert [nodes.truncated for nodes in batch] == [True, False, True]
    for nodes, own in zip(batch, maps, strict=True):
        alone = run(*own, max_nodes=4)
        for name in ("cells", "classes", "endings", "parents", "scores"):
            assert np.array_equal(getattr(nodes, name), getattr(alone, name))


@settings(deadline=None, max_examples=300)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 4),
)
def test_compiled_equals_plain(seed: int, batch: int, height: int, width: int, depth: int) -> None:
    random = np.random.default_rng(seed)
    # Few distinct values, so that ties are frequent.
    scores = -np.sort(-random.integers(0, 9, (batch, depth, height, width)) / 8, axis=1)
    none = random.integers(0, 9, (batch, height, width)) / 8
    classes = random.integers(-1 if seed % 7 == 0 else 0, 7, scores.shape)
    arguments = (
        scores.astype(np.float32),
        classes.astype(np.int32),
        none.astype(np.float32),
        ENDINGS,
        END,
        SOS,
        EOS,
        float(random.integers(0, 11) / 8),
        int(random.choice([2, 3, 7, 20, 512])),
    )
    kernel = kernels()[0]
    for compiled, plain in zip(kernel(*arguments), kernel.plain(*arguments), strict=True):
        assert np.array_equal(compiled, plain)
        assert np.asarray(compiled).dtype.kind == np.asarray(plain).dtype.kind
