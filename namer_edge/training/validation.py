"""How well a model reads while it is trained: through the same recogniser that a device runs."""

from collections.abc import Sequence

from namer_edge_runtime.decode.options import Decoding
from namer_edge_runtime.errors import NamerEdgeError
from namer_edge_runtime.preprocessing import Look
from namer_edge_runtime.recognizer import Recognizer

from ..autoregressive.model import Recogniser
from ..autoregressive.recognizer import Reader
from ..data.formula import Formula
from ..evaluation.exprate import Reading, rate
from ..model.engine import TorchEngine
from ..model.namer import Namer


def validate(
    model: Namer | Recogniser,
    look: Look,
    formulas: Sequence[Formula],
    decoding: Decoding,
    device: str = "cpu",
) -> dict[str, float]:
    """ExpRate, ≤ 1 and ≤ 2 in percent over all `formulas`.

    A NAMER reads as `decoding` says; an autoregressive recogniser decodes greedily.
    """
    recognizer: Recognizer | Reader
    if isinstance(model, Recogniser):
        recognizer = Reader(model, look, device=device)
    else:
        engine = TorchEngine.of(model, device)
        recognizer = Recognizer(engine, look, model.vocabulary, decoding)
    answers = recognizer.each([formula.source for formula in formulas], batch_size=8)
    readings = [
        Reading(f.name, f.tokens, None, str(answer))
        if isinstance(answer, NamerEdgeError)
        else Reading(f.name, f.tokens, tuple(answer.canonical.split()))
        for f, answer in zip(formulas, answers, strict=True)
    ]
    result = rate(readings)
    return {
        "exprate": result.exprate,
        "exprate_le1": result.exprate_le1,
        "exprate_le2": result.exprate_le2,
    }
