"""The grammar of common mathematics, and grammars as such."""

from collections import Counter
from pathlib import Path

import numpy as np

from namer_edge.data.grammar import Grammar
from namer_edge.data.labels import canonical
from namer_edge_runtime.command import main
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary

EVERYDAY, CROHME = Vocabulary.load("everyday"), Vocabulary.load("crohme")


def test_a_grammar_counts_ways_and_adds_lines_up() -> None:
    grammar = Grammar("a * 9 = x\na = <b> y\nb = 1 | 2", np.random.default_rng(0))
    drawn = Counter(grammar.expanded("a") for _ in range(1000))
    assert set(drawn) == {"x", "1 y", "2 y"}
    assert 850 < drawn["x"] < 950


def test_labels_use_every_class_of_crohme_and_follow_from_the_seed(tmp_path: Path) -> None:
    one, again, other = (tmp_path / f"{name}.tsv" for name in ("one", "again", "other"))
    for path, seed in ((one, 0), (again, 0), (other, 1)):
        command = ["data", "mathematics", "-o", str(path), "--count", "9000", "--seed", str(seed)]
        assert main(command) == 0
    assert one.read_text() == again.read_text() != other.read_text()
    labels = canonical(one, EVERYDAY)
    assert len(labels) == 9000
    counts = Counter(node.token for label in labels for node in to_nodes(label, EVERYDAY))
    assert [token for token in CROHME.tokens if counts[token] < 15] == []


def test_labels_are_as_short_as_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "short.tsv"
    options = ["--count", "300", "--longest", "5"]
    assert main(["data", "mathematics", "-o", str(path), *options]) == 0
    nodes = [to_nodes(label, EVERYDAY) for label in canonical(path, EVERYDAY)]
    assert max(sum(not node.ending for node in label) for label in nodes) == 5
