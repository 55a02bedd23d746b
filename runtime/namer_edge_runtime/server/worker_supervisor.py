"""A worker process, and the thread that starts it, gives it work and replaces it when it dies."""

import multiprocessing
import queue
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from ..errors import EngineError, NamerEdgeError
from .metrics import Metrics
from .settings import Settings
from .worker import ReadRequest, ReadResponse, Ready, work

SPAWN = multiprocessing.get_context("spawn")
IDLE = 0.5
"""Seconds between two looks at a worker that has nothing to do."""
TRIES = 2
"""Times that an input is given to a worker before it is taken for what kills them."""
LONGEST_PAUSE = 30.0
"""Seconds between two starts of a worker that does not come up."""
START = 120.0
"""Seconds for a worker to come up."""


@dataclass
class Job:
    """A question and the place for its answer."""

    question: ReadRequest
    answer: "Future[ReadResponse]" = field(default_factory=Future)


class Worker:
    """One process and the pipe to it."""

    def __init__(self, settings: Settings) -> None:
        self._pipe, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(
            target=work, args=(theirs, settings), name="namer-edge-worker", daemon=True
        )
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def send(self, question: ReadRequest) -> None:
        """Hands it a question; `receive` is the answer."""
        self._pipe.send(question)

    def receive(self, seconds: float) -> Any:
        """What it says next. Raises `TimeoutError` where that takes longer, `EOFError` or `OSError`
        where the process has ended."""
        if not self._pipe.poll(seconds):
            raise TimeoutError
        return self._pipe.recv()

    def stop(self, patience: float = 0.0) -> None:
        """Closes the pipe, upon which it ends by itself; kills it where it does not in time."""
        self._pipe.close()
        self._process.join(patience)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


class Supervisor(threading.Thread):
    """Takes jobs from a queue that it shares with others, one at a time, until told to stop."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        jobs: "queue.SimpleQueue[Job]",
        stopping: threading.Event,
    ) -> None:
        super().__init__(name="namer-edge-keeper", daemon=True)
        self._settings = settings
        self._metrics = metrics
        self._jobs = jobs
        self._stopping = stopping
        self._worker: Worker | None = None
        self._failed = 0
        self.first_word: Future[Ready] = Future()
        """What its first worker says when it is up, or why it is not."""
        self.seconds = 0.2
        """That a reading takes, lately."""

    @property
    def pid(self) -> int | None:
        """Of the worker, while that is up."""
        worker = self._worker
        return worker.pid if worker is not None and worker.alive else None

    def run(self) -> None:
        while not self._stopping.is_set():
            if self._up() is None:
                self._stopping.wait(min(LONGEST_PAUSE, 2.0**self._failed))
                continue
            try:
                job = self._jobs.get(timeout=IDLE)
            except queue.Empty:
                continue
            if job.answer.set_running_or_notify_cancel():  # else whoever asked has gone
                self._read(job)
        if self._worker is not None:
            self._worker.stop(self._settings.leaving)

    def _up(self) -> Worker | None:
        """The worker, a new one where the last has died; None where that does not come up."""
        if self._worker is not None:
            if self._worker.alive:
                return self._worker
            self._worker.stop()
            self._worker = None
            self._metrics.restarts.add()
        worker = Worker(self._settings)
        try:
            receive = worker.receive(START)
        except (OSError, EOFError):  # of which TimeoutError is one
            receive = EngineError("a worker ended, or was stuck, before it was ready")
        if isinstance(receive, NamerEdgeError):
            self._failed += 1
            worker.stop()
        else:
            self._failed = 0
            self._worker = worker
        if not self.first_word.done():
            if isinstance(receive, NamerEdgeError):
                self.first_word.set_exception(receive)
            else:
                self.first_word.set_result(receive)
        return self._worker

    def _read(self, job: Job) -> None:
        """Gives the job to the worker, and to its successor where the worker dies of it, or of
        anything else; after that, it is not tried again."""
        for _ in range(TRIES):
            worker = self._up()
            if worker is None:
                break
            started = time.perf_counter()
            try:
                worker.send(job.question)
                said = worker.receive(self._settings.reading)
            except TimeoutError:
                worker.stop()
                limit = f"{self._settings.reading:g} s"
                job.answer.set_exception(EngineError(f"not read within {limit}: given up"))
                return
            except (OSError, EOFError):
                worker.stop()
                continue
            spent = time.perf_counter() - started
            self.seconds += 0.1 * (spent - self.seconds)
            self._metrics.seconds.add(spent)
            if isinstance(said, NamerEdgeError):
                job.answer.set_exception(said)
            else:
                job.answer.set_result(said)
            return
        job.answer.set_exception(EngineError("the processes that read this ended: given up"))
