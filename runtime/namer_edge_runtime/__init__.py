"""namer-edge's runtime: handwritten formulas to LaTeX on the device, without PyTorch.

Names are imported when they are first used, so that `import namer_edge_runtime` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import NamerEdgeError
    from .model_file import ModelFile
    from .recognizer import Recognizer
    from .result import Result

__version__ = "0.1.0"
"""Stands here alone: the build reads it, and no metadata is needed to know it."""

__all__ = ["ModelFile", "NamerEdgeError", "Recognizer", "Result", "__version__"]

_HOMES = {
    "ModelFile": "model_file",
    "NamerEdgeError": "errors",
    "Recognizer": "recognizer",
    "Result": "result",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
