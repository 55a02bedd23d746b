"""Charts: matplotlib figures of a few panels, and how they are written."""

from io import BytesIO
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from namer_edge_runtime.atomic import atomic_file


def panels(
    count: int, width: float, height: float, *, side_by_side: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels of `width` x `height` inches, and their axes."""
    rows, columns = (1, count) if side_by_side else (count, 1)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def save(path: Path, figure: Figure) -> None:
    """Writes a PNG atomically; raises `UsageError` where it cannot be written."""
    png = BytesIO()
    figure.savefig(png, format="png")
    with atomic_file(path) as file:
        file.write(png.getvalue())
