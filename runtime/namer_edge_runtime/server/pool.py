"""Reading in worker processes, with a bounded queue before them."""

import asyncio
import math
import queue
import threading

from ..errors import BusyError
from .metrics import Metrics
from .settings import Settings
from .worker import ReadRequest, ReadResponse, Ready
from .worker_supervisor import IDLE, Job, Supervisor


class Pool:
    """`read` belongs to an event loop; each worker process has a thread that keeps it."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._keepers = [
            Supervisor(settings, metrics, self._jobs, self._stopping)
            for _ in range(settings.workers)
        ]
        self._pending = 0

    def start(self) -> Ready:
        """Returns when all workers are up. Raises what kept one from it."""
        for keeper in self._keepers:
            keeper.start()
        try:
            words = [keeper.first_word.result() for keeper in self._keepers]
        except BaseException:
            self.stop()
            raise
        return words[0]

    def stop(self) -> None:
        """Lets each worker finish what it has in hand, and ends it."""
        self._stopping.set()
        for keeper in self._keepers:
            keeper.join(self._settings.leaving + 2 * IDLE)

    @property
    def pids(self) -> list[int]:
        """Of the workers that are up."""
        return [pid for keeper in self._keepers if (pid := keeper.pid) is not None]

    @property
    def waiting(self) -> int:
        """Inputs that no worker has in hand yet."""
        return max(0, self._pending - self._settings.workers)

    async def read(self, question: ReadRequest) -> ReadResponse:
        """Raises `BusyError` at once where too many wait, and the errors of reading."""
        if self.waiting >= self._settings.waiting:
            raise BusyError("too many inputs wait to be read: try again later", self._until_free())
        job = Job(question)
        self._pending += 1
        try:
            self._jobs.put(job)
            return await asyncio.wrap_future(job.answer)
        finally:
            self._pending -= 1

    def _until_free(self) -> int:
        """Whole seconds until what waits now will have been read."""
        seconds = max(keeper.seconds for keeper in self._keepers)
        return max(1, math.ceil(self._pending * seconds / self._settings.workers))
