"""The WebSocket between a page's canvas and the workers: `/pen`."""

import asyncio
import json
import sys
from collections import Counter
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from ..errors import BusyError, NamerEdgeError, UsageError
from .canvas import PageCanvas
from .middleware import client
from .pool import Pool
from .rate_limit import TokenBucket
from .settings import Settings

TRY_AGAIN_LATER = 1013
UNSUPPORTED = 1003
IDLE = 4408
"""Close code of a canvas that was idle for too long."""


class Pens:
    """All pages that write. Changes are applied in order, and what is on a canvas is read when the
    last reading is done, so a fast writer gets fewer answers and never late ones."""

    def __init__(self, pool: Pool, settings: Settings, allowance: TokenBucket) -> None:
        self._pool = pool
        self._settings = settings
        self._allowance = allowance
        self._open: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """Canvases that are connected."""
        return self._open.total()

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept()
        address = client(socket.scope)
        if (
            self.open >= self._settings.sessions
            or self._open[address] >= self._settings.sessions_each
        ):
            await socket.close(TRY_AGAIN_LATER, "too many pages write here")
            return
        self._open[address] += 1
        inbox = Inbox(self._settings.message)
        receiver = asyncio.create_task(self._receive(socket, inbox))
        try:
            await self._converse(socket, inbox)
            if code := await receiver:
                await socket.close(code)
        except (WebSocketDisconnect, RuntimeError):  # it closed while an answer was on its way
            pass
        finally:
            self._open[address] -= 1
            self._open += Counter()  # forgets who has none left
            receiver.cancel()

    async def _receive(self, socket: WebSocket, inbox: "Inbox") -> int:
        """Puts the page's messages into the inbox, each at the cost of one request, until the page
        has gone or has to: returns the close code. A page that sends too many is held back, and
        nothing it wrote is lost."""
        try:
            while True:
                async with asyncio.timeout(self._settings.idle):
                    message = await socket.receive_text()
                while seconds := self._allowance.take(client(socket.scope)):
                    await asyncio.sleep(seconds)
                await inbox.put(message)
        except TimeoutError:
            return IDLE
        except KeyError:  # a message of bytes
            return UNSUPPORTED
        except WebSocketDisconnect:
            return 0
        finally:
            await inbox.close()

    async def _converse(self, socket: WebSocket, inbox: "Inbox") -> None:
        canvas = PageCanvas(self._settings)
        while messages := await inbox.take():
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


class Inbox:
    """Messages of a page that wait while a reading runs. What takes more than `limit` bytes of
    memory is not received before there is room again: the network holds it back."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._messages: list[str] = []
        self._closed = False
        self._changed = asyncio.Condition()

    async def put(self, message: str) -> None:
        """Waits until there is room; one message always fits where none waits."""
        size = sys.getsizeof(message)
        async with self._changed:
            await self._changed.wait_for(lambda: not self._size or self._size + size <= self._limit)
            self._messages.append(message)
            self._size += size
            self._changed.notify_all()

    async def take(self) -> list[str]:
        """All that wait, at least one; none once the inbox is closed."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._messages or self._closed)
            taken, self._messages, self._size = self._messages, [], 0
            self._changed.notify_all()
            return [] if self._closed else taken

    async def close(self) -> None:
        """Nothing more comes, and what still waits is not asked for."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()


def _applied(canvas: PageCanvas, message: str) -> NamerEdgeError | None:
    """Why a change was not made, where it was not."""
    try:
        canvas.change(json.loads(message))
    except NamerEdgeError as error:
        return error
    except (ValueError, RecursionError) as error:
        return UsageError(f"this is no JSON: {error}")
    return None


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
