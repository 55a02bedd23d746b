"""The body of a request → a `ReadRequest` for a worker, within the limits of size and time."""

import asyncio
from collections.abc import AsyncGenerator

from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from ..errors import UsageError
from .settings import Settings
from .worker import ReadRequest

MOST_ALTERNATIVES = 20
JSON, FORM = "application/json", "multipart/form-data"
FILE = "file"
"""Name of the form's field that holds the picture."""


class BodyError(UsageError):
    """A body that is refused, with the HTTP status to answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read_request(request: Request, settings: Settings) -> ReadRequest:
    """Reads a body into a request.

    Raises `BodyError` for a body that is too large, too slow or empty, and `UsageError` for a
    wrong query.
    """
    alternatives = _alternatives(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        async with asyncio.timeout(settings.sending):
            if kind == FORM:
                value = await _file(request, settings)
            else:
                value = b"".join([chunk async for chunk in _chunks(request, settings.body)])
    except TimeoutError:
        raise BodyError(408, f"the body took more than {settings.sending:g} s to arrive") from None
    except ClientDisconnect:
        raise BodyError(400, "the client went away") from None
    if not value:
        raise BodyError(400, "the body is empty: send a picture, a form or strokes")
    return ReadRequest(value, alternatives, kind == JSON)


def _alternatives(request: Request) -> int:
    given = request.query_params.get("alternatives", "0")
    if not given.isascii() or not given.isdecimal() or len(given) > 3:
        raise UsageError(f"alternatives={given!r}: give a number from 0 to {MOST_ALTERNATIVES}")
    if int(given) > MOST_ALTERNATIVES:
        raise UsageError(f"alternatives={given}: at most {MOST_ALTERNATIVES}")
    return int(given)


async def _chunks(request: Request, limit: int) -> AsyncGenerator[bytes, None]:
    """Yields the body as it arrives; raises `BodyError` once it passes `limit` bytes."""
    too_large = BodyError(413, f"more than {limit >> 20} MiB: send a smaller picture")
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise too_large
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise too_large
        yield chunk


async def _file(request: Request, settings: Settings) -> bytes:
    """Returns the file of a form; it stays in memory, since the body's size is limited."""
    stream = _chunks(request, settings.body)
    parser = MultiPartParser(request.headers, stream, max_files=1, max_fields=8)
    parser.spool_max_size = settings.body + 1
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise BodyError(400, f"the form cannot be read: {error.message}") from None
    try:
        file = form.get(FILE)
        if file is None or isinstance(file, str):
            raise BodyError(400, f"the form has no file in a field {FILE!r}")
        return await file.read()
    finally:
        await form.close()
