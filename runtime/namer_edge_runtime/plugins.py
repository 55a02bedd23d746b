"""Verbs and engines by name: the packaged ones from tables, those of other packages by entry point.

A frozen program, a zip or an installation without `*.dist-info` has no entry points, so what ships
here needs none.
"""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

VERBS = "namer_edge.verbs"
"""Verb → its module; the command imports only the one asked for."""
ENGINES = "namer_edge.engines"
"""Engine → its class."""

PACKAGED: Mapping[str, Mapping[str, str]] = {
    VERBS: {
        "recognize": "namer_edge_runtime.verbs.recognize",
        "check": "namer_edge_runtime.verbs.check",
        "demo": "namer_edge_runtime.verbs.demo",
        "page": "namer_edge_runtime.verbs.page",
        "symbols": "namer_edge_runtime.verbs.symbols",
        "train": "namer_edge.verbs.train",
        "evaluate": "namer_edge.verbs.evaluate",
        "data": "namer_edge.verbs.data",
        "ablate": "namer_edge.verbs.ablate",
        "explain": "namer_edge.verbs.explain",
        "teacher-report": "namer_edge.verbs.teacher_report",
        "export": "namer_edge_export.verb",
        "benchmark": "namer_edge_benchmarks.verb",
    },
    ENGINES: {
        "onnxruntime": "namer_edge_runtime.engine.onnxruntime:OnnxRuntimeEngine",
        "openvino": "namer_edge_runtime.engine.openvino:OpenVinoEngine",
        "torch": "namer_edge.model.engine:TorchEngine",
    },
}
"""Group of entry points → name → module, or module:class. A packaged name cannot be taken over."""


def plugins(group: str) -> dict[str, EntryPoint]:
    """Entry points of a group, sorted by name and not loaded yet."""
    packaged = [EntryPoint(name, value, group) for name, value in PACKAGED[group].items()]
    found = {point.name: point for point in (*entry_points(group=group), *packaged)}
    return dict(sorted(found.items()))
