"""Charts of benchmark results."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from namer_edge.figures import panels

from .pareto import Point, front
from .scaling import Chart


def draw_curves(charts: Sequence[Chart]) -> Figure:
    """One chart below the other, milliseconds on a logarithmic scale."""
    figure, below = panels(len(charts), 9.0, 4.2)
    for axes, chart in zip(below, charts, strict=True):
        for curve in chart.curves:
            axes.plot(curve.axis, curve.milliseconds, marker="o", label=curve.name)
        axes.set(title=chart.title, xlabel=chart.axis, ylabel="ms", yscale="log")
        axes.grid(alpha=0.4)
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def draw_front(found: Sequence[Point]) -> Figure:
    """Exact answers against formulas a second on a logarithmic scale, with a line through the
    Pareto front."""
    figure, [axes] = panels(1, 11.0, 5.2)
    best = front(found)
    axes.plot([p.fps for p in best], [p.exact for p in best], color="gray", linewidth=1)
    for number, point in enumerate(found, 1):
        axes.scatter(point.fps, point.exact, label=f"{number}  {point.name}")
        axes.annotate(str(number), (point.fps, point.exact), (4, 4), textcoords="offset points")
    axes.set(xlabel="formulas a second", ylabel="exact, %", xscale="log")
    axes.set_title("Accuracy against speed; the line joins what nothing beats in both")
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.xaxis.set_minor_formatter(EngFormatter())
    axes.grid(alpha=0.4)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure
