"""A model file read from end to end beside decoders: from its input to LaTeX."""

from dataclasses import dataclass, field

from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer


@dataclass
class Whole:
    """Milliseconds, one for each picture."""

    name: str
    milliseconds: list[float] = field(default_factory=list)
    exact: int = 0
    """Pictures whose tokens are all those of the label."""


def open_whole(model: str | None, threads: int) -> dict[str, Recognizer]:
    """The model as shipped and, where it looks again at what it is unsure of, with one pass; both
    on the CPU, by name. Raises the typed errors of model and engine."""
    file = ModelFile.open(model)
    name = f"{file.name} {file.precision}"
    shipped = Recognizer.from_pretrained(model, threads=threads)
    found = {f"{name}, as shipped": shipped}
    if shipped.decoding.tta_scales:
        found[f"{name}, one pass"] = Recognizer.from_pretrained(
            model, threads=threads, one_look=True
        )
    return found
