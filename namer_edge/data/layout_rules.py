"""Layout by rules: proportions of a writer drawn at random, for ink without formulas to measure.

The rules are those of typography: which letters rise above the others and which hang below the
line, how far scripts are set off. How writers differ is drawn from wide ranges. Lengths are in
heights of a capital, y down, from a row's axis.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from namer_edge_runtime.formula.vocabulary import LIMITS
from namer_edge_runtime.ink.strokes import Strokes, bounds

from .layout_statistics import Proportions, Samples
from .sign_sizes import measured_like

AXIS = 0.45
"""Height of the axis above the baseline."""
DRAWS = 12
"""Samples of each kind of distance that make up a writer."""
INTEGRALS = ("\\int", "\\iint", "\\iiint", "\\oint")

# Top and bottom above the baseline: signs that are as high as that.
_HIGH = r"""
1.00 0.00 : A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 0 1 2 3 4 5 6 7 8 9 b d h k l i
1.00 0.00 : ! ? \Delta \delta \theta \lambda \forall \exists \% \&
0.85 0.00 : t
0.60 0.00 : a c e m n o r s u v w x z \alpha \pi \sigma \infty
0.60 -0.4 : g p q y \mu
1.00 -0.3 : f j \beta \phi \{ \} [ ] ( ) / \gamma
1.15 -0.2 : |
1.30 -0.4 : \sum
1.50 -0.6 : \int
0.80 0.10 : + \in \leq \geq \neq < >
0.70 0.15 : \times \div \pm
1.10 0.65 : \prime
0.10 -0.3 : ,
"""
# Width and height of the center above the baseline: signs that are as wide as that.
_WIDE = r"""
0.60 0.45 : - =
0.80 0.45 : \rightarrow \cdots
0.70 0.05 : \ldots
0.06 0.05 : .
0.08 0.45 : \cdot
"""


def _table(text: str) -> dict[str, tuple[float, float]]:
    rows = (row.split() for row in text.strip().splitlines())
    return {sign: (float(row[0]), float(row[1])) for row in rows for sign in row[3:]}


HIGH, WIDE = _table(_HIGH), _table(_WIDE)
SMALL = frozenset("acemnorsuvwxzgpqy") | {"\\alpha", "\\pi", "\\sigma", "\\mu"}
"""Letters as high as an x; how high that is differs between writers."""


class LayoutRules:
    """Draws the proportions of writers; widths for heights are those of the `symbol_bank`."""

    def __init__(self, symbol_bank: Mapping[str, Sequence[Strokes]]) -> None:
        self.size: dict[str, float] = {}
        self.rise: dict[str, float] = {}
        for token, samples in symbol_bank.items():
            like = measured_like(token)
            aspect = float(np.median([_aspect(strokes) for strokes in samples]))
            if like in WIDE:
                width, center = WIDE[like]
                height = width / aspect
            else:
                top, bottom = HIGH.get(like, (1.0, 0.0))
                height, center = top - bottom, (top + bottom) / 2
                width = height * aspect
            self.size[token] = float(np.log(np.hypot(width, height)))
            self.rise[token] = AXIS - center

    def __contains__(self, relation: object) -> bool:
        """There are rules for all relations."""
        return True

    def writer(self, rng: np.random.Generator) -> Proportions:
        """The proportions of a writer."""

        def near(mean: tuple[float, float], spread: float, low: float = -9.0) -> Samples:
            """Samples about a habit of this writer, which lies in the range `mean`."""
            return np.maximum(rng.uniform(*mean) + spread * rng.standard_normal(DRAWS), low)

        def script(unit: Samples, across: Samples, down: Samples) -> Samples:
            return np.column_stack([np.log(unit), across, down])

        smaller = rng.normal(0, 0.12)  # of letters without a rise
        own = {token: rng.normal(0, 0.07) for token in self.size}
        lifted = {token: rng.normal(0, 0.04) for token in self.size}
        size = {
            token: value + own[token] + smaller * (token in SMALL)
            for token, value in self.size.items()
        }
        rise = {
            token: value + lifted[token] - 0.3 * smaller * (token in SMALL)
            for token, value in self.rise.items()
        }
        script_size = near((0.5, 0.85), 0.06, 0.4)
        limit_size = near((0.45, 0.8), 0.06, 0.35)
        letters, operators = (0.0, 0.35), (0.1, 0.65)
        fractions = [
            *(np.log(near((0.75, 1.05), 0.05, 0.5)) for _ in range(2)),
            *(near((0.06, 0.3), 0.06, 0.02) for _ in range(2)),
            near((0.0, 0.3), 0.1, -0.05),
        ]
        roots = [
            np.log(near((0.85, 1.05), 0.05, 0.6)),
            near((0.3, 0.8), 0.08, 0.2),
            near((0.08, 0.35), 0.06, 0.02),
            near((0.0, 0.3), 0.1, -0.05),
            near((-0.05, 0.15), 0.06, -0.1),
        ]
        beside = [t for t in self.size if t in INTEGRALS and rng.random() < 0.75]
        return Proportions(
            size,
            rise | {"\\frac": rng.normal(0, 0.06)},
            float(rng.uniform(0.04, 0.16)),
            float(rng.uniform(0.02, 0.09)),
            {
                (False, False): near(letters, 0.08, -0.08),
                (True, False): near(operators, 0.1, -0.02),
                (False, True): near(operators, 0.1, -0.02),
                (True, True): near(operators, 0.1, 0.0),
            },
            {
                ("^", False): script(script_size, near((-0.02, 0.2), 0.06), near((0.0, 0.4), 0.08)),
                ("_", False): script(
                    script_size, near((-0.05, 0.15), 0.06), near((-0.35, 0.05), 0.08)
                ),
                ("^", True): script(
                    limit_size, near((-0.1, 0.2), 0.08), near((-0.35, -0.02), 0.06, -0.6)
                ),
                (LIMITS, True): script(
                    limit_size, near((-0.1, 0.1), 0.08), near((0.02, 0.35), 0.06, 0.0)
                ),
                (LIMITS, False): script(
                    limit_size, near((-0.3, 0.05), 0.06), near((-0.45, 0.0), 0.08)
                ),
            },
            np.column_stack(fractions),
            np.column_stack(roots),
            frozenset(beside),
        )


def _aspect(strokes: Strokes) -> float:
    """Width over height, within what lines have."""
    x0, y0, x1, y1 = bounds(strokes)
    return float(np.clip((x1 - x0) / max(y1 - y0, 1e-6), 0.1, 10.0))
