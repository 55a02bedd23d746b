"""Training runs of a table's rows and of their teachers, which resume where they were stopped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from namer_edge_runtime.errors import ConfigError

from ..checkpoints.weights import load_model
from ..training.config import TrainConfig, load_config
from ..training.loop import train
from .tables import Table


@dataclass(frozen=True)
class Run:
    """The training run of a row or of a teacher."""

    name: str
    config: TrainConfig
    teacher_settings: tuple[str, ...] = ()
    """Overrides of the teacher's configuration, "key=value"."""

    @property
    def folder(self) -> Path:
        return Path(self.config.output)

    @property
    def epochs_done(self) -> int:
        """Epochs whose weights are kept."""
        return self._kept()[0]

    @property
    def done(self) -> bool:
        """Whether the schedule is finished."""
        return self.epochs_done >= self.config.epochs

    @property
    def teacher(self) -> "Run | None":
        """The run of the packaged configuration whose weights are this run's teacher, unless they
        are there and their run, if it is there too, was finished."""
        weights = Path(self.config.teacher)
        if not self.config.teacher:
            return None
        try:
            config = load_config(weights.parent.name, self.teacher_settings)
        except ConfigError:
            if self.teacher_settings:
                raise
            return None  # weights from elsewhere: training says if they are missing
        run = Run(f"teacher {weights.parent.name}", config)
        if run.folder != weights.parent:
            return None
        done, schedule = run._kept()
        begun = (run.folder / "state.safetensors").exists()
        return None if weights.exists() and (done >= schedule or not begun) else run

    def train(self) -> bool:
        """Trains to the end of the schedule, the teacher first; returns False if a signal stopped
        it. Raises what `training.loop.train` raises."""
        if self.done:
            return True
        teacher = self.teacher
        if teacher is not None and not teacher.train():
            return False
        return train(self.config, resume=(self.folder / "state.safetensors").exists())

    def _kept(self) -> tuple[int, int]:
        """Epochs of the last weights, and of the schedule that they were trained by."""
        last = self.folder / "last.safetensors"
        if not last.exists():
            return 0, self.config.epochs
        record = load_model(last)[-1]
        return int(record["progress"]["epoch"]), int(record["config"]["epochs"])


def runs(
    table: Table, config: str | None, settings: Sequence[str], teacher_settings: Sequence[str] = ()
) -> Iterator[Run]:
    """The run of each row: its packaged configuration, or the row's settings on top of `config`
    in a folder of its own, overridden by `settings` ("key=value")."""
    teachers = tuple(teacher_settings)
    for row in table.rows:
        if config is None:
            yield Run(row.name, load_config(row.config, settings), teachers)
            continue
        name = row.name.replace(" ", "").replace(":", "-").replace("+", "-").lower()
        changes = [f"{key}={_toml(value)}" for key, value in row.settings.items()]
        base = load_config(config).output
        mine = load_config(config, [f"output={base}-ablation-{name}", *changes, *settings])
        yield Run(row.name, mine, teachers)


def _toml(value: object) -> str:
    """A value of a row in TOML."""
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return str(value)
