"""The one table of what a checkpoint can be exported to; help and validation come from it."""

import difflib
from dataclasses import dataclass

from namer_edge_runtime.errors import UsageError


@dataclass(frozen=True)
class Target:
    """One row: a format in one precision, and where it runs."""

    format: str
    precision: str
    engine: str
    devices: tuple[str, ...]


TARGETS = (
    Target("onnx", "fp32", "onnxruntime", ("cpu", "cuda", "tensorrt", "coreml")),
    Target("torch", "fp16", "torch", ("cpu", "cuda")),
)


def find_target(format: str, precision: str) -> Target:
    """The row for a format and a precision; raises `UsageError` with what there is instead."""
    formats = sorted({target.format for target in TARGETS})
    if format not in formats:
        close = difflib.get_close_matches(format, formats, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(formats)}"
        raise UsageError(f"no format {format!r}: {hint}")
    precisions = [target.precision for target in TARGETS if target.format == format]
    if precision not in precisions:
        raise UsageError(
            f"format {format!r} has no precision {precision!r}, only {', '.join(precisions)}"
        )
    return next(t for t in TARGETS if (t.format, t.precision) == (format, precision))


def table() -> str:
    """All rows, for help."""
    return "\n".join(
        f"  {t.format:9} {t.precision:5} runs on {t.engine} ({', '.join(t.devices)})"
        for t in TARGETS
    )
