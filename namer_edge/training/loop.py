"""The training loop: one process or several (torchrun), CPU bf16 or CUDA AMP, from one code."""

import math
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from tqdm import tqdm

from namer_edge_runtime.errors import CheckpointError, ConfigError, ModelFileError
from namer_edge_runtime.file_lock import exclusive
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..autoregressive.model import AutoregressiveModel
from ..autoregressive.registry import build_autoregressive
from ..checkpoints.load_pretrained import LoadedWeights, load_pretrained
from ..checkpoints.weights import load_state, provenance, save_state, save_weights
from ..data.batches import Batch, SampleSpec, TrainingSet, loader
from ..data.formula import Formula
from ..model.namer import Namer
from .config import TrainConfig
from .distributed import ProcessGroup, pick_device
from .failures import StepContext, check_finite, memory_watched
from .log import Log
from .loss import Objective
from .quantization_aware import QuantizationAware
from .schedule import Progress, rate
from .sequence_loss import SequenceObjective
from .throughput import Throughput
from .training_data import TrainingData
from .validation import validate


def build(config: TrainConfig, vocabulary: Vocabulary) -> Namer | AutoregressiveModel:
    """The model that a configuration asks for, its weights drawn at random."""
    if config.model == "namer":
        return Namer(config.architecture, vocabulary)
    return build_autoregressive(config.decoder, vocabulary)


def objective_of(model: Namer | AutoregressiveModel, config: TrainConfig) -> nn.Module:
    """The model with its loss."""
    if isinstance(model, AutoregressiveModel):
        return SequenceObjective(model, config.label_smoothing)
    objective = Objective(model, config.loss, config.candidates, config.frozen)
    return QuantizationAware(objective) if config.qat else objective


class Trainer:
    """One run: model, optimizer, averaged weights and the place in the schedule."""

    def __init__(self, config: TrainConfig, world: ProcessGroup, device: torch.device) -> None:
        self.config, self.world, self.device = config, world, device
        self.folder = Path(config.output)
        self.state = self.folder / "state.safetensors"
        torch.manual_seed(config.seed)
        self.vocabulary = Vocabulary.load(config.vocabulary)
        self.model = build(config, self.vocabulary)
        self.model.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.objective = objective_of(self.model, config)
        # Not `fused`: on a CPU that kernel goes through memory as it lies, and what a resumed run
        # reads lies otherwise than the weights do, in channels_last.
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), config.learning_rate, weight_decay=config.weight_decay
        )
        self.scaler = torch.amp.GradScaler(device.type, enabled=config.precision == "fp16")
        self.progress = Progress()
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        self.sources: dict[str, dict[str, str]] = {}
        """Pack → SHA-256 of each file that it was made from; goes into the weights' JSON."""
        self.parent: dict[str, Any] | None = None
        """The `provenance` of the weights that this run started from, if any; goes there too."""
        self.asked_to_stop = False  # by a signal to this process
        self.stopping = False  # as all processes agree

    # -- state ---------------------------------------------------------------------------------

    def save(self) -> None:
        """Everything needed to go on; rank 0 alone writes."""
        if self.world.rank:
            return
        moments = self.optimizer.state_dict()["state"]
        flat = {f"{i}.{name}": value for i, s in moments.items() for name, value in s.items()}
        groups = {"model": self.model.state_dict(), "average": self.average, "optimizer": flat}
        if isinstance(self.objective, QuantizationAware):
            groups["ranges"] = self.objective.activations.state_dict()
        save_state(
            self.state,
            groups,
            {
                "progress": asdict(self.progress),
                "config": asdict(self.config),
                "scaler": self.scaler.state_dict(),
                "before": self.parent,
                "vocabulary": self.vocabulary.to_json(),
            },
        )

    def resume(self, weights: Path | None) -> None:
        """Go on from the run's own state, or from committed `weights` and their JSON.

        Raises `CheckpointError` or `ConfigError` for those of another model or vocabulary.
        """
        if weights is not None:
            taken = self.start_from(weights)
            if taken.new or taken.dropped:
                raise ConfigError(
                    f"{weights} reads another vocabulary than {self.config.vocabulary!r}: a run "
                    "goes on with the one it was begun with; to begin a new one, give init="
                )
            self.progress = Progress(**taken.record["progress"])
            self.parent = taken.record.get("before")
            return
        tensors, state = load_state(self.state)
        moments: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors["optimizer"].items():
            index, name = key.split(".")
            moments.setdefault(int(index), {})[name] = value
        groups = self.optimizer.state_dict()["param_groups"]
        try:
            vocabulary = state.get("vocabulary")  # states of before do not tell
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
        if isinstance(self.objective, QuantizationAware) and "ranges" in tensors:
            self.objective.activations.load_state_dict(tensors["ranges"])
        self.progress = Progress(**state["progress"]).dealt_anew(state["config"], self.config)
        self.parent = state.get("before")

    def start_from(self, weights: Path) -> LoadedWeights:
        """Take over weights, not the schedule; raises what `load_pretrained` raises."""
        taken = load_pretrained(self.model, weights)
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        self.parent = provenance(taken.record)
        return taken

    def averaged(self) -> Namer | AutoregressiveModel:
        """A copy with the averaged weights, in eval mode, on the CPU."""
        copy = build(self.config, self.vocabulary)
        copy.load_state_dict({k: v.cpu() for k, v in self.average.items()})
        return copy.eval()

    # -- one step ------------------------------------------------------------------------------

    def step(
        self, model: nn.Module, batches: Sequence[Batch], where: StepContext
    ) -> dict[str, float]:
        """Forward and backward over this process's batches, then one update; returns the mean
        losses of all processes. Raises `TrainingError` for a loss that is no number, before the
        weights take it, and where memory is not enough."""
        config, world, parts = self.config, self.world, len(batches)
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": None}[config.precision]
        losses: dict[str, float] = {}
        self.optimizer.zero_grad(set_to_none=True)
        for number, batch in enumerate(batches):
            seed = (config.seed, self.progress.step, number * world.size + world.rank)
            torch.manual_seed(hash(seed))
            with (
                memory_watched(where, len(batch.labels), parts, world.size * parts),
                world.no_sync(model) if number + 1 < parts else nullcontext(),
            ):
                with (
                    torch.autocast(self.device.type, dtype, enabled=dtype is not None),
                    attention_kernel(self.device),
                ):
                    found = model(batch, seed)
                self.scaler.scale(found["loss"] / parts).backward()
            for name, loss in found.items():
                losses[name] = losses.get(name, 0.0) + float(loss.detach()) / parts
        losses = world.mean(losses, self.device)
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), config.clip or math.inf)
        # fp16 overflows now and then by design: the scaler leaves such a step out.
        check_finite(where, losses, 0.0 if self.scaler.is_enabled() else float(norm))
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self._average()
        return losses

    def _average(self) -> None:
        """Exponential average of weights and batch statistics; short memory at the start."""
        step = self.progress.step
        decay = min(self.config.ema, (1 + step) / (10 + step))
        with torch.no_grad():
            for name, value in self.model.state_dict().items():
                if value.is_floating_point():
                    self.average[name].lerp_(value, 1 - decay)
                else:
                    self.average[name].copy_(value)

    # -- the run -------------------------------------------------------------------------------

    def run(self, material: TrainingData) -> None:
        """Train to the end of the schedule, validating and saving on the way."""
        config, progress, world = self.config, self.progress, self.world
        self.sources = material.sources
        model = world.wrap_ddp(self.objective, self.device)
        ink = TrainingSet(
            material.formulas,
            self.vocabulary,
            config.preprocessing,
            config.augmentation,
            config.synthesis,
            material.hands,
            material.labels,
            config.strokes_hidden,
        )
        log = Log(self.folder, config.log_every, progress.samples_seen) if world.rank == 0 else None
        pace = Throughput(self.device, progress.samples_seen)
        saved = time.monotonic()
        # The parts of a step are dealt out like those of as many processes, so that both ways of
        # dividing a batch see the same pictures.
        parts = config.accumulate
        part = config.batch_size // (world.size * parts)
        while progress.epoch < config.epochs and not self.stopping:
            self.objective.train()
            plan = ink.plan(progress.epoch, part, config.seed, world.size * parts)
            mine = plan[world.rank :: world.size]
            batches = pace.waiting(loader(ink, mine[progress.batch :], config.workers))
            title = f"epoch {progress.epoch + 1}/{config.epochs}"
            bar = tqdm(
                total=len(mine),
                initial=progress.batch,
                desc=title,
                disable=True if world.rank else None,
                leave=False,
            )
            for group in groups(batches, parts):
                epochs_done = progress.epoch + progress.batch / len(mine)
                now = rate(config, epochs_done)
                for settings in self.optimizer.param_groups:
                    settings["lr"] = now
                drawn = mine[progress.batch : progress.batch + parts]
                losses = self.step(model, group, self._where(drawn, len(mine), ink))
                progress.step += 1
                progress.batch += parts
                progress.samples_seen += sum(len(b.labels) for b in group) * world.size
                bar.update(parts)
                if log:
                    bar.set_postfix(loss=f"{losses['loss']:.3f}")
                    log.add(progress.samples_seen, epochs_done, now, losses, pace)
                if time.monotonic() - saved > 60 * config.checkpoint_minutes:
                    self.save()
                    saved = time.monotonic()
                self._agree_on_stopping()
                if self.stopping:
                    break
            bar.close()
            if not self.stopping:
                if material.validation and self._is_due(progress.epoch + 1):
                    self.save()  # what is done is kept, whatever becomes of the validation
                progress.epoch += 1
                progress.batch = 0
                self._finish_epoch(material.validation, log)
            self.save()
            saved = time.monotonic()
            world.wait()
        if log:
            log.close()

    def _where(
        self, drawn: Sequence[Sequence[SampleSpec]], batches: int, ink: TrainingSet
    ) -> StepContext:
        names = [ink.formulas[draw.formula].name for batch in drawn for draw in batch]
        progress = self.progress
        return StepContext(progress.epoch + 1, progress.batch + 1, batches, names, self.state)

    def _agree_on_stopping(self) -> None:
        """Stop where a signal came to any of the processes: they must leave the loop together."""
        if self.world.size == 1:
            self.stopping = self.asked_to_stop
        elif self.progress.step % 8 == 0:
            flag = torch.tensor(float(self.asked_to_stop), device=self.device)
            torch.distributed.all_reduce(flag)
            self.stopping = bool(flag > 0)

    def _is_due(self, epoch: int) -> bool:
        """Whether the weights are validated after so many epochs."""
        every = self.config.evaluate_every
        return epoch == self.config.epochs or bool(every and epoch % every == 0)

    def _finish_epoch(self, validation: list[Formula], log: Log | None) -> None:
        """Validate the averaged weights where it is due, and keep last and best weights."""
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
        if validation and self._is_due(progress.epoch):
            judge: Namer | AutoregressiveModel = model
            if isinstance(self.objective, QuantizationAware):
                copy = self.averaged()
                assert isinstance(copy, Namer)
                judge = self.objective.imitate(copy)
            scores = validate(
                judge, config.preprocessing, validation, config.decoding, str(self.device)
            )
            log.validation(progress.samples_seen, progress.epoch, scores)
            record["validation"] = scores
            if scores["exprate"] >= progress.best:
                progress.best = record["progress"]["best"] = scores["exprate"]
                save_weights(self.folder / "best.safetensors", model, config.preprocessing, record)
        save_weights(self.folder / "last.safetensors", model, config.preprocessing, record)


def attention_kernel(device: torch.device) -> AbstractContextManager[None]:
    """The kernel that attends. Backward, PyTorch's fused one takes several times as long on a CPU
    as plain products of matrices do: 13 of 100 parts of a whole step of `edge`."""
    return sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else nullcontext()


def groups(batches: Iterable[Batch], size: int) -> Iterator[list[Batch]]:
    """Runs of `size` batches; the number of all divides by it."""
    group: list[Batch] = []
    for batch in batches:
        group.append(batch)
        if len(group) == size:
            yield group
            group = []


def train(config: TrainConfig, resume: bool = False, weights: Path | None = None) -> bool:
    """Run a configuration; `resume` goes on from its state, or from `weights` where given.

    SIGTERM and SIGINT end the run after the step in hand, with its state saved; returns whether it
    came to its end without them. Raises `DataError` where there is nothing to train on.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    with (
        ProcessGroup.join(device) as world,
        exclusive(Path(config.output)) if world.rank == 0 else nullcontext(),
    ):
        if config.batch_size % (world.size * config.accumulate):
            raise ConfigError(
                f"batch_size = {config.batch_size} does not divide by {world.size} processes with "
                f"accumulate = {config.accumulate}"
            )
        trainer = Trainer(config, world, device)
        if not resume and trainer.state.exists():
            raise ConfigError(
                f"{trainer.folder} holds a run already: go on with --resume, or name another output"
            )
        if resume:
            trainer.resume(weights)
        elif config.init:
            taken = trainer.start_from(Path(config.init))
            if world.rank == 0:
                taken.report(Path(config.init))
        material = TrainingData.gather(config, trainer.vocabulary, world, device)
        if world.rank == 0:
            print(
                f"{len(material.formulas)} of {material.total} formulas to train on, "
                f"{len(material.validation)} to validate",
                file=sys.stderr,
            )

        def stop(number: int, frame: FrameType | None) -> None:
            trainer.asked_to_stop = True

        handlers: dict[int, Callable[..., Any] | int | None] = {
            number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            trainer.run(material)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        if trainer.stopping and world.rank == 0:
            print(
                f"stopped in epoch {trainer.progress.epoch + 1} of {config.epochs}, with all saved "
                f"in {trainer.folder}: go on with --resume",
                file=sys.stderr,
            )
        return not trainer.stopping
