"""Validation during training, by the same recognizer that a device runs."""

from collections.abc import Sequence

from namer_edge_runtime.decode.options import DecodingOptions
from namer_edge_runtime.errors import NamerEdgeError
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognizer import Recognizer

from ..autoregressive.model import AutoregressiveModel
from ..autoregressive.recognizer import AutoregressiveRecognizer
from ..data.formula import Formula
from ..evaluation.exprate import Prediction, rate
from ..model.engine import TorchEngine
from ..model.namer import Namer


def validate(
    model: Namer | AutoregressiveModel,
    preprocessing: Preprocessing,
    formulas: Sequence[Formula],
    decoding: DecodingOptions,
    device: str = "cpu",
) -> dict[str, float]:
    """ExpRate, ≤ 1 and ≤ 2 in percent over all `formulas`.

    `decoding` is for a NAMER; an autoregressive model decodes greedily.
    """
    recognizer: Recognizer | AutoregressiveRecognizer
    if isinstance(model, AutoregressiveModel):
        recognizer = AutoregressiveRecognizer(model, preprocessing, device=device)
    else:
        engine = TorchEngine.of(model, device)
        recognizer = Recognizer(engine, preprocessing, model.vocabulary, decoding)
    answers = recognizer.each([formula.source for formula in formulas], batch_size=8)
    predictions = [
        Prediction(f.name, f.tokens, None, str(answer))
        if isinstance(answer, NamerEdgeError)
        else Prediction(f.name, f.tokens, tuple(answer.canonical.split()))
        for f, answer in zip(formulas, answers, strict=True)
    ]
    result = rate(predictions)
    return {
        "exprate": result.exprate,
        "exprate_le1": result.exprate_le1,
        "exprate_le2": result.exprate_le2,
    }
