"""The routes of the server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from ..errors import BusyError, EngineError, NamerEdgeError, UsageError
from .forms import FORMS, accepted, to_text
from .metrics import Metrics
from .middleware import RequestPolicy, refusal
from .openapi import description
from .pool import Pool
from .rate_limit import TokenBucket
from .request_body import BodyError, read_request
from .responses import to_json
from .settings import Settings
from .websocket import Pens

PAGE = Path(__file__).parent / "page"
PROMETHEUS = "text/plain; version=0.0.4"


def build(settings: Settings, pool: Pool, metrics: Metrics) -> Starlette:
    """Builds the application over a started pool, which it stops on shutdown."""
    allowance = TokenBucket(settings.rate)
    pens = Pens(pool, settings, allowance)

    async def recognize(request: Request) -> Response:
        response = await pool.read(await read_request(request, settings))
        kind = accepted(request.headers.get("accept", ""))
        if not FORMS[kind]:
            return JSONResponse(to_json(response), headers={"vary": "accept"})
        return Response(to_text(response, kind), media_type=kind, headers={"vary": "accept"})

    async def healthz(request: Request) -> Response:
        up = len(pool.pids)
        value = {"status": "ok" if up else "starting", "workers": up}
        return JSONResponse(value, 200 if up else 503)

    async def metrics_text(request: Request) -> Response:
        gauges = {
            "workers": ("Workers that are up.", len(pool.pids)),
            "waiting": ("Inputs that wait for a worker.", pool.waiting),
            "canvases": ("Pages that are connected.", pens.open),
        }
        return PlainTextResponse(metrics.text(gauges), media_type=PROMETHEUS)

    async def openapi(request: Request) -> Response:
        return JSONResponse(description(settings))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(pool.stop)

    return Starlette(
        routes=[
            Route("/", _file("index.html")),
            Route("/docs", _file("docs.html")),
            Route("/openapi.json", openapi),
            Route("/healthz", healthz),
            Route("/metrics", metrics_text),
            Route("/recognize", recognize, methods=["POST"]),
            WebSocketRoute("/pen", pens.serve),
            Mount("/page", StaticFiles(directory=PAGE)),
        ],
        middleware=[
            Middleware(RequestPolicy, settings=settings, metrics=metrics, allowance=allowance),
        ],
        exception_handlers={NamerEdgeError: _error_response},
        lifespan=lifespan,
    )


def _file(name: str) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:
        return FileResponse(PAGE / name, headers={"cache-control": "no-cache"})

    return respond


def _error_response(request: Request, error: Exception) -> Response:
    """Answers a typed error as JSON, with the status that says whose fault it was."""
    headers = {"retry-after": str(error.retry_after)} if isinstance(error, BusyError) else None
    statuses = ((BusyError, 503), (EngineError, 500), (UsageError, 400))
    fitting = (status for kind, status in statuses if isinstance(error, kind))
    status = error.status if isinstance(error, BodyError) else next(fitting, 422)
    kind = "UsageError" if isinstance(error, BodyError) else type(error).__name__
    return refusal(status, kind, str(error), headers)
