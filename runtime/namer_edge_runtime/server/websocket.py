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
    """The connected canvases.

    Changes are applied in order, and a canvas is read once its last reading is done, so a fast
    writer gets fewer readings and never late ones.
    """

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
        except (WebSocketDisconnect, RuntimeError):  # it closed while a reading was on its way
            pass
        finally:
            self._open[address] -= 1
            self._open += Counter()  # forgets who has none left
            receiver.cancel()

    async def _receive(self, socket: WebSocket, inbox: "Inbox") -> int:
        """Puts the page's messages into the inbox until the page leaves or is closed, and returns
        the close code. Each message costs one request of the rate limit; a page over the limit
        waits, and nothing it wrote is lost."""
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
            await socket.send_text(_text(await self._message(canvas, faults)))

    async def _message(self, canvas: PageCanvas, faults: list[NamerEdgeError]) -> dict[str, Any]:
        """Returns the canvas's reading, or the first fault of the changes, as a message."""
        while not faults:
            try:
                return canvas.to_message(await self._pool.read(canvas.request))
            except BusyError as error:
                await asyncio.sleep(error.retry_after)
            except NamerEdgeError as error:
                faults = [error]
        fault = {"type": type(faults[0]).__name__, "message": str(faults[0])}
        return {"revision": canvas.revision, "error": fault}


class Inbox:
    """Messages of a page that wait while a reading runs.

    At most `limit` bytes of memory wait; the network holds back the rest until there is room.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._messages: list[str] = []
        self._closed = False
        self._changed = asyncio.Condition()

    async def put(self, message: str) -> None:
        """Adds a message once there is room; an empty inbox takes a message of any size."""
        size = sys.getsizeof(message)
        async with self._changed:
            await self._changed.wait_for(lambda: not self._size or self._size + size <= self._limit)
            self._messages.append(message)
            self._size += size
            self._changed.notify_all()

    async def take(self) -> list[str]:
        """Returns all waiting messages, at least one; an empty list once the inbox is closed."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._messages or self._closed)
            taken, self._messages, self._size = self._messages, [], 0
            self._changed.notify_all()
            return [] if self._closed else taken

    async def close(self) -> None:
        """Ends the inbox; messages that still wait are dropped."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()


def _applied(canvas: PageCanvas, message: str) -> NamerEdgeError | None:
    """Applies a change; returns the error of one that is refused."""
    try:
        canvas.change(json.loads(message))
    except NamerEdgeError as error:
        return error
    except (ValueError, RecursionError) as error:
        return UsageError(f"this is no JSON: {error}")
    return None


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
