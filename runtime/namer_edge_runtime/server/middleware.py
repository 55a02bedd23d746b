"""Request policy: allowed hosts and origins, rate limit, and response headers."""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .metrics import Metrics
from .rate_limit import TokenBucket, whole_seconds
from .settings import Settings

HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' blob: data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(self), microphone=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
COUNTED = ("/", "/docs", "/healthz", "/metrics", "/openapi.json", "/recognize")
"""Paths that metrics count by name; all others share one label, so labels stay few."""
FORBIDDEN = 4403
"""Close code of a WebSocket that is refused before it is accepted, which gives 403."""


class RequestPolicy:
    """Applies the policy before the application sees a request."""

    def __init__(
        self, app: ASGIApp, settings: Settings, metrics: Metrics, allowance: TokenBucket
    ) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._allowance = allowance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            if self._refused(scope) is None:
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": FORBIDDEN})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in COUNTED else "other"

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.requests.add(path, str(message["status"]))
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(scope) or self._too_many(scope)
        await (refused or self._app)(scope, receive, counted)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._known(host):
            return refusal(
                421,
                "UsageError",
                f"this server does not go by the name {_hostname(host)!r}: start it with --name",
            )
        origin = headers.get("origin")
        if origin is not None and _netloc(origin) != host:
            return refusal(403, "UsageError", "pages of other servers may not ask this one")
        return None

    def _known(self, host: str) -> bool:
        """Checks the host against DNS rebinding: a name can point here falsely, an address not."""
        name = _hostname(host)
        if name == "localhost" or name in self._settings.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._settings.local

    def _too_many(self, scope: Scope) -> Response | None:
        if scope["method"] != "POST":
            return None
        seconds = self._allowance.take(client(scope))
        if not seconds:
            return None
        message = f"more than {self._settings.rate:g} requests a second from one address"
        return refusal(429, "BusyError", message, {"retry-after": whole_seconds(seconds)})


def client(scope: Scope) -> str:
    """Returns the address that a request comes from."""
    return scope["client"][0] if scope.get("client") else ""


def refusal(
    status: int, kind: str, message: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Builds the response of an error, in the form that `recognize --jsonl` writes."""
    return JSONResponse({"error": {"type": kind, "message": message}}, status, headers)


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
