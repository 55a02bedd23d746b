"""The recognizer of an autoregressive model, with the interface of `Recognizer.each`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import torch

from namer_edge_runtime.errors import LatexError, NamerEdgeError, UsageError
from namer_edge_runtime.formula.latex import compact
from namer_edge_runtime.inputs import LoadedInput, open_input
from namer_edge_runtime.preprocessing import Prepared, Preprocessing
from namer_edge_runtime.recognition.batching import by_padded_size
from namer_edge_runtime.result import Milliseconds, Result

from .beam_search import Hypothesis, read
from .model import AutoregressiveModel


@dataclass(frozen=True)
class EngineInfo:
    """Device, name and precision, as of `Recognizer.engine`."""

    device: str
    name: str = "torch"
    precision: str = "fp32"


class AutoregressiveRecognizer:
    """Recognizes pictures and ink as `Recognizer.each` does, for evaluation and benchmarks.

    Batches hold pictures of one padded size.
    """

    def __init__(
        self,
        model: AutoregressiveModel,
        preprocessing: Preprocessing,
        beam: int = 1,
        *,
        longest: int | None = None,
        cached: bool = True,
        device: str = "cpu",
        as_picture: bool = False,
    ) -> None:
        """Puts the model into eval mode and onto `device`; `beam` 1 is greedy decoding, `longest`
        defaults to the model's, `as_picture` is that of `Recognizer`."""
        self.model = model.eval().to(device)
        self.preprocessing, self.beam, self.cached = preprocessing, beam, cached
        self.as_picture = as_picture
        self.longest = longest or model.longest
        self.engine = EngineInfo(device)

    def each(
        self, inputs: Sequence[Any], batch_size: int = 8, alternatives: int = 0
    ) -> list[Result | NamerEdgeError]:
        """A result or the error for each input, in order.

        Results have no tokens with positions. Raises `UsageError` for `alternatives`.
        """
        if alternatives:
            raise UsageError("an autoregressive recognizer gives one reading: ask for no others")
        answers: dict[int, Result | NamerEdgeError] = {}
        pages: list[tuple[int, Prepared, float]] = []
        for number, value in enumerate(inputs):
            started = perf_counter()
            try:
                prepared = self._prepared(value)
            except NamerEdgeError as error:
                answers[number] = error
                continue
            spent = (perf_counter() - started) * 1000
            if prepared.blank:
                answers[number] = self._result((), 0.0, Milliseconds(prepare=spent))
                continue
            pages.append((number, prepared, spent))
        for batch in by_padded_size(pages, batch_size, lambda page: page[1]):
            answers.update(self._batch(batch))
        return [answers[number] for number in range(len(inputs))]

    def _prepared(self, value: Any) -> Prepared:
        if not isinstance(value, Prepared):
            value = (value if isinstance(value, LoadedInput) else open_input(value)).prepare(
                self.preprocessing
            )
        return replace(value, strokes=None) if self.as_picture else value

    def _batch(self, items: list[tuple[int, Prepared, float]]) -> dict[int, Result]:
        started = perf_counter()
        images = np.stack([prepared.planes(self.preprocessing.inputs) for _, prepared, _ in items])
        found = self.read(torch.from_numpy(images))
        spent = (perf_counter() - started) * 1000 / len(items)
        results = {}
        for (number, _, before), hypothesis in zip(items, found, strict=True):
            tokens = self.model.alphabet.tokens(hypothesis.tokens)
            # `Milliseconds` has NAMER's stages; all decoding counts as `path`.
            times = Milliseconds(prepare=before, path=spent)
            results[number] = self._result(tokens, math.exp(min(hypothesis.score, 0.0)), times)
        return results

    @torch.inference_mode()
    def read(self, images: torch.Tensor) -> list[Hypothesis]:
        """Best hypotheses for pictures uint8 [B, channels, H, W] of one size, ink 255 on 0."""
        features = self.model.encode(images.to(self.engine.device).float() / 255.0)
        return read(self.model, features, self.beam, self.longest, cached=self.cached)

    def _result(self, tokens: Sequence[str], score: float, times: Milliseconds) -> Result:
        canonical = " ".join(tokens)
        try:
            latex = compact(list(tokens), self.model.vocabulary)
        except LatexError:  # braces may not match
            latex = canonical
        engine = self.engine
        return Result(
            latex,
            canonical,
            score,
            (),
            (),
            engine.name,
            engine.device,
            engine.precision,
            milliseconds=times,
        )
