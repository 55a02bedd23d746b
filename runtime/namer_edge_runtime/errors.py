"""Typed errors of the project: each says what is wrong and what to do about it.

Each class carries the exit code that the command line ends with when it meets the error.
"""


class NamerEdgeError(Exception):
    """Base of all typed errors; `except NamerEdgeError` catches every one of them."""

    exit_code = 1


class LatexError(NamerEdgeError):
    """LaTeX that cannot be read; the message names the token and its place."""


class InkError(NamerEdgeError):
    """An InkML file or a list of strokes that cannot be used; the message names file and reason."""


class PictureError(NamerEdgeError):
    """A picture that cannot be opened or is outside the size limits."""


class UnreadableError(PictureError):
    """A picture with ink in it, of which no formula can be read."""


class DataError(NamerEdgeError):
    """A data set, label file or folder that is missing or not in the expected form."""


class ModelFileError(NamerEdgeError):
    """A model file with a missing or altered part, or of a format this version does not know."""

    exit_code = 2


class CheckpointError(NamerEdgeError):
    """A training checkpoint that is missing, incomplete or belongs to another model."""


class ConfigError(NamerEdgeError):
    """A training configuration with an unknown key or an impossible value."""

    exit_code = 2


class TrainingError(NamerEdgeError):
    """A training run that cannot go on: a loss that is no number, memory that is not enough."""


class UsageError(NamerEdgeError):
    """A call or command line that asks for something that does not exist."""

    exit_code = 2


class ExportError(NamerEdgeError):
    """A model that could not be exported, or that no longer agrees with its source."""


class EngineError(NamerEdgeError):
    """An inference engine or device that is not there or failed to run."""

    exit_code = 3


class BusyError(NamerEdgeError):
    """A server that has too much to do already; come again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


EXTRAS = {
    "torch": "train",
    "scipy": "train",
    "safetensors": "train",
    "tensorboard": "train",
    "matplotlib": "charts",
    "onnx": "export",
    "onnxscript": "export",
    "openvino": "openvino",
    "ray": "ray",
    "pillow_heif": "heif",
    "nncf": "export",
    "starlette": "demo",
    "uvicorn": "demo",
    "websockets": "demo",
    "python_multipart": "demo",
}
"""Package that may be absent → the extra that brings it."""


class MissingExtraError(NamerEdgeError):
    """A part of the project whose optional dependencies are not installed."""

    exit_code = 3

    @classmethod
    def of(cls, error: ModuleNotFoundError) -> "MissingExtraError":
        """Says what to install after this import failed."""
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        repair = f"pip install 'namer-edge[{extra}]'" if extra else "install namer-edge again"
        return cls(f"{error.name} is not installed: {repair}")
