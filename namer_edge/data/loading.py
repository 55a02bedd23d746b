"""Batches of a run: epochs planned and pictures drawn by processes that live as long as it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch.utils.data import DataLoader

from namer_edge_runtime.errors import TrainingError

from .batches import Batch, SampleSpec, TrainingSet, Unplanned, collated

CHUNK = 32
"""Formulas whose samples a process plans at once."""
AHEAD = 4
"""Batches that each process draws ahead."""


class _Requests:
    """What the processes are to do in an epoch; the sampler of a loader that outlives it."""

    def __init__(self) -> None:
        self.items: Sequence[Sequence[SampleSpec | Unplanned]] = ()

    def __iter__(self) -> Iterator[Sequence[SampleSpec | Unplanned]]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Drawing:
    """The planned and drawn epochs of a run; the same batches with workers and without.

    Planning an epoch means augmenting every formula, for the size that it gets. So the samples of
    the next epoch are planned in between, by whatever draws the pictures of this one.
    """

    def __init__(
        self,
        training_set: TrainingSet,
        batch_size: int,
        seed: int,
        ranks: int = 1,
        workers: int = 0,
        pinned: bool = False,
    ) -> None:
        """`batch_size`, `seed` and `ranks` as for `TrainingSet.plan`; `pinned` draws into memory
        that a GPU copies from while it computes."""
        self._set, self._seed = training_set, seed
        self._arranged = partial(training_set.arranged, batch_size=batch_size, ranks=ranks)
        self._requests = _Requests()
        self._planned: dict[int, list[SampleSpec]] = {}
        self._loader: DataLoader[Any] = DataLoader(
            training_set,
            batch_sampler=self._requests,  # type: ignore[arg-type]
            collate_fn=partial(collated, inputs=training_set.preprocessing.inputs),
            num_workers=workers,
            # A forked process lacks the threads of the libraries that this one has loaded.
            multiprocessing_context="spawn" if workers else None,
            persistent_workers=workers > 0,
            pin_memory=pinned,
            prefetch_factor=AHEAD if workers else None,
        )

    def plan(self, epoch: int) -> list[list[SampleSpec]]:
        """`TrainingSet.plan` of an epoch."""
        if epoch not in self._planned:
            self._planned[epoch] = []
            for _ in self._answers(self._unplanned(epoch), epoch):
                pass
        return self._arranged(self._planned.pop(epoch), epoch=epoch, seed=self._seed)

    def batches(
        self, batches: Sequence[Sequence[SampleSpec]], following: int | None = None
    ) -> Iterator[Batch]:
        """Draws planned batches, and plans the epoch `following`.

        Raises `TrainingError` if one of the processes was killed.
        """
        chunks = [] if following is None else self._unplanned(following)
        requests: list[Sequence[SampleSpec | Unplanned]] = []
        for number, batch in enumerate(batches):
            # Spread evenly, so that no picture comes late.
            requests += chunks[len(chunks) * number // len(batches) :][
                : len(chunks) * (number + 1) // len(batches) - len(chunks) * number // len(batches)
            ]
            requests.append(batch)
        if following is not None:
            self._planned[following] = []
        return self._answers(requests, following)

    def _unplanned(self, epoch: int) -> list[list[Unplanned]]:
        order = self._set.order(epoch, self._seed)
        wanted = [Unplanned(int(index), self._seed, epoch) for index in order]
        return [wanted[i : i + CHUNK] for i in range(0, len(wanted), CHUNK)]

    def _answers(
        self, requests: Sequence[Sequence[SampleSpec | Unplanned]], planned: int | None
    ) -> Iterator[Batch]:
        self._requests.items = requests
        with explained():
            for answer in self._loader:
                if isinstance(answer, Batch):
                    yield answer
                elif planned is not None:
                    self._planned[planned] += answer


@contextmanager
def explained() -> Iterator[None]:
    """Raises `TrainingError` where a process that draws pictures was killed."""
    try:
        yield
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):
            raise
        raise TrainingError(
            f"a process that draws pictures died ({error}): go on with --resume, and with fewer "
            "workers where memory is short"
        ) from error
