"""A pool of worker processes behind a bounded queue."""

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
    """A pool serves `read` on an event loop; one thread supervises each worker process."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._supervisors = [
            Supervisor(settings, metrics, self._jobs, self._stopping)
            for _ in range(settings.workers)
        ]
        self._pending = 0

    def start(self) -> Ready:
        """Starts all workers and waits for them; raises the error of one that cannot start."""
        for supervisor in self._supervisors:
            supervisor.start()
        try:
            started = [supervisor.first_start.result() for supervisor in self._supervisors]
        except BaseException:
            self.stop()
            raise
        return started[0]

    def stop(self) -> None:
        """Ends each worker once it has finished its current job."""
        self._stopping.set()
        for supervisor in self._supervisors:
            supervisor.join(self._settings.leaving + 2 * IDLE)

    @property
    def pids(self) -> list[int]:
        """Process ids of running workers."""
        return [pid for supervisor in self._supervisors if (pid := supervisor.pid) is not None]

    @property
    def waiting(self) -> int:
        """Number of inputs in the queue."""
        return max(0, self._pending - self._settings.workers)

    async def read(self, request: ReadRequest) -> ReadResponse:
        """Reads an input; raises `BusyError` where the queue is full, and the errors of reading."""
        if self.waiting >= self._settings.waiting:
            raise BusyError("too many inputs wait to be read: try again later", self._until_free())
        job = Job(request)
        self._pending += 1
        try:
            self._jobs.put(job)
            return await asyncio.wrap_future(job.answer)
        finally:
            self._pending -= 1

    def _until_free(self) -> int:
        """Estimates whole seconds until the queue is empty."""
        seconds = max(supervisor.seconds for supervisor in self._supervisors)
        return max(1, math.ceil(self._pending * seconds / self._settings.workers))
