"""The training runs of a table's rows, one after the other; each goes on where it was stopped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..training.config import TrainConfig, load_config
from ..training.loop import train
from .tables import Row, Table


@dataclass(frozen=True)
class Run:
    """A row as it is trained."""

    row: Row
    config: TrainConfig

    @property
    def folder(self) -> Path:
        return Path(self.config.output)

    @property
    def done(self) -> bool:
        """Whether it was trained to the end of its schedule."""
        from ..checkpoints.open import open_checkpoint

        last = self.folder / "last.safetensors"
        if not last.exists():
            return False
        return int(open_checkpoint(last).record["progress"]["epoch"]) >= self.config.epochs

    def train(self) -> bool:
        """To the end, unless a signal comes: whether it got there. Raises what
        `training.loop.train` does."""
        return self.done or train(self.config, resume=(self.folder / "state.safetensors").exists())


def runs(table: Table, config: str | None, settings: Sequence[str]) -> Iterator[Run]:
    """Of each row: its packaged configuration, or the row's change on top of another `config` in a
    folder of its own; then `settings`, "key=value" each."""
    for row in table.rows:
        if config is None:
            yield Run(row, load_config(row.config, settings))
            continue
        name = row.name.replace(" ", "").replace(":", "-").replace("+", "-").lower()
        changes = [f"{key}={_toml(value)}" for key, value in row.settings.items()]
        base = load_config(config).output
        yield Run(row, load_config(config, [f"output={base}-ablation-{name}", *changes, *settings]))


def _toml(value: object) -> str:
    """A value of a row as the command line would have it."""
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return str(value)
