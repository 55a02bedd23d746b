"""The training loop: one process or several, CPU or CUDA, with mixed precision.

    namer-edge train edge                                                      # CPU or 1 GPU
    torchrun --nproc-per-node 4 -m namer_edge_runtime.command train edge       # 4 GPUs
    torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint HOST:29500 \\
        -m namer_edge_runtime.command train edge                               # on each of 2 nodes

`accumulate` splits a batch as several processes would: a run on 1 GPU with accumulate=4 takes the
same updates as one on 4 GPUs.
"""

import math
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from namer_edge_runtime.errors import CheckpointError, ConfigError, ModelFileError
from namer_edge_runtime.file_lock import exclusive
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..checkpoints.load_pretrained import LoadedWeights, load_pretrained
from ..checkpoints.weights import load_state, provenance, save_state, save_weights
from ..data.batches import Batch, SampleSpec, TrainingSet
from ..data.formula import Formula
from ..data.loading import Drawing
from .building import accelerate, build, objective_of
from .config import TrainConfig
from .distributed import ProcessGroup, attention_kernel, drawing_processes, pick_device
from .failures import StepContext, check_finite, explain_out_of_memory
from .log import Log
from .micro_batches import micro_batches as parts
from .objective import Model
from .schedule import Progress, rate
from .throughput import Throughput
from .training_data import TrainingData
from .validation import validate
from .weight_average import update_average


class Trainer:
    """One run: model, optimizer, averaged weights and progress."""

    def __init__(self, config: TrainConfig, processes: ProcessGroup, device: torch.device) -> None:
        self.config, self.processes, self.device = config, processes, device
        self.folder = Path(config.output)
        self.state = self.folder / "state.safetensors"
        torch.manual_seed(config.seed)
        self.vocabulary = Vocabulary.load(config.vocabulary)
        self.model = build(config, self.vocabulary)
        self.model.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        accelerate(self.model, config)
        self.objective = objective_of(self.model, config)
        # Not fused: that CPU kernel ignores memory format, and optimizer state from disk is
        # contiguous while the weights are channels_last, so a resumed run would differ.
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), config.learning_rate, weight_decay=config.weight_decay
        )
        self.scaler = torch.amp.GradScaler(device.type, enabled=config.precision == "fp16")
        self.progress = Progress()
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        """Weights averaged over the steps; without `ema` those at the last save."""
        self.sources: dict[str, dict[str, str]] = {}
        """Pack → SHA-256 of each of its source files; the weights' JSON holds it."""
        self.parent: dict[str, Any] | None = None
        """`provenance` of the weights that this run started from, if any."""
        self.asked_to_stop = False  # this process received a signal
        self.stopping = False  # all processes have agreed to stop

    # -- state ---------------------------------------------------------------------------------

    def save(self) -> None:
        """Writes everything that a resumed run needs; only rank 0 does."""
        if self.processes.rank:
            return
        self._settle_average()
        moments = self.optimizer.state_dict()["state"]
        flat = {f"{i}.{name}": value for i, s in moments.items() for name, value in s.items()}
        groups = {"model": self.model.state_dict(), "average": self.average, "optimizer": flat}
        save_state(
            self.state,
            groups | self.objective.extra_state(),
            {
                "progress": asdict(self.progress),
                "config": asdict(self.config),
                "scaler": self.scaler.state_dict(),
                "before": self.parent,
                "vocabulary": self.vocabulary.to_json(),
            },
        )

    def resume(self, weights: Path | None) -> None:
        """Restores the run's saved state, or `weights` and the progress in their JSON.

        Raises `CheckpointError` or `ConfigError` for those of another model or vocabulary.
        """
        if weights is not None:
            loaded = self.start_from(weights)
            if loaded.new or loaded.dropped:
                raise ConfigError(
                    f"{weights} reads another vocabulary than {self.config.vocabulary!r}: a run "
                    "goes on with the one it was begun with; to begin a new one, give init="
                )
            self.progress = Progress(**loaded.record["progress"])
            self.parent = loaded.record.get("before")
            return
        tensors, state = load_state(self.state)
        moments: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors["optimizer"].items():
            index, name = key.split(".")
            moments.setdefault(int(index), {})[name] = value
        groups = self.optimizer.state_dict()["param_groups"]
        try:
            vocabulary = state.get("vocabulary")  # older states lack it
            if vocabulary and Vocabulary.from_json(vocabulary) != self.vocabulary:
                raise ValueError(f"its vocabulary is {vocabulary['name']!r}, or was")
            self.model.load_state_dict(tensors["model"])
            self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        except (RuntimeError, ValueError, ModelFileError) as error:
            raise CheckpointError(
                f"{self.state} belongs to another model or vocabulary than the configuration: "
                f"resume with the settings that the run was begun with ({error})"
            ) from error
        self.average = {k: v.to(self.device) for k, v in tensors["average"].items()}
        self.scaler.load_state_dict(state["scaler"])
        self.objective.load_extra_state(tensors)
        self.progress = Progress(**state["progress"]).redivided(state["config"], self.config)
        self.parent = state.get("before")

    def start_from(self, weights: Path) -> LoadedWeights:
        """Loads weights without their progress; raises what `load_pretrained` raises."""
        loaded = load_pretrained(self.model, weights)
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        self.parent = provenance(loaded.record)
        return loaded

    def _settle_average(self) -> None:
        """Without averaging, the present weights are the average."""
        if not self.config.ema:
            update_average(self.average, self.model.state_dict(), 0.0)

    def averaged(self) -> Model:
        """A copy of the model with the averaged weights, in eval mode, on the CPU."""
        self._settle_average()
        copy = build(self.config, self.vocabulary)
        copy.load_state_dict({k: v.cpu() for k, v in self.average.items()})
        return copy.eval()

    # -- one step ------------------------------------------------------------------------------

    def step(
        self, model: nn.Module, micro_batches: Sequence[Batch], context: StepContext
    ) -> dict[str, float]:
        """One update by this process's micro-batches; returns the mean losses of all processes.

        Raises `TrainingError`, before the weights change, for a loss or gradient that is not
        finite, and if memory runs out.
        """
        config, processes, accumulation_steps = self.config, self.processes, len(micro_batches)
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": None}[config.precision]
        total: dict[str, Tensor] = {}
        self.optimizer.zero_grad(set_to_none=True)
        for part in parts(micro_batches, config.batch_pixels, processes.rank, processes.size):
            seed = (config.seed, self.progress.step, *part.place)
            torch.manual_seed(hash(seed))
            samples = len(part.batch.labels)
            with (
                explain_out_of_memory(context, samples, accumulation_steps, processes.size),
                nullcontext() if part.last else processes.no_sync(model),
            ):
                with (
                    torch.autocast(self.device.type, dtype, enabled=dtype is not None),
                    attention_kernel(self.device),
                ):
                    micro_losses = model(part.batch, seed)
                self.scaler.scale(micro_losses["loss"] * part.share).backward()
            for name, loss in micro_losses.items():
                weighted = loss.detach().double() * part.share
                total[name] = total[name] + weighted if name in total else weighted
        losses = dict(zip(total, torch.stack(list(total.values())).tolist(), strict=True))
        losses = processes.mean(losses, self.device)
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), config.clip or math.inf)
        # fp16 gradients overflow now and then by design: the scaler skips such a step.
        check_finite(context, losses, 0.0 if self.scaler.is_enabled() else float(norm))
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if config.ema:  # shorter at the start; without, the average is taken where it is needed
            step = self.progress.step
            decay = min(config.ema, (1 + step) / (10 + step))
            update_average(self.average, self.model.state_dict(), decay)
        return losses

    # -- the run -------------------------------------------------------------------------------

    def run(self, data: TrainingData) -> None:
        """Trains to the end of the schedule, validating and saving on the way."""
        config, progress, processes = self.config, self.progress, self.processes
        self.sources = data.sources
        model = processes.wrap_ddp(self.objective, self.device)
        training_set = TrainingSet(
            data.formulas,
            self.vocabulary,
            config.preprocessing,
            config.augmentation,
            config.synthesis,
            data.symbol_bank,
            data.labels,
            config.strokes_hidden,
        )
        seen = progress.samples_seen
        log = None if processes.rank else Log(self.folder, config.log_every, seen)
        throughput = Throughput(self.device, seen)
        last_saved = time.monotonic()
        # Micro-batches are dealt out like those of as many processes, which see the same pictures.
        accumulation_steps = config.accumulate
        divisions = processes.size * accumulation_steps
        micro_batch, on_gpu = config.batch_size // divisions, self.device.type == "cuda"
        workers = drawing_processes(config.workers, self.device)
        drawing = Drawing(training_set, micro_batch, config.seed, divisions, workers, on_gpu)
        while progress.epoch < config.epochs and not self.stopping:
            self.objective.train()
            rank_batches = drawing.plan(progress.epoch)[processes.rank :: processes.size]
            following = progress.epoch + 1 if progress.epoch + 1 < config.epochs else None
            batches = throughput.waiting(drawing.batches(rank_batches[progress.batch :], following))
            bar = tqdm(
                total=len(rank_batches),
                initial=progress.batch,
                desc=f"epoch {progress.epoch + 1}/{config.epochs}",
                disable=True if processes.rank else None,
                leave=False,
            )
            # Groups of consecutive batches.
            for micro_batches in zip(*[batches] * accumulation_steps, strict=False):
                epochs_done = progress.epoch + progress.batch / len(rank_batches)
                learning_rate = rate(config, epochs_done)
                for settings in self.optimizer.param_groups:
                    settings["lr"] = learning_rate
                context = self._context(training_set, rank_batches)
                losses = self.step(model, micro_batches, context)
                progress.step += 1
                progress.batch += accumulation_steps
                progress.samples_seen += sum(len(b.labels) for b in micro_batches) * processes.size
                bar.update(accumulation_steps)
                if log:
                    bar.set_postfix(loss=f"{losses['loss']:.3f}")
                    log.add(progress.samples_seen, epochs_done, learning_rate, losses, throughput)
                if time.monotonic() - last_saved > 60 * config.checkpoint_minutes:
                    self.save()
                    last_saved = time.monotonic()
                self._agree_on_stopping()
                if self.stopping:
                    break
            bar.close()
            if not self.stopping:
                if data.validation and self._is_validated(progress.epoch + 1):
                    self.save()  # keeps the epoch even if validation fails
                progress.epoch += 1
                progress.batch = 0
                self._finish_epoch(data.validation, log)
            self.save()
            last_saved = time.monotonic()
            processes.wait()
        if log:
            log.close()

    def _context(
        self, training_set: TrainingSet, rank_batches: Sequence[Sequence[SampleSpec]]
    ) -> StepContext:
        progress, formulas = self.progress, training_set.formulas
        step_batches = rank_batches[progress.batch : progress.batch + self.config.accumulate]
        names = [formulas[spec.formula].name for batch in step_batches for spec in batch]
        batch, batches = progress.batch + 1, len(rank_batches)
        return StepContext(progress.epoch + 1, batch, batches, names, self.state)

    def _agree_on_stopping(self) -> None:
        """Stops if any process received a signal: all must leave the loop at the same step."""
        if self.processes.size == 1:
            self.stopping = self.asked_to_stop
        elif self.progress.step % 8 == 0:
            flag = torch.tensor(float(self.asked_to_stop), device=self.device)
            torch.distributed.all_reduce(flag)
            self.stopping = bool(flag > 0)

    def _is_validated(self, epoch: int) -> bool:
        every = self.config.evaluate_every
        return epoch == self.config.epochs or bool(every and epoch % every == 0)

    def _finish_epoch(self, validation: list[Formula], log: Log | None) -> None:
        """Validates the averaged weights if due, and writes last and best weights; rank 0 only."""
        config, progress = self.config, self.progress
        if log is None:
            return
        model = self.averaged()
        record: dict[str, Any] = {
            "progress": asdict(progress),
            "config": asdict(config),
            "data": self.sources,
            "licence": config.licence,
            **({"before": self.parent} if self.parent else {}),
        }
        if validation and self._is_validated(progress.epoch):
            scores = validate(
                self.objective.for_validation(self.averaged()),
                config.preprocessing,
                validation,
                config.decoding,
                str(self.device),
            )
            log.validation(progress.samples_seen, progress.epoch, scores)
            record["validation"] = scores
            if scores["exprate"] >= progress.best:
                progress.best = record["progress"]["best"] = scores["exprate"]
                save_weights(self.folder / "best.safetensors", model, config.preprocessing, record)
        save_weights(self.folder / "last.safetensors", model, config.preprocessing, record)


def train(config: TrainConfig, resume: bool = False, weights: Path | None = None) -> bool:
    """Runs a configuration; `resume` continues from its state, or from `weights` if given.

    SIGTERM and SIGINT end the run after the current step, with its state saved; returns whether it
    finished without them. Raises `DataError` if there is nothing to train on.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    with (
        ProcessGroup.join(device) as processes,
        exclusive(Path(config.output)) if processes.rank == 0 else nullcontext(),
    ):
        if config.batch_size % (processes.size * config.accumulate):
            raise ConfigError(
                f"batch_size = {config.batch_size} does not divide by {processes.size} processes "
                f"with accumulate = {config.accumulate}"
            )
        trainer = Trainer(config, processes, device)
        if not resume and trainer.state.exists():
            raise ConfigError(
                f"{trainer.folder} holds a run already: go on with --resume, or name another output"
            )
        if resume:
            trainer.resume(weights)
        elif config.init:
            loaded = trainer.start_from(Path(config.init))
            if processes.rank == 0:
                loaded.report(Path(config.init))
        data = TrainingData.gather(config, trainer.vocabulary, processes, device)
        if processes.rank == 0:
            print(
                f"{len(data.formulas)} of {data.total} formulas to train on, "
                f"{len(data.validation)} to validate",
                file=sys.stderr,
            )

        def stop(number: int, frame: FrameType | None) -> None:
            trainer.asked_to_stop = True

        handlers: dict[int, Callable[..., Any] | int | None] = {
            number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            trainer.run(data)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        if trainer.stopping and processes.rank == 0:
            print(
                f"stopped in epoch {trainer.progress.epoch + 1} of {config.epochs}, with all saved "
                f"in {trainer.folder}: go on with --resume",
                file=sys.stderr,
            )
        return not trainer.stopping
