"""The training loop: one process or several (torchrun), CPU bf16 or CUDA AMP, from one code."""

import math
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from namer_edge_runtime.errors import ConfigError, DataError
from namer_edge_runtime.formula.vocabulary import Vocabulary

from ..data.batches import Batch, Ink, loader
from ..data.crohme import Formula
from ..data.labels import canonical
from ..data.pack import load_pack
from ..model.namer import Namer
from ..recognisers.build import build_recogniser
from ..recognisers.recogniser import Recogniser
from .checkpoint import load_model, load_state, save_state, save_weights
from .config import TrainConfig
from .log import Log
from .loss import Objective
from .positions import with_positions_of
from .quantization_aware import QuantizationAware
from .sequence_loss import SequenceObjective
from .validation import validate
from .world import World, pick_device


@dataclass
class Progress:
    """Where a run is; `batch` counts the batches of each process within the epoch."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    samples_seen: int = 0
    best: float = -1.0


def trainable(formulas: list[Formula], vocabulary: Vocabulary) -> list[Formula]:
    """Those with a position for every visual token and no token outside the vocabulary."""
    return [
        f
        for f in formulas
        if f.strokes
        and len(f.positions)
        and np.isfinite(f.positions).all()
        and all(t in vocabulary or t in "{}[]" for t in f.tokens)
    ]


def rate(config: TrainConfig, epochs_done: float) -> float:
    """Learning rate: linear warm-up, then a cosine to the final rate ("Implementation Details")."""
    if epochs_done < config.warmup_epochs:
        return config.learning_rate * epochs_done / config.warmup_epochs
    share = (epochs_done - config.warmup_epochs) / max(config.epochs - config.warmup_epochs, 1e-9)
    low = config.final_learning_rate
    return low + (config.learning_rate - low) * (1 + math.cos(math.pi * min(share, 1.0))) / 2


def build(config: TrainConfig, vocabulary: Vocabulary) -> Namer | Recogniser:
    """The model that a configuration asks for, its weights drawn at random."""
    if config.model == "namer":
        return Namer(config.architecture, vocabulary)
    return build_recogniser(config.decoder, vocabulary)


def objective_of(model: Namer | Recogniser, config: TrainConfig) -> nn.Module:
    """The model with its loss."""
    if isinstance(model, Recogniser):
        return SequenceObjective(model, config.label_smoothing)
    objective = Objective(model, config.loss, config.candidates)
    return QuantizationAware(objective) if config.qat else objective


class Trainer:
    """One run: model, optimiser, averaged weights and the place in the schedule."""

    def __init__(self, config: TrainConfig, world: World, device: torch.device) -> None:
        self.config, self.world, self.device = config, world, device
        self.folder = Path(config.output)
        self.state = self.folder / "state.safetensors"
        torch.manual_seed(config.seed)
        self.vocabulary = Vocabulary.load(config.vocabulary)
        self.model = build(config, self.vocabulary)
        self.model.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.objective = objective_of(self.model, config)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), config.learning_rate, weight_decay=config.weight_decay
        )
        self.scaler = torch.amp.GradScaler(device.type, enabled=config.precision == "fp16")
        self.progress = Progress()
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        self.sources: dict[str, dict[str, str]] = {}
        """Pack → SHA-256 of each file that it was made from; goes into the weights' JSON."""
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
            },
        )

    def resume(self, weights: Path | None) -> None:
        """Go on from the run's own state, or from committed `weights` and their JSON."""
        if weights is None:
            tensors, state = load_state(self.state)
            self.model.load_state_dict(tensors["model"])
            self.average = {k: v.to(self.device) for k, v in tensors["average"].items()}
            moments: dict[int, dict[str, Tensor]] = {}
            for key, value in tensors["optimizer"].items():
                index, name = key.split(".")
                moments.setdefault(int(index), {})[name] = value
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
            self.scaler.load_state_dict(state["scaler"])
            if isinstance(self.objective, QuantizationAware) and "ranges" in tensors:
                self.objective.activations.load_state_dict(tensors["ranges"])
            self.progress = Progress(**state["progress"])
        else:
            record = self.start_from(weights)
            self.progress = Progress(**record["progress"])

    def start_from(self, weights: Path) -> dict[str, Any]:
        """Take over weights (not the schedule); returns their JSON."""
        model, _, record = load_model(weights)
        if model.architecture != self.model.architecture:
            raise ConfigError(
                f"{weights} is a {model.architecture}, the configuration asks for "
                f"{self.model.architecture}"
            )
        if model.vocabulary != self.vocabulary:
            raise ConfigError(
                f"{weights} reads vocabulary {model.vocabulary.name!r}, the configuration asks "
                f"for another one under the name {self.vocabulary.name!r}"
            )
        self.model.load_state_dict(model.state_dict())
        self.average = {k: v.clone() for k, v in self.model.state_dict().items()}
        return record

    def averaged(self) -> Namer | Recogniser:
        """A copy with the averaged weights, in eval mode, on the CPU."""
        copy = build(self.config, self.vocabulary)
        copy.load_state_dict({k: v.cpu() for k, v in self.average.items()})
        return copy.eval()

    # -- one step ------------------------------------------------------------------------------

    def step(self, model: nn.Module, batch: Batch) -> dict[str, float]:
        """Forward, backward and update on this process's batch; returns its losses."""
        config, progress = self.config, self.progress
        seed = (config.seed, progress.step, self.world.rank)
        torch.manual_seed(hash(seed))
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": None}[config.precision]
        with torch.autocast(self.device.type, dtype, enabled=dtype is not None):
            losses = model(batch, seed)
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(losses["loss"]).backward()
        if config.clip:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self._average()
        return {name: float(loss.detach()) for name, loss in losses.items()}

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

    def run(
        self,
        formulas: list[Formula],
        judged: list[Formula],
        hands: Sequence[Formula] = (),
        labels: Sequence[Sequence[str]] = (),
    ) -> None:
        """Train to the end of the schedule, validating and saving on the way."""
        config, progress, world = self.config, self.progress, self.world
        model: nn.Module = self.objective
        if world.size > 1:
            ids = [self.device.index] if self.device.type == "cuda" else None
            model = nn.parallel.DistributedDataParallel(self.objective, device_ids=ids)
        ink = Ink(
            formulas,
            self.vocabulary,
            config.look,
            config.augmentation,
            config.synthesis,
            hands,
            labels,
        )
        log = Log(self.folder, config.log_every, progress.samples_seen) if world.rank == 0 else None
        saved = time.monotonic()
        while progress.epoch < config.epochs and not self.stopping:
            self.objective.train()
            plan = ink.plan(
                progress.epoch, config.batch_size // world.size, config.seed, world.size
            )
            mine = plan[world.rank :: world.size]
            batches = loader(ink, mine[progress.batch :], config.workers)
            title = f"epoch {progress.epoch + 1}/{config.epochs}"
            bar = tqdm(
                total=len(mine),
                initial=progress.batch,
                desc=title,
                disable=True if world.rank else None,
                leave=False,
            )
            for batch in batches:
                epochs_done = progress.epoch + progress.batch / len(mine)
                for group in self.optimizer.param_groups:
                    group["lr"] = rate(config, epochs_done)
                losses = self.step(model, batch)
                progress.step += 1
                progress.batch += 1
                progress.samples_seen += len(batch.labels) * world.size
                bar.update()
                if log:
                    bar.set_postfix(loss=f"{losses['loss']:.3f}")
                    log.add(progress.samples_seen, epochs_done, rate(config, epochs_done), losses)
                if time.monotonic() - saved > 60 * config.checkpoint_minutes:
                    self.save()
                    saved = time.monotonic()
                self._agree_on_stopping()
                if self.stopping:
                    break
            bar.close()
            if not self.stopping:
                progress.epoch += 1
                progress.batch = 0
                self._finish_epoch(judged, log)
            self.save()
            saved = time.monotonic()
            world.wait()
        if log:
            log.close()

    def _agree_on_stopping(self) -> None:
        """Stop where a signal came to any of the processes: they must leave the loop together."""
        if self.world.size == 1:
            self.stopping = self.asked_to_stop
        elif self.progress.step % 8 == 0:
            flag = torch.tensor(float(self.asked_to_stop), device=self.device)
            torch.distributed.all_reduce(flag)
            self.stopping = bool(flag > 0)

    def _finish_epoch(self, judged: list[Formula], log: Log | None) -> None:
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
        }
        due = config.evaluate_every and progress.epoch % config.evaluate_every == 0
        if judged and (due or progress.epoch == config.epochs):
            judge: Namer | Recogniser = model
            if isinstance(self.objective, QuantizationAware):
                copy = self.averaged()
                assert isinstance(copy, Namer)
                judge = self.objective.imitate(copy)
            scores = validate(judge, config.look, judged, config.decoding)
            log.validation(progress.samples_seen, progress.epoch, scores)
            record["validation"] = scores
            if scores["exprate"] >= progress.best:
                progress.best = record["progress"]["best"] = scores["exprate"]
                save_weights(self.folder / "best.safetensors", model, config.look, record)
        save_weights(self.folder / "last.safetensors", model, config.look, record)


def train(config: TrainConfig, resume: bool = False, weights: Path | None = None) -> None:
    """Run a configuration; `resume` goes on from its state, or from `weights` where given.

    SIGTERM and SIGINT end the run after the step in hand, with its state saved. Raises `DataError`
    where there is nothing to train on.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    with World.join(device) as world:
        if config.batch_size % world.size:
            raise ConfigError(
                f"batch_size = {config.batch_size} does not divide by {world.size} processes"
            )
        trainer = Trainer(config, world, device)
        if not resume and trainer.state.exists():
            raise ConfigError(
                f"{trainer.folder} holds a run already: go on with --resume, or name another output"
            )
        if resume:
            trainer.resume(weights)
        elif config.initial:
            trainer.start_from(Path(config.initial))
        packs = {path: load_pack(path) for path in (*config.train, *config.hands)}
        trainer.sources = {path: pack.sources for path, pack in packs.items()}
        formulas = []
        for path in config.train:
            if world.rank:  # the first process asks the teacher, the others find its answers
                world.wait()
            formulas += with_positions_of(
                packs[path].formulas,
                Path(path),
                config.teacher,
                str(device),
                unsegmented=not (config.cut or config.swap or config.typeset),
            )
            if not world.rank:
                world.wait()
        hands = [f for path in config.hands for f in packs[path].formulas if f.placed]
        labels = [
            tokens for path in config.labels for tokens in canonical(path, trainer.vocabulary)
        ]
        usable = trainable(formulas, trainer.vocabulary)
        if not usable:
            raise DataError(
                f"no formula with positions in {', '.join(config.train)}: pack ink data"
            )
        judged = load_pack(config.validation).formulas if config.validation else []
        if config.evaluate_limit:
            judged = judged[:: max(1, len(judged) // config.evaluate_limit)]
        if world.rank == 0:
            print(
                f"{len(usable)} of {len(formulas)} formulas to train on, {len(judged)} to validate",
                file=sys.stderr,
            )

        def stop(number: int, frame: FrameType | None) -> None:
            trainer.asked_to_stop = True

        handlers: dict[int, Callable[..., Any] | int | None] = {
            number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            trainer.run(usable, judged, hands, labels)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
