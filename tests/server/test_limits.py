"""How much a server takes from one request, one page and one address."""

import json
import os
import signal
import socket
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.model_file import ModelFile

from ..runtime.tiny_model import formula
from .server import JSON, Server, memory, strokes

connect = pytest.importorskip("websockets.sync.client").connect
closed = pytest.importorskip("websockets.exceptions").ConnectionClosed

STROKES, POINTS, IDLE = 50, 400, 3.0
linux = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux' /proc")


@pytest.fixture(scope="module")
def server(tiny_model: ModelFile) -> Iterator[Server]:
    recognizer = {"name_or_path": str(tiny_model.path), "threads": 1}
    limits = {"strokes": STROKES, "points": POINTS, "sessions": 3, "sessions_each": 2, "idle": IDLE}
    with Server(recognizer=recognizer, rate=0.0, **limits) as started:
        yield started


def pen(server: Server, address: str = "127.0.0.1") -> Any:
    """A page's connection, from one of this machine's addresses."""
    line = socket.create_connection(("127.0.0.1", server.port), 30, source_address=(address, 0))
    return connect(f"ws://127.0.0.1:{server.port}/pen", sock=line)


def say(line: Any, **message: Any) -> Any:
    line.send(json.dumps(message))
    return json.loads(line.recv(timeout=60))


def close_code(line: Any) -> int:
    with pytest.raises(closed) as ended:
        line.recv(timeout=30)
    assert ended.value.rcvd is not None
    return int(ended.value.rcvd.code)


def inkml(ink: list[list[list[int]]]) -> bytes:
    traces = (", ".join(f"{x} {y}" for x, y in stroke) for stroke in ink)
    body = "".join(f"<trace>{trace}</trace>" for trace in traces)
    return f'<ink xmlns="http://www.w3.org/2003/InkML">{body}</ink>'.encode()


def form(data: bytes, fields: int = 0) -> tuple[bytes, dict[str, str]]:
    parts = [f'--x\r\nContent-Disposition: form-data; name="f{n}"\r\n\r\n1' for n in range(fields)]
    parts.append('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n')
    body = "\r\n".join(parts).encode() + data + b"\r\n--x--\r\n"
    return body, {"content-type": "multipart/form-data; boundary=x"}


def blank_png(width: int, height: int) -> bytes:
    """Of one bit a pixel, so that a huge one takes few bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        code = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + code

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(height * (1 + (width + 7) // 8)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


DASH = [[0, 0], [20, 0]]
MANY_STROKES = (STROKES + 1) * [DASH]
MANY_POINTS = [(POINTS // 2) * [[0, 0]], (POINTS // 2 + 1) * [[9, 9]]]


@pytest.mark.parametrize(
    ("ink", "says"),
    [
        (MANY_STROKES, f"more than {STROKES} strokes"),
        (MANY_POINTS, f"more than {POINTS} points"),
        ([(POINTS + 1) * [[0, 0]]], f"more than {POINTS} points"),
    ],
)
@pytest.mark.parametrize("form_of_body", ["json", "inkml", "form"])
def test_a_request_holds_no_more_ink_than_a_canvas(
    server: Server, ink: Any, says: str, form_of_body: str
) -> None:
    bodies: dict[str, Any] = {
        "json": (strokes(ink), JSON),
        "inkml": (inkml(ink), {}),
        "form": form(inkml(ink)),
    }
    reply = server.ask("/recognize", *bodies[form_of_body])
    assert reply.status == 422
    assert reply.json["error"]["type"] == "InkError"
    assert says in reply.json["error"]["message"]


def test_as_much_as_a_canvas_holds_is_read(server: Server) -> None:
    ink = STROKES * [DASH]
    for body, headers in ((strokes(ink), JSON), (inkml(ink), {}), form(inkml(ink))):
        assert server.ask("/recognize", body, headers).status == 200
    with pen(server) as line:
        added = [{"id": n, "points": DASH} for n in range(STROKES)]
        assert "error" not in say(line, revision=1, add=added)
        more = say(line, revision=2, add=[{"id": STROKES, "points": DASH}])
        assert f"more than {STROKES} strokes" in more["error"]["message"]
        removed = say(line, revision=3, remove=[0], add=[{"id": STROKES, "points": DASH}])
        assert "error" not in removed


@pytest.mark.parametrize(
    ("body", "headers", "status", "says"),
    [
        ('{"strokes": [[' + 900 * "[" + 900 * "]" + "]]}", JSON, 422, "stroke 0"),
        (blank_png(20_000, 6_000), {}, 422, "more than 100 million"),
        (*form(blank_png(20_000, 6_000)), 422, "more than 100 million"),
        (*form(blank_png(9, 9), fields=9), 400, "fields"),
    ],
)
def test_other_ways_to_ask_for_too_much(
    server: Server, body: Any, headers: dict[str, str], status: int, says: str
) -> None:
    reply = server.ask("/recognize", body, headers)
    assert reply.status == status
    assert says in reply.json["error"]["message"]
    assert server.metric("worker_restarts_total") == 0


def test_one_address_does_not_hold_all_canvases_and_idle_ones_end(server: Server) -> None:
    (dash,) = formula("-")
    with ExitStack() as lines:

        def page(address: str = "127.0.0.1") -> Any:
            return lines.enter_context(pen(server, address))

        started = time.monotonic()
        first, second = page(), page()
        assert close_code(page()) == 1013
        other = page("127.0.0.2")
        assert close_code(page("127.0.0.3")) == 1013  # all are taken now
        second.close()
        third = page()
        while time.monotonic() < started + IDLE + 1:
            assert "revision" in say(other, revision=1)
            time.sleep(0.2)
        assert close_code(first) == close_code(third) == 4408
        assert server.metric("canvases") == 1
        assert say(other, revision=2, add=[{"id": 1, "points": dash}])["canonical"] == "-"


@linux
def test_what_a_page_sends_while_nothing_is_read_takes_little_memory(server: Server) -> None:
    count, size = 40, 950_000
    (worker,) = server.workers
    before = memory(server.process.pid)
    with pen(server) as one, pen(server) as two:

        def flood(line: Any) -> None:
            for revision in range(1, count + 1):
                line.send(json.dumps({"revision": revision, "padding": size * "x"}))

        os.kill(worker, signal.SIGSTOP)
        try:
            floods = [threading.Thread(target=flood, args=(line,)) for line in (one, two)]
            for thread in floods:
                thread.start()
            time.sleep(4.0)
            assert memory(server.process.pid) < before + 25  # MiB, where 76 are sent
        finally:
            os.kill(worker, signal.SIGCONT)
        for line in (one, two):  # and nothing is lost
            while json.loads(line.recv(timeout=60))["revision"] < count:
                pass
        for thread in floods:
            thread.join()


def test_each_message_of_a_page_counts_as_a_request(tiny_model: ModelFile) -> None:
    recognizer = {"name_or_path": str(tiny_model.path), "threads": 1}
    with Server(recognizer=recognizer, rate=10.0) as server, pen(server) as line:
        started = time.monotonic()
        for revision in range(1, 41):
            line.send(json.dumps({"revision": revision}))
        assert server.ask("/recognize", strokes([DASH]), JSON).status == 429
        while json.loads(line.recv(timeout=60))["revision"] < 40:
            pass
        assert time.monotonic() - started > 1.5  # 20 at once, 20 more at 10 a second
