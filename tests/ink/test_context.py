"""InkML means what its contexts say: formats, transforms, brushes and prior traces by reference."""

from time import process_time

import numpy as np
import pytest

from namer_edge_runtime.errors import InkError
from namer_edge_runtime.ink.inkml import read_inkml

XY = '<traceFormat><channel name="X"/><channel name="Y"/></traceFormat>'
FXY = '<traceFormat><channel name="F"/><channel name="X"/><channel name="Y"/></traceFormat>'


def strokes(*parts: str) -> list[list[list[float]]]:
    """The strokes of an InkML file with these elements."""
    ink = read_inkml(f"<ink>{''.join(parts)}</ink>".encode(), "ink")
    return [np.round(stroke, 4).tolist() for stroke in ink.strokes]


def defined(*parts: str) -> str:
    return f"<definitions>{''.join(parts)}</definitions>"


ONE = [[[1, 2], [3, 4]]]


@pytest.mark.parametrize(
    "head",
    [
        defined(f'<context id="other">{XY}</context>', f'<context id="c">{FXY}</context>'),
        defined(XY, f'<context id="c"><inkSource>{FXY}</inkSource></context>'),
        defined(
            XY,
            FXY.replace("<traceFormat", '<traceFormat id="f"', 1),
            '<context id="c" traceFormatRef="#f"/>',
        ),
        defined(
            XY, f'<inkSource id="s">{FXY}</inkSource>', '<context id="c" inkSourceRef="x.inkml#s"/>'
        ),
        defined(XY, f'<context id="d">{FXY}</context>', '<context id="c" contextRef="#d"/>'),
        defined(
            f'<context id="c" inkSourceRef="#s">{FXY}</context>',
            f'<inkSource id="s">{XY}</inkSource>',
        ),
    ],
    ids=["own", "of its source", "by reference", "of a referred source", "inherited", "own first"],
)
def test_a_trace_has_the_format_of_its_context(head: str) -> None:
    assert strokes(head, '<trace contextRef="#c">9 1 2, 8 3 4</trace>') == ONE
    assert (
        strokes(head, '<traceGroup contextRef="#c"><trace>9 1 2, 8 3 4</trace></traceGroup>') == ONE
    )


def test_a_context_among_the_traces_holds_for_those_after_it() -> None:
    first, second = "<trace>1 2 9, 3 4 9</trace>", "<trace>9 1 2, 9 3 4</trace>"
    assert strokes(XY, first, f"<context>{FXY}</context>", second) == ONE * 2
    assert strokes(XY, first, FXY, second) == ONE * 2
    source = f"<inkSource>{FXY}</inkSource>"
    assert strokes(XY, first, source, second, XY, first) == ONE * 3


def test_each_ink_part_has_names_of_its_own() -> None:
    parts = [
        f'<ink>{defined(f"""<context id="c">{format_}</context>""")}'
        f'<trace id="t" contextRef="#c">{text}</trace></ink>'
        for format_, text in ((XY, "1 2, 3 4"), (FXY, "9 1 2, 9 3 4"))
    ]
    for text in (
        f"<pages>{''.join(parts)}</pages>",
        "".join(f"<?xml version='1.0'?>{p}" for p in parts),
    ):
        assert [s.tolist() for s in read_inkml(text.encode(), "two").strokes] == ONE * 2


def test_ink_in_ink_without_end_takes_no_time() -> None:
    deep = 5_000
    text = "<ink>" * deep + "<trace>1 2, 3 4</trace>" + "</ink>" * deep
    started = process_time()
    assert [stroke.tolist() for stroke in read_inkml(text.encode()).strokes] == ONE
    assert process_time() - started < 5  # a tenth of a second is needed


def affine(text: str, canvas: str = "", mapping: str = 'type="affine"') -> str:
    transform = f"<canvasTransform><mapping {mapping}>{text}</mapping></canvasTransform>"
    return f"<context>{canvas}{transform}</context>"


@pytest.mark.parametrize(
    ("text", "placed"),
    [
        ("<affine>1 0 0, 0 -1 0</affine>", [[1, -2], [3, -4]]),
        ("<affine>0 1 10, -1 0 0</affine>", [[12, -1], [14, -3]]),
        ("<affine>2 0 0 0, 0 2 0 1, 0 0 1 0</affine>", [[2, 5], [6, 9]]),
        ("<affine>1 0 0 0 -1 0</affine>", [[1, -2], [3, -4]]),
        ("<affine>1 0, 0 -1</affine>", [[1, -2], [3, -4]]),
        ("1 0 0, 0 -1 0", [[1, -2], [3, -4]]),
        (
            '<bind source="Y"/><bind source="X"/><bind target="Y"/><bind target="X"/>'
            "<affine>-1 0 0, 0 1 5</affine>",
            [[6, -2], [8, -4]],
        ),
    ],
)
def test_a_canvas_transform_is_applied(text: str, placed: list[list[float]]) -> None:
    assert strokes(affine(text), "<trace>1 2, 3 4</trace>") == [placed]


def test_a_canvas_transform_comes_by_reference_and_in_steps() -> None:
    flip = '<mapping id="m" type="affine"><affine>1 0 0, 0 -1 0</affine></mapping>'
    move = '<mapping type="affine"><affine>1 0 7, 0 1 0</affine></mapping>'
    head = defined(
        flip,
        '<canvasTransform id="t"><mapping type="product"><mapping mappingRef="#m"/>'
        f'{move}</mapping></canvasTransform><context id="c" canvasTransformRef="#t"/>',
    )
    trace = "<trace{}>1 2, 3 4</trace>"
    assert strokes(head, trace.format(' contextRef="#c"')) == [[[8, -2], [10, -4]]]
    assert strokes(head, trace.format("")) == ONE


def test_the_canvas_says_which_way_its_axes_run() -> None:
    up = XY.replace('name="Y"', 'name="Y" orientation="-ve"')
    placed = affine("1 0 0, 0 1 0", f"<canvas>{up}</canvas>")
    assert strokes(placed, "<trace>1 2, 3 4</trace>") == [[[1, -2], [3, -4]]]
    assert strokes(f"<context>{up}</context>", "<trace>1 2, 3 4</trace>") == [[[1, -2], [3, -4]]]
    assert strokes(up, affine("1 0 0, 0 -1 0"), "<trace>1 2, 3 4</trace>") == [[[1, -2], [3, -4]]]


@pytest.mark.parametrize(
    ("mapping", "text", "why"),
    [
        ('type="lookup"', "<table>0 1, 2 3</table>", "type lookup"),
        ('type="mathml"', "", "type mathml"),
        ('type="affine"', "<affine>1 0 x, 0 1 0</affine>", "no number"),
        ('type="affine"', "<affine>1 0 nan, 0 1 0</affine>", "no finite"),
        ('type="affine"', "", "no finite"),
    ],
)
def test_a_mapping_that_is_not_read_is_refused(mapping: str, text: str, why: str) -> None:
    with pytest.raises(InkError, match=f"^ink: .*{why}"):
        strokes(affine(text, mapping=mapping), "<trace>1 2, 3 4</trace>")


def test_a_mapping_that_refers_to_itself_ends() -> None:
    circle = '<mapping id="m" type="product"><mapping mappingRef="#m"/></mapping>'
    head = defined(circle, '<context id="c" contextRef="#c"/>')
    ink = affine("", mapping='mappingRef="#m"')
    assert strokes(head, ink, '<trace contextRef="#c">1 2, 3 4</trace>') == ONE
    assert strokes(head, ink, "<trace>1 2, 3 4</trace>") == ONE


def source(x: str, y: str) -> str:
    told = "".join(
        f'<channelProperty channel="{axis}" name="resolution" value="{value}" units="1/cm"/>'
        for axis, value in (("X", x), ("Y", y))
    )
    return f"<inkSource>{XY}<channelProperties>{told}</channelProperties></inkSource>"


def test_units_and_resolution_say_how_long_the_axes_are() -> None:
    trace = "<trace>1 2, 3 4</trace>"
    assert strokes(f"<context>{source('100', '200')}</context>", trace) == [[[1, 1], [3, 2]]]
    units = (
        '<traceFormat><channel name="X" units="mm"/><channel name="Y" units="cm"/></traceFormat>'
    )
    assert strokes(units, trace) == [[[1, 20], [3, 40]]]
    for unknown in (source("0", "200"), source("x", "200"), source("inf", "1")):
        assert strokes(f"<context>{unknown}</context>", trace) == ONE


def test_devices_of_several_resolutions_share_a_canvas() -> None:
    coarse, fine = source("100", "100"), source("200", "200")
    parts = [f"<context>{coarse}</context>", "<trace>1 2, 3 4</trace>"]
    parts += [f"<context>{fine}</context>", "<trace>2 4, 6 8</trace>"]
    assert strokes(*parts) == ONE * 2


def test_continued_traces_are_one_stroke() -> None:
    pieces = (
        '<trace id="a" continuation="begin">1 2</trace><trace id="b">9 9</trace>'
        '<trace id="c" continuation="middle" priorRef="#a">3 4</trace>'
        '<trace id="d" continuation="end" priorRef="#c">5 6</trace>'
        '<trace id="e" continuation="begin">0 0</trace><trace continuation="end">0 1</trace>'
        '<trace id="f" continuation="end" priorRef="#none">7 7</trace>'
    )
    assert strokes(pieces) == [[[1, 2], [3, 4], [5, 6]], [[9, 9]], [[0, 0], [0, 1]], [[7, 7]]]
    group = '<traceGroup><annotation>x</annotation><traceView traceDataRef="#{}"/></traceGroup>'
    ink = read_inkml(f"<ink>{pieces}{group.format('d')}{group.format('b')}</ink>".encode())
    assert [symbol.strokes for symbol in ink.symbols] == [(0,), (1,)]


def test_defined_traces_are_ink_where_they_are_viewed() -> None:
    defs = defined('<trace id="a">1 2, 3 4</trace>', '<trace id="b">8 8, 9 9</trace>')
    assert strokes(defs, '<traceView traceDataRef="#a"/>') == ONE
    assert len(strokes(defs)) == 2


def brush(name: str, *properties: tuple[str, str]) -> str:
    inner = "".join(f'<brushProperty name="{n}" value="{v}"/>' for n, v in properties)
    return f'<brush id="{name}">{inner}</brush>'


PEN = brush("pen", ("color", "#000000"), ("transparency", "0"), ("rasterOp", "copyPen"))


@pytest.mark.parametrize(
    "other",
    [
        brush("b", ("rasterOp", "maskPen")),
        brush("b", ("transparency", "128")),
        brush("b", ("transparency", "0.6")),
        brush("b", ("isHighlighter", "true")),
        '<brush id="b" brushRef="#m"/>' + brush("m", ("rasterOp", "maskPen")),
    ],
)
def test_highlights_are_left_out_beside_a_pen(other: str) -> None:
    written, marked = "<trace {}>1 2, 3 4</trace>", '<trace brushRef="#b">0 0, 9 9</trace>'
    head = defined(PEN, other)
    assert strokes(head, written.format('brushRef="#pen"'), marked) == ONE
    assert strokes(head, marked, written.format("")) == ONE
    assert strokes(head, marked) == [[[0, 0], [9, 9]]]  # whoever writes with a marker


def test_an_eraser_cuts_what_was_drawn_before_it() -> None:
    rubber = brush("b", ("tool", "eraser"), ("width", "4"))
    lines = "<trace>0 0, 20 0</trace><trace>0 50, 20 50</trace>"
    through = '<trace brushRef="#b">10 -5, 10 5</trace>'
    after = "<trace>10 -5, 10 5</trace>"
    left, right, below, down = strokes(defined(PEN, rubber), lines, through, after)
    assert (left[0], right[-1]) == ([0, 0], [20, 0])
    assert left[-1][0] == pytest.approx(8, abs=0.3)
    assert right[0][0] == pytest.approx(12, abs=0.3)
    assert (below, down) == ([[0, 50], [20, 50]], [[10, -5], [10, 5]])
    with pytest.raises(InkError, match="no strokes"):
        strokes(defined(rubber), through)


def test_ink_far_from_the_origin_stays_sharp() -> None:
    (stroke,) = strokes("<trace>1700000000 5, 1700000001 6, 1700000003 9</trace>")
    assert np.diff(stroke, axis=0).tolist() == [[1, 1], [2, 3]]
