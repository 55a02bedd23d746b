"""Measures one configuration in a process of its own.

`python -m namer_edge_benchmarks.worker TRIAL` (JSON, see `Configuration`) prints the `Row` as JSON.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

from namer_edge.evaluation.answers import Answered, paired_with_own
from namer_edge.evaluation.exprate import rate
from namer_edge.evaluation.samples import Sample
from namer_edge_runtime.bulk.run import Outcome
from namer_edge_runtime.errors import MissingExtraError, NamerEdgeError, UsageError
from namer_edge_runtime.model_file import CHECKPOINT, ModelFile
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.result import Result

from .configuration import STAGES, Accuracy, Configuration, Measured, Row, Spread
from .encoder_share import Watching, watch
from .energy import joules, read_energy
from .formulas import samples
from .gpu_memory import gpu_memory

WINDOW = 8
"""Batches given at once, so that pictures of one size find each other (as `Recognizer.each`)."""
SHARED = 30
"""Formulas from which the encoder's share is taken."""


@dataclass(frozen=True)
class Read:
    """One formula and what became of it."""

    sample: Sample
    answer: Result | NamerEdgeError
    milliseconds: float
    """Wall clock; in a batch, its time shared out evenly."""


def in_own_process(trial: Configuration) -> Row:
    """An error there becomes the row's error and stops nothing."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(trial))]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return Row(trial, error=f"the process ended with {done.returncode}: {last}")
    return Row.from_json(json.loads(done.stdout.splitlines()[-1]))


def measure(trial: Configuration) -> Measured:
    """In this process. Raises the typed errors of model, engine, device and data, and `UsageError`
    where no formula could be read."""
    from namer_edge_runtime.decode import warm_up
    from namer_edge_runtime.diagnostics.cold_start import peak_memory

    chosen = samples(Path(trial.data), trial.limit, trial.as_pictures, trial.only)
    failed = {s.source.name: str(s.source.error) for s in chosen if s.source.error is not None}
    readable = [sample for sample in chosen if sample.source.error is None]
    started = perf_counter()
    model = None if _is_checkpoint(trial) else ModelFile.open(trial.model)
    recognizer = _open(trial)
    load = _since(started)
    started = perf_counter()
    recognizer.each([sample.source.value for sample in readable[:1]])
    first = _since(started)
    warm_up()
    list(_read(recognizer, readable[: trial.warm_up], trial.batch))
    energy, started, processor = read_energy(), perf_counter(), process_time()
    every = list(_read(recognizer, readable, trial.batch))
    seconds, processor = perf_counter() - started, process_time() - processor
    spent = joules(energy, read_energy())
    memory, on_gpu = peak_memory(), gpu_memory()
    failed |= {r.sample.source.name: str(r.answer) for r in every if not _is_result(r)}
    done = [r for r in every if _is_result(r)]
    if not done:
        why = next(iter(failed.values()), "there is no input")
        raise UsageError(f"{trial.data}: no formula was read ({why})")
    watching = watch(recognizer, readable[:SHARED], model, trial.threads)
    parameters, flops = _cost(recognizer, model, watching)
    return Measured(
        name=model.name if model else Path(str(trial.model)).stem,
        precision=recognizer.engine.precision,
        engine=recognizer.engine.name,
        device=recognizer.engine.device,
        load=load,
        first=first,
        stages=_stages(done, watching.share),
        whole=Spread.of([r.milliseconds for r in done]),
        fps=round(len(done) / seconds, 3),
        processor_time=round(1000 * processor / len(done), 3),
        peak_memory=memory,
        gpu_memory=on_gpu,
        joules=None if spent is None else round(spent / len(done), 4),
        file_bytes=_bytes(trial, model),
        parameters=parameters,
        flops=flops,
        size=watching.size,
        formulas=len(done),
        failed=failed,
        accuracy=_accuracy(chosen, every, trial.loose),
    )


def _is_checkpoint(trial: Configuration) -> bool:
    return str(trial.model).endswith(CHECKPOINT)


def _is_result(read: Read) -> bool:
    return isinstance(read.answer, Result)


def _open(trial: Configuration) -> Recognizer:
    if not _is_checkpoint(trial):
        return Recognizer.from_pretrained(
            trial.model,
            engine=trial.engine,
            device=trial.device,
            threads=trial.threads,
            one_look=trial.one_look,
        )
    if trial.engine not in (None, "torch"):
        raise UsageError(f"engine {trial.engine!r} reads no checkpoint: export it first")
    import torch

    from namer_edge.checkpoints.open import open_checkpoint

    torch.set_num_threads(trial.threads)
    return open_checkpoint(Path(str(trial.model)), trial.device).recognizer


def _read(recognizer: Recognizer, chosen: Sequence[Sample], batch: int) -> Iterator[Read]:
    """One by one, or in windows of batches."""
    step = WINDOW * batch if batch > 1 else 1
    for start in range(0, len(chosen), step):
        part = chosen[start : start + step]
        began = perf_counter()
        answers = recognizer.each([sample.source.value for sample in part], batch)
        each = _since(began) / len(part)
        yield from (Read(s, answer, each) for s, answer in zip(part, answers, strict=True))


def _stages(done: Sequence[Read], share: float | None) -> dict[str, Spread]:
    """`share` of the first graph's time was the encoder's."""
    spent = [(r.answer.milliseconds, r.milliseconds) for r in done if isinstance(r.answer, Result)]
    series = {
        "prepare": [stages.prepare for stages, _ in spent],
        "pgd": [stages.pgd for stages, _ in spent],
        "path": [stages.path for stages, _ in spent],
        "latex": [max(whole - stages.total, 0.0) for stages, whole in spent],
    }
    graph = [stages.vat for stages, _ in spent]
    if share is None:
        series["encoder + vat"] = graph
    else:
        series["encoder"] = [share * value for value in graph]
        series["vat"] = [(1 - share) * value for value in graph]
    return {stage: Spread.of(series[stage]) for stage in STAGES if stage in series}


def _bytes(trial: Configuration, model: ModelFile | None) -> int:
    if model is None:
        return Path(str(trial.model)).stat().st_size
    return sum(part.bytes for part in model.parts.values())


def _cost(
    recognizer: Recognizer, model: ModelFile | None, watching: Watching
) -> tuple[Mapping[str, int] | None, Mapping[str, int] | None]:
    """Parameters and FLOPs; of a model file by what it says of its architecture."""
    namer = getattr(recognizer.engine, "namer", None)
    stored = None if model is None else model.meta.get("architecture")
    if watching.size is None or (namer is None and stored is None):
        return None, None
    try:
        from namer_edge.model.cost import measure as cost_of
        from namer_edge.model.namer import Architecture
    except ModuleNotFoundError:
        return None, None
    architecture = namer.architecture if namer is not None else Architecture.from_json(stored or {})
    cost = cost_of(architecture, recognizer.vocabulary, *watching.size)
    return cost.parameters, cost.flops


def _accuracy(chosen: Sequence[Sample], every: Sequence[Read], loose: bool) -> Accuracy | None:
    by_name = {r.sample.source.name: r.answer for r in every}
    answers = []
    for sample in chosen:
        name = sample.source.name
        outcome = by_name.get(name, sample.source.error)
        assert outcome is not None  # what had no error was read
        answers.append(Answered(Outcome(name, outcome), sample.label))
    paired = paired_with_own(answers, "the inputs' own", loose=loose)
    if not paired.readings:
        return None
    found = rate(paired.readings)
    return Accuracy(
        exprate=round(found.exprate, 2),
        exprate_le1=round(found.exprate_le1, 2),
        exprate_le2=round(found.exprate_le2, 2),
        total=found.total,
        protocol=paired.protocol,
    )


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)


def main() -> None:
    trial = Configuration(**json.loads(sys.argv[1]))
    try:
        row = Row(trial, measure(trial))
    except NamerEdgeError as error:
        row = Row(trial, error=str(error))
    except ModuleNotFoundError as error:
        row = Row(trial, error=str(MissingExtraError.of(error)))
    print(json.dumps(row.to_json(), ensure_ascii=False))


if __name__ == "__main__":
    main()
