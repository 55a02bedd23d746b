"""What a server is started with, and the limits that keep it upright."""

from collections.abc import Iterable, Sized
from dataclasses import dataclass, field
from typing import Any

from ..errors import InkError


@dataclass(frozen=True)
class Settings:
    """All times in seconds, all sizes in bytes."""

    recognizer: dict[str, Any] = field(default_factory=dict)
    """What `Recognizer.from_pretrained` is called with, in each worker."""
    host: str = "127.0.0.1"
    port: int = 8765
    """0 takes a free one."""
    workers: int = 1
    waiting: int = 16
    """Inputs that may wait for a worker; more are refused."""
    body: int = 8 << 20
    """The largest request."""
    rate: float = 20.0
    """Requests a second from one address, in the long run; twice as many may come at once. 0: no
    limit."""
    names: tuple[str, ...] = ()
    """Names this server is reached by, beside IP addresses and localhost."""
    proxy: str | None = None
    """Address of the proxy whose `X-Forwarded-For` is believed."""

    reading: float = 30.0
    """After this, the worker of a reading is taken for stuck and is replaced."""
    head: float = 10.0
    """For a client to send the head of a request."""
    sending: float = 20.0
    """For a client to send its body."""
    leaving: int = 10
    """For requests in hand to be answered once the server is told to stop."""
    connections: int = 256
    sessions: int = 64
    """Canvases that are connected at a time."""
    sessions_each: int = 32
    """Of these, from one address."""
    idle: float = 900.0
    """After this without a change, a canvas is hung up on; the page comes back with the next."""
    strokes: int = 1000
    points: int = 50_000
    """On one canvas, or in one request."""
    message: int = 1 << 20
    """The largest message from a canvas, and what may wait of its messages while one is read."""

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK

    def check_ink(self, strokes: Iterable[Any]) -> None:
        """Raises `InkError` for more strokes, or points in them, than are read at a time."""
        sizes = [len(stroke) if isinstance(stroke, Sized) else 0 for stroke in strokes]
        for name, count, most in (
            ("strokes", len(sizes), self.strokes),
            ("points", sum(sizes), self.points),
        ):
            if count > most:
                raise InkError(
                    f"more than {most} {name}: clear the canvas, or send one formula at a time"
                )


LOOPBACK = ("127.0.0.1", "localhost", "::1")
