"""Fourteen troubles that users of other tools have had, each with tests here that show it gone.

A test named `test_tN_…` belongs to trouble N; `pytest -k test_tN_` runs those.
"""

import re
from pathlib import Path

import pytest

TROUBLES = {
    1: "A clean environment, any NumPy from 1.26 on: recognition without torch and its like.",
    2: "Two ONNX Runtimes, or CUDA asked for and absent: a typed error with the repair; the result "
    "names what ran.",
    3: "The same formula at 25 to 400 % and with pens of 1 to 8 pixels: the same LaTeX.",
    4: "Dark ground, clear ground with dark or light ink, turned by EXIF, 1-bit, 16-bit, gray and "
    "alpha, CMYK: as the plain picture.",
    5: "Blank, black, 1 x 1, 3000 x 20, 8k x 8k: an empty result, in bounded memory and time.",
    6: "A batch of mixed sizes reads as one by one on each engine; a bad file in it is named.",
    7: "Memory is flat after a thousand pictures of different sizes (`-m soak`).",
    8: "Eight threads on one object, pickled, forked and spawned, on each engine: as in series.",
    9: "Import, load, first call, next call, kernels: all times told; warming up takes the peak.",
    10: "What int8 costs in accuracy, size and time side by side; no export beyond the limit.",
    11: "torch = ONNX = OpenVINO at twenty sizes never exported, run twice, from the PNG on.",
    12: "No network, nothing that can be written, no HOME, few CPUs: works, and quietly.",
    13: "Two lines, a sign of no vocabulary, a cat: scores tell right from wrong.",
    14: "`x^2` and `x ^ { 2 }`: equal as formulas, not as strings; labels of both forms load.",
}
"""Number → what has to hold."""
TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("number", TROUBLES)
def test_each_has_its_tests(number: int) -> None:
    named = re.compile(rf"^def test_t{number}_", re.MULTILINE)
    assert any(named.search(path.read_text("utf-8")) for path in TESTS.rglob("test_*.py"))
