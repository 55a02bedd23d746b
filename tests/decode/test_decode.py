"""From the scores of PGD to readings of a formula."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namer_edge_runtime.decode import Hypothesis as Reading
from namer_edge_runtime.decode import Nodes, decode
from namer_edge_runtime.errors import EngineError, UsageError
from namer_edge_runtime.formula.nodes import to_nodes, to_tokens
from namer_edge_runtime.formula.vocabulary import Vocabulary

from .formulas import DELETE, END, ENDINGS, EOS, SOS, heads, random_nodes, softmax

CROHME = Vocabulary.load("crohme")


def nodes_of(tokens: str, random: np.random.Generator) -> tuple[Nodes, list[int]]:
    """Nodes of a formula in random order, as VAT would give them, and its path through them."""
    path = to_nodes(tokens.split(), CROHME)
    index: dict[int, int] = {}
    classes, endings, parents = [CROHME.sos, CROHME.eos], [0, 0], [-1, -1]
    visual = [place for place, node in enumerate(path) if not node.ending]
    for place in random.permutation(visual).tolist():
        own = [place] + [at for at, node in enumerate(path) if node.ending and node.parent == place]
        for which, at in enumerate(own):
            index[at] = len(classes)
            classes.append(CROHME.id(path[at].token))
            endings.append(which)
            parents.append(index[place] if which else -1)
    size = len(classes)
    nodes = Nodes(
        cells=np.zeros((size, 2), np.int64),
        classes=np.array(classes, np.int64),
        endings=np.array(endings, np.int64),
        parents=np.array(parents, np.int64),
        scores=np.ones(size, np.float32),
    )
    return nodes, [index[place] for place in range(len(path))]


def text(reading: Reading, vocabulary: Vocabulary = CROHME) -> str:
    return " ".join(
        to_tokens([vocabulary.token(int(label)) for label in reading.classes], vocabulary)
    )


def sure_heads(path: list[int], nodes: Nodes) -> list[np.ndarray]:
    """Heads that give one class, one left and one right neighbor 0.9 each."""
    size = len(nodes)
    self_probs = np.full((size, CROHME.size + 2), 0.1 / (CROHME.size + 1), np.float32)
    self_probs[np.arange(2, size), nodes.classes[2:]] = 0.9
    left, right = np.full((2, size, size), 0.1 / max(size - 1, 1), np.float32)
    whole = np.array([0, *path, 1])
    right[whole[:-1], whole[1:]] = left[whole[1:], whole[:-1]] = 0.9
    return [self_probs, left, right]


@pytest.mark.parametrize(
    "formula",
    [
        "x",
        "x ^ { 2 } + 1",
        "\\frac { a ^ { 2 } } { \\sqrt { b } } = \\sqrt [ 3 ] { x _ { i } ^ { 2 } }",
        "\\sum \\limits _ { i = 1 } ^ { n } x _ { i }",
    ],
)
def test_a_sure_model_is_read_word_for_word(formula: str) -> None:
    for seed in range(20):
        nodes, path = nodes_of(formula, np.random.default_rng(seed))
        (found,) = decode(*sure_heads(path, nodes), nodes, CROHME.endings)
        assert text(found) == formula
        assert not found.repaired
        assert found.nodes.tolist() == path
        assert found.node_scores == pytest.approx(0.9)
        assert found.score == pytest.approx(0.9 ** (2 * len(path) + 1), rel=1e-4)


def test_every_label_of_a_test_set_is_read_word_for_word(shared_data: Path) -> None:
    lines = (shared_data / "crohme" / "labels-test2016.tsv").read_text("utf-8").splitlines()
    random = np.random.default_rng(0)
    for line in lines:
        name, label = line.split("\t")
        nodes, path = nodes_of(label, random)
        (found,) = decode(*sure_heads(path, nodes), nodes, CROHME.endings)
        assert text(found) == label, name
    assert len(lines) == 1147


def test_one_side_alone_will_do() -> None:
    nodes, path = nodes_of("x ^ { 2 }", np.random.default_rng(0))
    probs, left, right = sure_heads(path, nodes)
    blind = np.full_like(left, 1 / len(nodes))
    for side in ((left, blind, 1.0, 0.0), (blind, right, 0.0, 1.0)):
        one, two, left_weight, right_weight = side
        (found,) = decode(
            probs,
            one,
            two,
            nodes,
            CROHME.endings,
            left_weight=left_weight,
            right_weight=right_weight,
        )
        assert text(found) == "x ^ { 2 }"
        assert found.score == pytest.approx(0.9 ** (2 * len(path) + 1), rel=1e-4)


def test_a_wrong_class_is_corrected_and_a_surplus_node_deleted() -> None:
    nodes, path = nodes_of("x + 1 y", np.random.default_rng(1))
    kept = path[:3]
    probs, left, right = sure_heads(kept, nodes)
    probs[path[3]] = 0
    probs[path[3], CROHME.delete] = 1
    probs[kept[0]] = 0
    probs[kept[0], CROHME.id("z")] = 1
    assert [text(found) for found in decode(probs, left, right, nodes, CROHME.endings)] == ["z + 1"]


def test_a_deleted_relation_takes_its_endings_along() -> None:
    nodes, path = nodes_of("\\frac { a } { b }", np.random.default_rng(1))
    probs, left, right = sure_heads(path, nodes)
    probs[path[0], CROHME.delete] = 1
    # The edges of the path are gone; the symbols alone are left to connect.
    whole = [0, path[1], path[3], 1]
    left[whole[1:], whole[:-1]] = right[whole[:-1], whole[1:]] = 0.9
    (found,) = decode(probs, left, right, nodes, CROHME.endings)
    assert text(found) == "a b"


def test_a_lost_ending_is_put_back_and_the_reading_says_so() -> None:
    nodes, path = nodes_of("x ^ { 2 } + 1", np.random.default_rng(2))
    probs, left, right = sure_heads([node for node in path if node != path[3]], nodes)
    left[path[3], path[2]] = right[path[3], path[4]] = 0.4
    (found,) = decode(probs, left, right, nodes, CROHME.endings)
    assert text(found) == "x ^ { 2 } + 1"
    assert found.repaired
    assert 0 < found.score < 0.9**11


def test_nothing_to_read_is_an_empty_reading_with_score_0() -> None:
    nodes = random_nodes(np.random.default_rng(0), 2)
    ones = np.ones((2, 2), np.float32)
    (found,) = decode(np.ones((2, 9), np.float32), ones, ones, nodes, ENDINGS)
    assert len(found.nodes) == len(found.classes) == len(found.node_scores) == 0
    assert found.score == 0
    nodes = random_nodes(np.random.default_rng(0), 12)
    deleted = np.zeros((12, 9), np.float32)
    deleted[:, DELETE] = 1
    even = np.full((12, 12), 1 / 12, np.float32)
    (found,) = decode(deleted, even, even, nodes, ENDINGS)
    assert len(found.nodes) == 0
    assert found.score == 0


def test_alternatives_differ_and_the_best_is_the_same_as_without() -> None:
    nodes, path = nodes_of("x + 1 y", np.random.default_rng(3))
    probs, left, right = sure_heads(path, nodes)
    right[path[1], path[3]] = 0.6  # "1" may be skipped
    left[path[3], path[1]] = 0.6
    only = decode(probs, left, right, nodes, CROHME.endings)
    several = decode(probs, left, right, nodes, CROHME.endings, alternatives=5)
    texts = [text(found) for found in several]
    assert texts[:2] == ["x + 1 y", "x + y"]
    assert len(set(texts)) == len(texts)
    assert all(texts)
    assert text(only[0]) == text(several[0])
    # Two nodes of one class say the same, whichever is taken.
    doubled = np.array([0, 0, 0, 0, 0], np.int64)
    same = Nodes(np.zeros((5, 2), np.int64), doubled, doubled, doubled - 1, np.ones(5, np.float32))
    even = np.full((5, 5), 0.2, np.float32)
    readings = decode(np.eye(5, 9, dtype=np.float32), even, even, same, ENDINGS, alternatives=9)
    assert len({found.classes.tobytes() for found in readings}) == len(readings)


def test_padding_changes_nothing() -> None:
    nodes, path = nodes_of("x ^ { 2 } + 1", np.random.default_rng(4))
    given_heads = sure_heads(path, nodes)
    padded = []
    for head in given_heads:
        columns = head.shape[1] if head is given_heads[0] else 40
        larger = np.ones((40, columns), np.float32)
        larger[: head.shape[0], : head.shape[1]] = head
        larger.flags.writeable = False
        padded.append(larger)
    (alone,) = decode(*given_heads, nodes, CROHME.endings)
    (batched,) = decode(*padded, nodes, CROHME.endings)
    assert np.array_equal(alone.nodes, batched.nodes)
    assert alone.score == batched.score


def test_many_threads_agree() -> None:
    random = np.random.default_rng(5)
    jobs = []
    for _ in range(64):
        size = int(random.integers(2, 40))
        probs, left, right = (softmax(random, size, columns, 3) for columns in (9, size, size))
        jobs.append((probs, left, right, random_nodes(random, size), ENDINGS))
    serial = [decode(*job)[0] for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        threaded = list(pool.map(lambda job: decode(*job)[0], jobs))
    for one, other in zip(serial, threaded, strict=True):
        assert np.array_equal(one.nodes, other.nodes)
        assert one.score == other.score


def test_what_does_not_fit_is_refused() -> None:
    nodes = random_nodes(np.random.default_rng(0), 6)
    probs, left, right = heads(np.arange(2, 6), nodes)
    with pytest.raises(EngineError, match="self head"):
        decode(probs[:, :-1], left, right, nodes, ENDINGS)
    with pytest.raises(EngineError, match="right head"):
        decode(probs, left, right[:5], nodes, ENDINGS)
    wrong = Nodes(nodes.cells, nodes.classes + 9, nodes.endings, nodes.parents, nodes.scores)
    with pytest.raises(EngineError, match="class"):
        decode(probs, left, right, wrong, ENDINGS)
    for options in (
        {"epsilon": np.nan},
        {"left_weight": 0, "right_weight": 0},
        {"left_weight": -1, "right_weight": 3},
        {"alternatives": 0},
        {"k_best": -1},
        {"k_best": 10**9},
    ):
        with pytest.raises(UsageError):
            decode(probs, left, right, nodes, ENDINGS, **options)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=500)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.floats(0, 8), st.floats(0, 2.5))
def test_whatever_the_model_says_the_latex_is_balanced(
    seed: int, size: int, spread: float, epsilon: float
) -> None:
    random = np.random.default_rng(seed)
    vocabulary = Vocabulary("test", tuple("abcd"), {"^": ("{",), "_": ("{",), "\\frac": ("{", "{")})
    if seed % 2:
        vocabulary = Vocabulary(
            "root", tuple("abc]"), {"^": ("{",), "\\limits": ("_ {",), "\\sqrt": ("[", "{")}
        )
    assert (vocabulary.endings == ENDINGS).all()
    assert (vocabulary.end, vocabulary.delete, vocabulary.sos, vocabulary.eos) == (
        END, DELETE, SOS, EOS,
    )  # fmt: skip
    nodes = random_nodes(random, size)
    probs = softmax(random, size, vocabulary.size + 2, spread)
    left, right = (softmax(random, size, size, spread) for _ in range(2))
    if seed % 3 == 0:
        left, right = np.round(left), np.round(right)
    readings = decode(probs, left, right, nodes, ENDINGS, epsilon=epsilon, alternatives=3)
    assert 1 <= len(readings) <= 3
    for found in readings:
        tokens = text(found, vocabulary).split()  # raises where a path is not well nested
        assert tokens.count("{") == tokens.count("}")
        assert 0 <= found.score <= 1
        assert set(found.classes.tolist()) <= set(range(8))
        again = decode(probs, left, right, nodes, ENDINGS, epsilon=epsilon)[0]
    assert np.array_equal(again.nodes, readings[0].nodes)


def test_the_second_best_class_is_an_alternative() -> None:
    nodes, path = nodes_of("x + 1", np.random.default_rng(6))
    probs, left, right = sure_heads(path, nodes)
    for token, share in (("\\times", 0.2), ("X", 0.1), ("^", 0.3)):
        probs[path[0], CROHME.id(token)] = share
    probs[path[2], CROHME.id("l" if "l" in CROHME else "|")] = 0.15
    found = decode(probs, left, right, nodes, CROHME.endings, alternatives=4)
    # `^` would bring an ending, which this node has not.
    assert [text(reading) for reading in found[:2]] == ["x + 1", "\\times + 1"]
    assert len({text(reading) for reading in found}) == 4
    assert all(reading.classes[0] != CROHME.id("^") for reading in found)
    scores = [reading.score for reading in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] == pytest.approx(scores[0] * 0.2 / 0.9, rel=1e-4)
    assert found[1].node_scores[0] == pytest.approx(0.2)


def test_an_edge_under_epsilon_and_a_node_deleted_in_doubt_are_alternatives() -> None:
    nodes, path = nodes_of("x + 1", np.random.default_rng(7))
    probs, left, right = sure_heads([path[0], path[2]], nodes)
    # "+" was deleted, but not by much, and its edges are weak.
    probs[path[1]] = 0
    probs[path[1], CROHME.delete], probs[path[1], CROHME.id("+")] = 0.6, 0.4
    for source, target in ((path[0], path[1]), (path[1], path[2])):
        right[source, target] = left[target, source] = 0.2
    found = decode(probs, left, right, nodes, CROHME.endings, alternatives=8)
    texts = [text(reading) for reading in found]
    assert texts[0] == "x 1"
    assert "x + 1" in texts
    score = found[texts.index("x + 1")].score
    assert score == pytest.approx(0.9**2 * 0.4 * 0.2**2 * 0.9**2, rel=1e-4)


def test_alternatives_are_the_most_probable_readings_there_are() -> None:
    """Against all combinations, where the path is sure and the classes are not."""
    nodes, path = nodes_of("a b c", np.random.default_rng(8))
    probs, left, right = sure_heads(path, nodes)
    left[left < 0.5] = right[right < 0.5] = 0
    random = np.random.default_rng(9)
    symbols = [CROHME.id(token) for token in "abcd"]
    for node in path:
        probs[node] = 0
        probs[node, symbols] = random.dirichlet(np.ones(4))
    found = decode(probs, left, right, nodes, CROHME.endings, alternatives=20)
    products = sorted(
        (float(np.prod(choice)) for choice in itertools.product(*probs[path][:, symbols])),
        reverse=True,
    )
    edges = 0.9**4
    assert [reading.score for reading in found] == pytest.approx(
        [product * edges for product in products[:20]], rel=1e-3
    )
