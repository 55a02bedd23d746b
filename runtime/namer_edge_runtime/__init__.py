"""namer-edge's runtime: handwritten formulas to LaTeX on the device, without PyTorch.

Names are imported when they are first used, so that `import namer_edge_runtime` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import NamerEdgeError
    from .model_file import ModelFile
    from .recognizer import Recognizer
    from .result import Result

__all__ = ["ModelFile", "NamerEdgeError", "Recognizer", "Result", "__version__"]

_HOMES = {
    "ModelFile": "model_file",
    "NamerEdgeError": "errors",
    "Recognizer": "recognizer",
    "Result": "result",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("namer-edge")
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
