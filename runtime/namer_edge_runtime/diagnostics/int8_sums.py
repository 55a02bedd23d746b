"""The probe of int8 sums on every engine that is installed."""

from importlib.util import find_spec

from ..engine.base import open_engine
from ..engine.int8_sums import sums_of
from ..model_file import ModelFile


def sums_here() -> dict[str, str]:
    """Engines that are installed → the outcome of the probe on their CPU."""
    model = ModelFile.open()
    return {
        name: sums_of(open_engine(name, model, threads=1))
        for name in ("onnxruntime", "openvino")
        if find_spec(name) is not None
    }
