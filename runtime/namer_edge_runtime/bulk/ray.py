"""Bulk recognition on Ray Data, for more pictures than one machine should read."""

import logging
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import EngineError
from ..recognition.batching import WINDOW
from ..recognizer import Recognizer
from ..result import Result
from .input_files import Source
from .run import Outcome, recognize_all


def recognize_on_ray(
    options: dict[str, Any], inputs: Iterable[Source], batch_size: int = 8, alternatives: int = 0
) -> Iterator[Outcome]:
    """What `recognize_all` gives, in the same order, by one worker for each CPU of the cluster.

    The cluster is the one this process is connected to, that of `RAY_ADDRESS`, or a local one. A
    block of inputs whose worker dies is read again by another, so nothing is lost or doubled.
    Workers open files by path, so these must lie where all machines see them; what came out of a
    zip or standard input travels along. Results come without the picture that the model saw.

    `options` are those of `Recognizer.from_pretrained`; each worker opens its own, on one thread.
    Raises `ModuleNotFoundError` where Ray is not installed, `EngineError` where it does not start
    or its workers cannot open the recognizer.
    """
    import ray

    rows = [{"source": pickle.dumps(source)} for source in inputs]
    if not rows:
        return
    if not ray.is_initialized():
        try:
            ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
        except Exception as error:  # Ray's own have no common base when it starts
            raise EngineError(f"Ray does not start ({_last_line(error)})") from error
        logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    block = max(1, min(WINDOW * batch_size, len(rows) // (2 * workers)))
    read = ray.data.from_items(rows, override_num_blocks=-(-len(rows) // block)).map_batches(
        _Reader,
        fn_constructor_args=(options, batch_size, alternatives),
        batch_size=block,
        concurrency=(1, workers),
        num_cpus=1,
        max_restarts=-1,
        max_task_retries=-1,
    )
    try:
        for row in read.iter_rows():
            yield pickle.loads(row["outcome"])  # written by our own workers
    except ray.exceptions.RayError as error:
        raise EngineError(
            f"Ray gave up: {_last_line(error)}; what is done is in the journal, for --resume"
        ) from error


def _last_line(error: Exception) -> str:
    """Returns the last line of a traceback, which says what went wrong."""
    return (str(error).strip().splitlines() or [repr(error)])[-1].strip()


class _Reader:
    """A worker's recognizer."""

    def __init__(self, options: dict[str, Any], batch_size: int, alternatives: int) -> None:
        self._recognizer = Recognizer.from_pretrained(**{**options, "threads": 1})
        self._how = batch_size, alternatives

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        sources = [pickle.loads(source) for source in batch["source"]]
        outcomes = map(_light, recognize_all(self._recognizer, sources, *self._how))
        return {"outcome": np.array([pickle.dumps(outcome) for outcome in outcomes], object)}


def _light(outcome: Outcome) -> Outcome:
    if isinstance(outcome.answer, Result):
        return replace(outcome, answer=replace(outcome.answer, prepared=None, ink=None))
    return outcome
