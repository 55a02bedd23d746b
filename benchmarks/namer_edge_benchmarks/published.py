"""Tables 1 and 2 of the paper as published: percent exact, with at most one and two errors."""

from dataclasses import dataclass

CROHME = ("2014", "2016", "2019")
HME100K = "HME100K"
Rates = tuple[float | None, float | None, float | None]
NONE: Rates = (None, None, None)


@dataclass(frozen=True)
class Method:
    """A row of a table; with `augmented` it was trained on changed pictures as well,
    None where its row does not say."""

    name: str
    augmented: bool | None
    rates: tuple[Rates, ...]
    """Rates by set; a set that was not reported is missing."""


def _rows(augmented: bool, text: str) -> list[Method]:
    """Lines `name: three rates, three rates, …`; a dash is a rate that was not reported."""
    methods = []
    for line in text.strip().splitlines():
        name, _, numbers = line.partition(": ")
        found = [None if n == "-" else float(n) for n in numbers.split()]
        rates = tuple((a, b, c) for a, b, c in zip(*[iter(found)] * 3, strict=True))
        methods.append(Method(name.strip(), augmented, rates))
    return methods


TABLE_1 = [
    *_rows(
        False,
        """
UPV: 37.22 44.22 47.26 - - - - - -
TOKYO: - - - 43.94 50.91 53.70 - - -
WAP: 46.55 61.16 65.21 44.55 57.10 61.55 - - -
PAL: 39.66 56.80 65.11 - - - - - -
TAP (*): 48.47 63.28 67.34 44.81 59.72 62.77 - - -
DWAP: 50.10 - - 47.50 - - - - -
DWAP-MSA: 52.80 68.10 72.00 50.10 63.80 67.40 47.70 59.50 63.30
DLA: 49.85 - - 47.34 - - - - -
PAL-V2: 48.88 64.50 69.78 49.61 64.08 70.27 - - -
WS-WAP: 53.65 - - 51.96 64.34 70.10 - - -
TreeDecoder: 49.10 64.20 67.80 48.50 62.30 65.30 51.40 66.10 69.10
BTTR: 53.96 66.02 70.28 52.31 63.90 68.61 52.96 65.97 69.14
SSD: 53.10 66.00 71.30 51.70 64.70 70.10 53.20 67.60 73.60
TSDNet: 54.70 68.85 74.48 52.48 68.26 73.41 56.34 72.97 77.84
SAN: 56.20 72.60 79.20 53.60 69.60 76.80 53.50 69.30 70.1
ABM: 56.85 73.73 81.24 52.92 69.66 78.73 53.96 71.06 78.65
CAN-ABM: 57.26 74.52 82.03 56.15 72.71 80.30 55.96 72.73 80.57
TD-V2: 53.62 - - 55.18 - - 58.72 - -
CoMER (+): 58.57 - - 57.89 - - 59.71 - -
SAM-CAN: 58.01 - - 56.67 - - 57.96 - -
GCN (*): 60.00 - - 58.94 - - 61.63 - -
NAMER: 60.51 75.03 82.25 60.24 73.50 80.21 61.72 75.31 82.07
""",
    ),
    *_rows(
        True,
        """
BTTR (+): 55.17 67.85 72.11 56.58 68.88 74.19 59.55 72.23 76.06
Ding et al.: 58.72 - - 57.72 70.01 76.37 61.38 75.15 80.23
CAN-ABM (+): 62.47 - - 59.81 - - 61.72 - -
CoMER: 59.33 71.70 75.66 59.81 74.37 80.30 62.97 77.40 81.40
CoMER (+): 63.35 - - 60.06 - - 62.21 - -
GCN (*): 64.47 - - 62.51 - - 64.05 - -
NAMER: 64.77 78.38 85.08 64.17 76.11 83.26 66.64 80.32 85.15
""",
    ),
]
"""CROHME, the sets of `CROHME`. (*) used more than the picture, such as strokes or further
classes; (+) trained anew by the paper's authors."""

TABLE_2 = _rows(
    False,
    """
DWAP: 61.85 70.63 77.14
TreeDecoder: 62.60 79.05 85.67
BTTR: 64.10 - -
TD-V2 (+): 66.44 - -
SAN: 67.10 - -
CAN: 67.31 82.93 89.17
CoMER (+): 67.90 79.84 88.03
NAMER: 68.52 83.10 89.30
""",
)
"""HME100K."""
