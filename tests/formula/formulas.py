"""Random formulas, and the real ones."""

from pathlib import Path

from hypothesis import strategies as st

from namer_edge_runtime.formula.vocabulary import CELL, END, ROW, Vocabulary

CROHME = Vocabulary.load("crohme")
HME100K = Vocabulary.load("hme100k")
EVERYDAY = Vocabulary.load("everyday")


def paths(vocabulary: Vocabulary, without: str = "") -> st.SearchStrategy[list[str]]:
    """Tokens of well-nested node paths, as wild as a decoder may return them."""
    symbols = st.sampled_from([s for s in vocabulary.symbols if s not in without.split()])
    relations = st.sampled_from([*vocabulary.relations, *sorted(vocabulary.opens_rows)])

    def related(rows: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
        @st.composite
        def relation(draw: st.DrawFn) -> list[str]:
            token = draw(relations)
            if token in vocabulary.opens_rows:
                size = st.integers(1, 3)
                lines = [[draw(rows) for _ in range(draw(size))] for _ in range(draw(size))]
                return [token, *_parted([_parted(line, CELL) for line in lines], ROW), END]
            arguments = [[*draw(rows), END] for _ in vocabulary.relations[token]]
            return [token, *(part for argument in arguments for part in argument)]

        return st.lists(st.one_of(symbols.map(lambda s: [s]), relation()), max_size=5).map(
            lambda atoms: [token for atom in atoms for token in atom]
        )

    return st.recursive(st.lists(symbols, max_size=4), related, max_leaves=12)


def _parted(parts: list[list[str]], by: str) -> list[str]:
    return [token for part in parts for token in (by, *part)][1:]


def read_labels(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)
