"""The one table of what a checkpoint can be exported to; help and validation come from it."""

import difflib
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from namer_edge_runtime.errors import MissingExtraError, UsageError
from namer_edge_runtime.verbs.options import as_written


@dataclass(frozen=True)
class Target:
    """One row: a format in one precision, where it runs, and the options it takes."""

    format: str
    precision: str
    engine: str
    devices: tuple[str, ...]
    needs: tuple[str, ...] = ()
    """Options without which it is not made."""
    takes: tuple[str, ...] = ()
    """Further options."""
    packages: tuple[str, ...] = ()
    """Packages it needs beside those that all targets need."""


INTEL = ("cpu", "gpu", "npu", "auto")
TARGETS = (
    Target(
        "onnx",
        "fp32",
        "onnxruntime",
        ("cpu", "cuda", "tensorrt", "coreml"),
        takes=("--verify",),
    ),
    Target("onnx", "fp16", "onnxruntime", ("cuda", "tensorrt", "coreml", "cpu")),
    Target(
        "onnx",
        "int8",
        "onnxruntime",
        ("cpu",),
        ("--calibration", "--eval"),
        ("--max-drop", "--profile", "--explain", "--explain-worst"),
    ),
    Target(
        "openvino",
        "fp32",
        "openvino",
        INTEL,
        takes=("--verify",),
        packages=("openvino",),
    ),
    Target("openvino", "fp16", "openvino", INTEL, packages=("openvino",)),
    Target(
        "openvino",
        "int8",
        "openvino",
        INTEL,
        ("--calibration", "--eval"),
        ("--max-drop",),
        packages=("openvino", "nncf"),
    ),
    Target("torch", "fp16", "torch", ("cpu", "cuda")),
)
MEANING = {
    "--calibration": "formulas as they are read, best of the training set (a pack, InkML, a zip)",
    "--eval": "a labeled set that accuracy is measured on, 500 formulas or more",
}


def find_target(format: str, precision: str | None = None) -> Target:
    """The row for a format and a precision, its first one for None.

    Raises `UsageError` with what there is instead.
    """
    formats = sorted({target.format for target in TARGETS})
    if format not in formats:
        close = difflib.get_close_matches(format, formats, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(formats)}"
        raise UsageError(f"no format {format!r}: {hint}")
    precisions = [target.precision for target in TARGETS if target.format == format]
    precision = precision or precisions[0]
    if precision not in precisions:
        raise UsageError(
            f"format {format!r} has no precision {precision!r}, only {', '.join(precisions)}"
        )
    return next(t for t in TARGETS if (t.format, t.precision) == (format, precision))


def check_options(target: Target, **given: Any) -> None:
    """Raises `UsageError` where `given` (None: not given) lacks an option that the target needs,
    or has one that it does not take."""
    options = {as_written([name]) for name, value in given.items() if value is not None}
    name = f"{target.format} {target.precision}"
    missing = [option for option in target.needs if option not in options]
    if missing:
        wanted = "; ".join(f"{option} DATA ({MEANING[option]})" for option in missing)
        raise UsageError(f"{name} cannot be made without data: give {wanted}")
    known = (*target.needs, *target.takes)
    foreign = sorted(options - set(known))
    if foreign:
        raise UsageError(
            f"{name} has no use for {', '.join(foreign)}: it takes {', '.join(known) or 'neither'}"
        )


def check_packages(target: Target) -> None:
    """Raises `MissingExtraError` where something that the target is made with is not installed."""
    for package in target.packages:
        if find_spec(package) is None:
            missing = MissingExtraError.of(ModuleNotFoundError(name=package))
            raise MissingExtraError(f"{target.format} {target.precision}: {missing}")


def table() -> str:
    """All rows, for help."""
    return "\n".join(
        f"  {t.format:9} {t.precision:5} runs on {t.engine} ({', '.join(t.devices)})"
        + (f"; needs {' and '.join(t.needs)}" if t.needs else "")
        for t in TARGETS
    )
