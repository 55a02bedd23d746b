"""How time grows with tokens, picture size and nodes: `namer-edge benchmark --scaling`."""

import pytest

from namer_edge_benchmarks.scaling import Chart, Curve, chart_page, scaling
from namer_edge_runtime import command

from .small_baselines import small_baselines


def test_writing_token_by_token_takes_longer_for_longer_formulas_and_namer_hardly() -> None:
    charts = scaling(small_baselines(), (5, 41), ((48, 64), (48, 96)), (10, 120), rounds=1)
    tokens, pictures, path = charts
    growth = {curve.name: curve.growth for curve in tokens.curves}
    namer = growth.pop("NAMER")
    assert len(growth) == 3
    # Eight times as many tokens are as many more steps; NAMER's are all in the same two passes.
    assert all(rival > namer for rival in growth.values())
    assert [curve.name for curve in pictures.curves][:2] == ["encoder", "NAMER"]
    assert path.curves[0].growth > 1.0  # twelve times the nodes


CHART = Chart(
    "Time",
    "tokens",
    (Curve("flat", (1, 2, 4), (3.0, 3.0, 3.0)), Curve("steep", (1, 2, 4), (1.0, 9.0, 81.0))),
)


def test_curves_are_rows_of_a_table() -> None:
    assert "| steep | 1.00 | 9.00 | 81.00 | 81.0 x |" in chart_page([CHART])


def test_curves_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    from namer_edge_benchmarks.charts import draw_curves

    first, second = draw_curves([CHART, CHART]).axes
    assert first.get_yscale() == second.get_yscale() == "log"
    assert [line.get_ydata().tolist() for line in second.lines] == [[3, 3, 3], [1, 9, 81]]
    assert [line.get_label() for line in first.lines] == ["flat", "steep"]


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
