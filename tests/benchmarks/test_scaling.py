"""How time grows with tokens, picture size and nodes: `namer-edge benchmark --scaling`."""

import numpy as np
import pytest

from namer_edge_benchmarks.charts import HEIGHT, WIDTH, chart_page, draw
from namer_edge_benchmarks.scaling import Chart, Curve, scaling
from namer_edge_runtime import command

from .small_baselines import small_entrants


def test_writing_token_by_token_takes_longer_for_longer_formulas_and_namer_hardly() -> None:
    charts = scaling(small_entrants(), (5, 41), ((48, 64), (48, 96)), (10, 120), rounds=1)
    tokens, pictures, path = charts
    growth = {curve.name: curve.growth for curve in tokens.curves}
    namer = growth.pop("NAMER")
    assert len(growth) == 3
    # Eight times as many tokens are as many more steps; NAMER's are all in the same two passes.
    assert all(rival > namer for rival in growth.values())
    assert [curve.name for curve in pictures.curves][:2] == ["encoder", "NAMER"]
    assert path.curves[0].growth > 1.0  # twelve times the nodes


def test_curves_are_drawn_and_told() -> None:
    curves = (
        Curve("flat", (1, 2, 4), (3.0, 3.0, 3.0)),
        Curve("steep", (1, 2, 4), (1.0, 9.0, 81.0)),
    )
    chart = Chart("Time", "tokens", curves)
    page = chart_page([chart])
    assert "| steep | 1.00 | 9.00 | 81.00 | 81.0 x |" in page
    picture = draw([chart, chart])
    assert picture.shape == (2 * HEIGHT, WIDTH, 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 4


@pytest.mark.parametrize(
    "words",
    [
        ["--scaling", "--paper"],
        ["--scaling", "data.npz"],
        ["--paper", "--plot", "out.png"],
        ["--accuracy", "2014=test.npz", "--peer", "other=adapter:read"],
        ["--accuracy", "2014=test.npz", "data.npz"],
        ["--lengths", "dwap=weights.safetensors"],
    ],
)
def test_options_that_do_not_go_together_are_refused(words: list[str]) -> None:
    assert command.main(["benchmark", *words]) == 2
