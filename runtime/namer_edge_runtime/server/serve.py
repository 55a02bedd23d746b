"""The listening process: a socket, uvicorn on it, and a time limit on slow requests."""

import asyncio
import errno
import signal
import socket
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import UsageError
from .app import PAGE, build
from .metrics import Metrics
from .pool import Pool
from .settings import Settings

BACKLOG = 128


def serve(settings: Settings) -> None:
    """Prints the address on standard error once requests are taken, and returns after SIGINT or
    SIGTERM. Raises `UsageError` for an address that cannot be listened on, and the errors of model
    and engine."""
    if not PAGE.is_dir():
        raise UsageError(f"{PAGE} lies in an archive: the demo serves files, so unpack the package")
    listener = _listener(settings)
    metrics = Metrics()
    pool = Pool(settings, metrics)
    with listener:
        ready = pool.start()
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        engine = f"{ready.engine} on {ready.device}, {ready.precision}"
        print(f"namer-edge: http://{shown}:{port}/ ({engine}); Ctrl-C stops", file=sys.stderr)
        config = uvicorn.Config(
            build(settings, pool, metrics),
            http=_http_protocol(settings.head),
            ws="websockets-sansio",
            ws_max_size=settings.message,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=settings.proxy is not None,
            forwarded_allow_ips=settings.proxy,
            limit_concurrency=settings.connections,
            timeout_graceful_shutdown=settings.leaving,
        )
        # uvicorn stops on these by itself and then raises them again, which is not wanted here.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        uvicorn.Server(config).run(sockets=[listener])


def _listener(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    place = f"{settings.host}, port {settings.port}"
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        repair = "choose another --port, or 0 for any" if taken else "choose another --host"
        raise UsageError(f"cannot listen on {place} ({error.strerror}): {repair}") from None


def _http_protocol(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's HTTP protocol, which also closes a connection whose request stays incomplete for
    `seconds`."""

    class HttpProtocol(H11Protocol):
        _limit: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._limit = self.loop.call_later(seconds, self._close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._cancel()
            elif self._limit is None:  # the rest of this body, or the next head
                self._limit = self.loop.call_later(seconds, self._close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._cancel()
            super().connection_lost(exc)

        def _cancel(self) -> None:
            if self._limit is not None:
                self._limit.cancel()
                self._limit = None

        def _close(self) -> None:
            if self.transport.get_protocol() is self:  # else a WebSocket has taken over
                self.transport.close()

    return HttpProtocol
