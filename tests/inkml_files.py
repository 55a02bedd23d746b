"""Small InkML files that the tests write themselves."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

MATHML = "http://www.w3.org/1998/Math/MathML"
INKML = "http://www.w3.org/2003/InkML"


def line(x0: float, y0: float, x1: float, y1: float) -> str:
    """Text of a straight trace."""
    return f"{x0} {y0}, {(x0 + x1) / 2} {(y0 + y1) / 2}, {x1} {y1}"


def inkml(
    traces: Sequence[str],
    groups: Sequence[tuple[str, Sequence[int], str | None]] = (),
    math: str = "",
    truth: str | None = None,
    head: str = "",
) -> str:
    """An InkML file: trace texts, groups (label, traces, href), inner MathML, truth annotation."""
    parts = [f'<ink xmlns="{INKML}">', head]
    if truth is not None:
        parts.append(f'<annotation type="truth">{escape(truth)}</annotation>')
    if math:
        parts.append(
            '<annotationXML type="truth" encoding="Content-MathML">'
            f'<math xmlns="{MATHML}">{math}</math></annotationXML>'
        )
    parts += [f'<trace id="{number}">{text}</trace>' for number, text in enumerate(traces)]
    if groups:
        parts.append('<traceGroup xml:id="all"><annotation type="truth">From ITF</annotation>')
        for number, (label, members, href) in enumerate(groups):
            views = "".join(f'<traceView traceDataRef="{member}"/>' for member in members)
            link = "" if href is None else f'<annotationXML href="{escape(href)}"/>'
            parts.append(
                f'<traceGroup xml:id="g{number}"><annotation type="truth">{escape(label)}'
                f"</annotation>{views}{link}</traceGroup>"
            )
        parts.append("</traceGroup>")
    return "\n".join([*parts, "</ink>"])


def boxes_as_symbols(
    symbols: Sequence[tuple[str, str, tuple[float, float, float, float]]],
) -> tuple[list[str], list[tuple[str, list[int], str | None]]]:
    """Traces and groups of symbols (label, href, box), each drawn as its box's diagonal."""
    traces = [line(*box) for _, _, box in symbols]
    groups: list[tuple[str, list[int], str | None]] = [
        (label, [number], href) for number, (label, href, _) in enumerate(symbols)
    ]
    return traces, groups
