"""A worker process and the thread that supervises it: starts it, gives it jobs, replaces it."""

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
"""Seconds between two checks of an idle worker."""
TRIES = 2
"""Attempts at an input before it counts as the cause of workers' deaths."""
LONGEST_PAUSE = 30.0
"""Most seconds between two attempts to start a worker."""
START = 120.0
"""Seconds that a worker may take to start."""


@dataclass
class Job:
    """A request and the future of its response."""

    request: ReadRequest
    answer: "Future[ReadResponse]" = field(default_factory=Future)


class Worker:
    """A worker process and the pipe to it."""

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

    def send(self, request: ReadRequest) -> None:
        """Sends a request; `receive` returns the response."""
        self._pipe.send(request)

    def receive(self, seconds: float) -> Any:
        """Returns the next message. Raises `TimeoutError` after that long, `EOFError` or `OSError`
        where the process has ended."""
        if not self._pipe.poll(seconds):
            raise TimeoutError
        return self._pipe.recv()

    def stop(self, timeout: float = 0.0) -> None:
        """Closes the pipe, which ends the process; kills it where it does not end in time."""
        self._pipe.close()
        self._process.join(timeout)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


class Supervisor(threading.Thread):
    """Takes jobs from the shared queue, one at a time, until stopped."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        jobs: "queue.SimpleQueue[Job]",
        stopping: threading.Event,
    ) -> None:
        super().__init__(name="namer-edge-supervisor", daemon=True)
        self._settings = settings
        self._metrics = metrics
        self._jobs = jobs
        self._stopping = stopping
        self._worker: Worker | None = None
        self._failed = 0
        self.first_start: Future[Ready] = Future()
        """Result of the first worker's start: its message, or its error."""
        self.seconds = 0.2
        """Moving average of a reading's seconds."""

    @property
    def pid(self) -> int | None:
        """Process id of the worker; None while none runs."""
        worker = self._worker
        return worker.pid if worker is not None and worker.alive else None

    def run(self) -> None:
        while not self._stopping.is_set():
            if self._running_worker() is None:
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

    def _running_worker(self) -> Worker | None:
        """Returns a running worker, started anew where the last has died; None where that fails."""
        if self._worker is not None:
            if self._worker.alive:
                return self._worker
            self._worker.stop()
            self._worker = None
            self._metrics.restarts.add()
        worker = Worker(self._settings)
        try:
            message = worker.receive(START)
        except (OSError, EOFError):  # of which TimeoutError is one
            message = EngineError("a worker ended, or was stuck, before it was ready")
        if isinstance(message, NamerEdgeError):
            self._failed += 1
            worker.stop()
        else:
            self._failed = 0
            self._worker = worker
        if not self.first_start.done():
            if isinstance(message, NamerEdgeError):
                self.first_start.set_exception(message)
            else:
                self.first_start.set_result(message)
        return self._worker

    def _read(self, job: Job) -> None:
        """Gives the job to the worker and, where that dies, once more to its successor; a second
        death fails the job."""
        for _ in range(TRIES):
            worker = self._running_worker()
            if worker is None:
                break
            started = time.perf_counter()
            try:
                worker.send(job.request)
                message = worker.receive(self._settings.reading)
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
            if isinstance(message, NamerEdgeError):
                job.answer.set_exception(message)
            else:
                job.answer.set_result(message)
            return
        job.answer.set_exception(EngineError("the processes that read this ended: given up"))
