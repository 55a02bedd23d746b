"""Logs of a run: `log.csv`, `validation.csv` and TensorBoard events in its folder."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from namer_edge_runtime.atomic import atomic_file, naming

from .throughput import Throughput


class Log:
    """Appends to the files of a run's folder; a line of `log.csv` is a mean over `every` steps.

    A killed run may have logged more than it saved: rows beyond `samples`, where it resumes, are
    dropped, so that no step is logged twice.
    """

    def __init__(self, folder: Path, every: int, samples: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("log.csv", "validation.csv"):
            _keep_up_to(folder / name, samples)
        self.folder, self.every = folder, every
        self.sums: dict[str, float] = {}
        self.count = 0
        from torch.utils.tensorboard import SummaryWriter

        with naming(folder / "tensorboard"):
            self.board = SummaryWriter(str(folder / "tensorboard"))

    def add(
        self,
        samples: int,
        epochs: float,
        learning_rate: float,
        losses: Mapping[str, float],
        throughput: Throughput,
    ) -> None:
        """Adds the losses of a step, after `samples` samples and `epochs` epochs."""
        for name, value in losses.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
        self.count += 1
        if self.count < self.every:
            return
        means = {name: value / self.count for name, value in self.sums.items()}
        speed = throughput.row(samples)
        place = {"samples": samples, "epoch": round(epochs, 3), "rate": learning_rate}
        self._append("log.csv", {**place, **means, **speed})
        with naming(self.folder / "tensorboard"):
            for name, value in {**means, "rate": learning_rate, **speed}.items():
                self.board.add_scalar(f"train/{name}", value, samples)
        self.sums, self.count = {}, 0

    def validation(self, samples: int, epoch: int, scores: Mapping[str, Any]) -> None:
        """Writes the scores of the validation set after `epoch` epochs."""
        self._append("validation.csv", {"samples": samples, "epoch": epoch, **scores})
        with naming(self.folder / "tensorboard"):
            for name, value in scores.items():
                if isinstance(value, int | float):
                    self.board.add_scalar(f"validation/{name}", value, samples)
            self.board.flush()

    def _append(self, name: str, row: Mapping[str, Any]) -> None:
        """Appends a row; an existing file keeps its columns."""
        path = self.folder / name
        columns = list(row)
        fresh = not path.exists()
        if not fresh:
            with path.open(newline="", encoding="utf-8") as file:
                columns = next(csv.reader(file))
        with naming(path), path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
            if fresh:
                writer.writeheader()
            writer.writerow({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()})

    def close(self) -> None:
        with naming(self.folder / "tensorboard"):
            self.board.close()


def _keep_up_to(path: Path, samples: int) -> None:
    """Drops the rows of a log beyond `samples`; removes the file if none is left."""
    if not path.exists():
        return
    with path.open(newline="", encoding="utf-8") as file:
        whole = (line for line in file if line.endswith("\n"))  # a full disk cuts the last one
        rows = [row for row in csv.DictReader(whole) if int(row["samples"]) <= samples]
    if not rows:
        path.unlink()
        return
    with atomic_file(path, "w") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
