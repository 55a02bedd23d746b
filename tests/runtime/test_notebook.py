"""A recognizer in a notebook and in an editor: what it shows, and what its answers are typed as."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from mypy import api

from namer_edge_runtime.recognizer import Recognizer

from .drawing import picture

ROOT = Path(__file__).parents[2]
CALLS = {
    'r("a.png")': "Result",
    "r(picture)": "Result",
    "r([[(0, 0), (1, 2)], [(3, 4.5)]])": "Result",
    'r(["a.png", "b.png"])': "list[Result]",
    'r([Path("a.png"), b""])': "list[Result]",
    'r(("a.png", "b.png"))': "list[Result]",
    "r([[[(0, 0), (1, 2)]], [[(3, 4)]]])": "list[Result]",
    "r([picture, picture])": "Any",
    "r.strokes([[(0, 0), (1, 2)]])": "Result",
}


def test_a_notebook_shows_the_formula(recognizer: Recognizer) -> None:
    result = recognizer(picture("1 ^ 1"), alternatives=1)
    for reading in (result, *result.alternatives):
        page = ElementTree.fromstring(f"<p>{reading._repr_html_()}</p>")
        assert page[0].tag.endswith("math")
        assert f"score {reading.score:.2f}" in "".join(page.itertext())
    assert "<code>1^1</code>" in result._repr_html_()
    assert result._repr_latex_() == "$\\displaystyle 1^1$"


def test_a_notebook_shows_that_nothing_was_read(recognizer: Recognizer) -> None:
    blank = recognizer(np.full((40, 90), 255, np.uint8))
    assert "nothing read" in blank._repr_html_()
    assert "<math" not in blank._repr_html_()
    assert blank._repr_latex_() == ""


def test_a_recognizer_says_what_it_is(recognizer: Recognizer) -> None:
    said = repr(recognizer)
    assert f"{recognizer.vocabulary.size} classes" in said
    assert f"fp32 on onnxruntime ({recognizer.engine.device})" in said


@pytest.mark.slow
def test_lists_and_single_inputs_are_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = [
        "from pathlib import Path",
        "from typing import Any",
        "from numpy.typing import NDArray",
        "from namer_edge_runtime.recognizer import Recognizer",
        "def check(r: Recognizer, picture: NDArray[Any]) -> None:",
        *(f"    reveal_type({call})" for call in CALLS),
    ]
    (tmp_path / "calls.py").write_text("\n".join(lines) + "\n")
    told, errors, _ = api.run([str(tmp_path / "calls.py")])
    found = re.findall(r'Revealed type is "(.*)"', told)
    kinds = [re.sub(r"\b(\w+\.)+", "", kind) for kind in found]
    assert kinds == list(CALLS.values()), told + errors
