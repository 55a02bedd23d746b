"""The WebSocket between a page's canvas and the workers: `/pen`."""

import asyncio
import json
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from ..errors import BusyError, NamerEdgeError, UsageError
from .canvas import PageCanvas
from .middleware import client
from .pool import Pool
from .rate_limit import TokenBucket
from .settings import Settings

BACKLOG = 64
"""Messages of a page that wait while a reading runs; after that the network holds them back."""
TRY_AGAIN_LATER = 1013
UNSUPPORTED = 1003


class Pens:
    """All pages that write. Changes are applied in order, and what is on a canvas is read when the
    last reading is done, so a fast writer gets fewer answers and never late ones."""

    def __init__(self, pool: Pool, settings: Settings, allowance: TokenBucket) -> None:
        self._pool = pool
        self._settings = settings
        self._allowance = allowance
        self.open = 0
        """Canvases that are connected."""

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept()
        if self.open >= self._settings.sessions:
            await socket.close(TRY_AGAIN_LATER, "too many pages write here")
            return
        self.open += 1
        inbox: asyncio.Queue[str | None] = asyncio.Queue(BACKLOG)
        receiver = asyncio.create_task(_receive(socket, inbox))
        try:
            await self._converse(socket, inbox)
        except (WebSocketDisconnect, RuntimeError):  # it closed while an answer was on its way
            pass
        finally:
            self.open -= 1
            receiver.cancel()

    async def _converse(self, socket: WebSocket, inbox: "asyncio.Queue[str | None]") -> None:
        canvas = PageCanvas(self._settings)
        while True:
            messages = [await inbox.get()]
            # One that asks too often is answered later; nothing it wrote is lost.
            while seconds := self._allowance.take(client(socket.scope)):
                await asyncio.sleep(seconds)
            while not inbox.empty():
                messages.append(inbox.get_nowait())
            if None in messages:
                return
            faults = [fault for message in messages if (fault := _applied(canvas, message))]
            await socket.send_text(_text(await self._told(canvas, faults)))

    async def _told(self, canvas: PageCanvas, faults: list[NamerEdgeError]) -> dict[str, Any]:
        """The reading of what is on the canvas, or the first fault of the changes."""
        while not faults:
            try:
                return canvas.told(await self._pool.read(canvas.question))
            except BusyError as error:
                await asyncio.sleep(error.retry_after)
            except NamerEdgeError as error:
                faults = [error]
        told = {"type": type(faults[0]).__name__, "message": str(faults[0])}
        return {"revision": canvas.revision, "error": told}


async def _receive(socket: WebSocket, inbox: "asyncio.Queue[str | None]") -> None:
    """Text of the page into the inbox, and None when it has gone."""
    try:
        while True:
            await inbox.put(await socket.receive_text())
    except KeyError:  # a message of bytes
        await socket.close(UNSUPPORTED)
    except WebSocketDisconnect:
        pass
    await inbox.put(None)


def _applied(canvas: PageCanvas, message: str | None) -> NamerEdgeError | None:
    """Why a change was not made, where it was not."""
    try:
        canvas.change(json.loads(message or ""))
    except NamerEdgeError as error:
        return error
    except (ValueError, RecursionError) as error:
        return UsageError(f"this is no JSON: {error}")
    return None


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
