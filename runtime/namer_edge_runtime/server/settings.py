"""Settings of the server and its limits."""

from collections.abc import Iterable, Sized
from dataclasses import dataclass, field
from typing import Any

from ..errors import InkError


@dataclass(frozen=True)
class Settings:
    """Settings of one server; times in seconds, sizes in bytes."""

    recognizer: dict[str, Any] = field(default_factory=dict)
    """Arguments of `Recognizer.from_pretrained` in each worker."""
    host: str = "127.0.0.1"
    port: int = 8765
    """Port to listen on; 0 takes a free one."""
    workers: int = 1
    waiting: int = 16
    """Length of the queue; inputs beyond it are refused."""
    body: int = 8 << 20
    """Largest body of a request."""
    rate: float = 20.0
    """Requests a second from one address, in bursts of up to twice as many; 0 means no limit."""
    names: tuple[str, ...] = ()
    """Host names of this server, beside IP addresses and localhost."""
    proxy: str | None = None
    """Address of the proxy whose `X-Forwarded-For` is believed."""

    reading: float = 30.0
    """Time limit of a reading; a worker that exceeds it is replaced."""
    head: float = 10.0
    """Time limit for a request's head."""
    sending: float = 20.0
    """Time limit for a request's body."""
    leaving: int = 10
    """Time for running requests to finish once the server stops."""
    connections: int = 256
    sessions: int = 64
    """Most canvases connected at a time."""
    sessions_each: int = 32
    """Most canvases connected from one address."""
    idle: float = 900.0
    """Time without a change after which a canvas is closed; the page reconnects with the next."""
    strokes: int = 1000
    points: int = 50_000
    """Most strokes on one canvas or in one request."""
    message: int = 1 << 20
    """Largest message from a canvas, and most memory of its waiting messages."""

    @property
    def local(self) -> bool:
        """Whether the server is reachable from this machine only."""
        return self.host in LOOPBACK

    def check_ink(self, strokes: Iterable[Any]) -> None:
        """Raises `InkError` for more strokes or points than the limits."""
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
