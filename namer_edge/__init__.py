"""namer-edge: handwritten mathematics to LaTeX on the device that holds the pen (NAMER, ECCV 2024).

`from namer_edge import Recognizer` needs no PyTorch; training and export live in subpackages.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from namer_edge_runtime import ModelFile, NamerEdgeError, Recognizer, Result

__all__ = ["ModelFile", "NamerEdgeError", "Recognizer", "Result", "__version__"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        import namer_edge_runtime

        return getattr(namer_edge_runtime, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
