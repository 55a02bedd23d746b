"""Training runs of a table's rows, which resume where they were stopped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..training.config import TrainConfig, load_config
from ..training.loop import train
from .tables import Row, Table


@dataclass(frozen=True)
class Run:
    """The training run of a row."""

    row: Row
    config: TrainConfig

    @property
    def folder(self) -> Path:
        return Path(self.config.output)

    @property
    def done(self) -> bool:
        """Whether the schedule is finished."""
        from ..checkpoints.open import open_checkpoint

        last = self.folder / "last.safetensors"
        if not last.exists():
            return False
        return int(open_checkpoint(last).record["progress"]["epoch"]) >= self.config.epochs

    def train(self) -> bool:
        """Trains to the end of the schedule; returns False if a signal stopped it. Raises what
        `training.loop.train` raises."""
        return self.done or train(self.config, resume=(self.folder / "state.safetensors").exists())


def runs(table: Table, config: str | None, settings: Sequence[str]) -> Iterator[Run]:
    """The run of each row: its packaged configuration, or the row's settings on top of `config`
    in a folder of its own, overridden by `settings` ("key=value")."""
    for row in table.rows:
        if config is None:
            yield Run(row, load_config(row.config, settings))
            continue
        name = row.name.replace(" ", "").replace(":", "-").replace("+", "-").lower()
        changes = [f"{key}={_toml(value)}" for key, value in row.settings.items()]
        base = load_config(config).output
        yield Run(row, load_config(config, [f"output={base}-ablation-{name}", *changes, *settings]))


def _toml(value: object) -> str:
    """A value of a row in TOML."""
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return str(value)
