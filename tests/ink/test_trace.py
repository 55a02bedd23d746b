"""Points are written in many ways, and x and y come out of each."""

from time import process_time
from xml.etree import ElementTree

import pytest

from namer_edge_runtime.ink.trace import Channels, read_points, read_runs

XY = Channels()


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("1 2, 3 4", [[1, 2], [3, 4]]),
        ("\n1 2,3 4,\n", [[1, 2], [3, 4]]),
        ("0.5 -2e1", [[0.5, -20]]),
        ("1 2 77, 3 4 78", [[1, 2], [3, 4]]),
        ("1 2 77, 3 4", [[1, 2], [3, 4]]),
        ("1 2, nan 4, 3 inf, 5 6", [[1, 2], [5, 6]]),
        ("1 2, 3", [[1, 2]]),
        ("", []),
        (" , ", []),
        ("no numbers", []),
    ],
)
def test_plain_points(text: str, points: list[list[float]]) -> None:
    assert read_points(text, XY).tolist() == points


@pytest.mark.parametrize(
    ("text", "points"),
    [
        # The example of the InkML recommendation: second point by first differences, and so on.
        (
            "1125 18432,'23'43,\"7\"-8,3-5,7 -3,6 2",
            [
                [1125, 18432],
                [1148, 18475],
                [1178, 18510],
                [1211, 18540],
                [1251, 18567],
                [1297, 18596],
            ],
        ),
        ("10 20, ' 1 ' 2, 1 2, !5 !6, 7 8", [[10, 20], [11, 22], [12, 24], [5, 6], [7, 8]]),
        ("10 20, * 21, #1F ?", [[10, 20], [10, 21], [31, 21]]),
        # A wildcard goes on at the velocity or the acceleration that the mark is about.
        ("10 20, '2 '3, * *, 1 *, !0 *", [[10, 20], [12, 23], [14, 26], [15, 29], [0, 32]]),
        ("0 0, '1 '1, \"2 \"0, * *, * 1", [[0, 0], [1, 1], [4, 2], [9, 3], [16, 5]]),
        ("0 0, '5 '5, ? *, * ?", [[0, 0], [5, 5], [5, 10], [10, 10]]),
        ("-#A - 5, '-#1 ' -2", [[-10, -5], [-11, -7]]),
    ],
)
def test_points_in_the_compact_form(text: str, points: list[list[float]]) -> None:
    assert read_points(text, XY).tolist() == points


def channels(*names: str, orientation: str = "+ve") -> Channels:
    """The last of them has the orientation."""
    ways = ["+ve"] * (len(names) - 1) + [orientation]
    inner = "".join(
        f'<channel name="{n}" orientation="{way}"/>' for n, way in zip(names, ways, strict=True)
    )
    return Channels.of(ElementTree.fromstring(f"<ink><traceFormat>{inner}</traceFormat></ink>"))


@pytest.mark.filterwarnings("error")
def test_points_beyond_all_measure_are_left_out_quietly() -> None:
    assert read_points("1e39 0, 1 2, nan 3, 3 inf, 3 4", XY).tolist() == [[1, 2], [3, 4]]
    assert read_points("-3e38 0, 1 2, 1e16 3, 3 4", XY).tolist() == [[1, 2], [3, 4]]
    far = "F" * 400
    assert read_points(f"#{far} 0, #1 2", XY).tolist() == [[1, 2]]


def test_blanks_take_no_time() -> None:
    started = process_time()
    assert read_points("1 2, '3" + " " * 1_000_000 + "' 4 x", XY).tolist() == [[1, 2], [4, 6]]
    assert process_time() - started < 5  # a tenth of a second is needed


def test_the_format_says_which_channel_is_which() -> None:
    assert read_points("9 1 2, 8 3 4", channels("T", "X", "Y")).tolist() == [[1, 2], [3, 4]]
    assert read_points("2 1", channels("y", "x")).tolist() == [[1, 2]]


def test_declared_channels_that_are_not_written_do_no_harm() -> None:
    assert read_points("1 2, 3 4", channels("X", "Y", "F")).tolist() == [[1, 2], [3, 4]]
    assert read_points("1 2, 3 4", channels("F", "X", "Y")).tolist() == [[1, 2], [3, 4]]


def test_y_that_grows_upwards_is_turned_round() -> None:
    assert read_points("1 2", channels("X", "Y", orientation="-ve")).tolist() == [[1, -2]]


def test_x_that_grows_to_the_left_is_turned_round() -> None:
    assert read_points("2 1", channels("Y", "X", orientation="-ve")).tolist() == [[-1, 2]]


@pytest.mark.parametrize("tip", ["S", "F"])
@pytest.mark.parametrize(
    "text", ["1 2 1, 3 4 1, 5 6 0, 7 8 0, 9 9 1", "1 2 T, 3 4 T, 5 6 F, 7 8 *, 9 9 T"]
)
def test_where_the_tip_is_lifted_there_is_no_ink(tip: str, text: str) -> None:
    runs = read_runs(text, channels("X", "Y", tip))
    assert [run.tolist() for run in runs] == [[[1, 2], [3, 4]], [[9, 9]]]


def test_no_format_means_x_and_y_first() -> None:
    assert Channels.of(ElementTree.fromstring("<ink/>")) == XY
