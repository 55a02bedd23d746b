"""Random formulas, and the real ones."""

from pathlib import Path

from hypothesis import strategies as st

from namer_edge_runtime.formula.vocabulary import END, Vocabulary

CROHME = Vocabulary.load("crohme")
HME100K = Vocabulary.load("hme100k")


def paths(vocabulary: Vocabulary, without: str = "") -> st.SearchStrategy[list[str]]:
    """Tokens of well-nested node paths, as wild as a decoder may return them."""
    symbols = st.sampled_from([s for s in vocabulary.symbols if s not in without.split()])
    relations = st.sampled_from(list(vocabulary.relations))

    def related(rows: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
        @st.composite
        def relation(draw: st.DrawFn) -> list[str]:
            token = draw(relations)
            arguments = [[*draw(rows), END] for _ in vocabulary.relations[token]]
            return [token, *(part for argument in arguments for part in argument)]

        return st.lists(st.one_of(symbols.map(lambda s: [s]), relation()), max_size=5).map(
            lambda atoms: [token for atom in atoms for token in atom]
        )

    return st.recursive(st.lists(symbols, max_size=4), related, max_leaves=12)


def read_labels(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)
