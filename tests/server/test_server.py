"""The HTTP endpoint as programs meet it, friendly ones and others."""

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.command import main
from namer_edge_runtime.model_file import ModelFile

from ..runtime.drawing import picture, png
from ..runtime.tiny_model import formula
from .server import CROSS, JSON, Server, memory, strokes

ONES = png(picture("1 - 1"))
linux = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux' /proc")


@pytest.fixture(scope="module")
def server(tiny_model: ModelFile) -> Iterator[Server]:
    options = ("--workers", "2", "--rate", "0", "--max-body", "1", "--waiting", "4")
    with Server("--model", str(tiny_model.path), *options) as started:
        yield started


def form(data: bytes, field: str = "file") -> tuple[bytes, dict[str, str]]:
    head = f'--x\r\nContent-Disposition: form-data; name="{field}"; filename="a.png"\r\n\r\n'
    body = head.encode() + data + b"\r\n--x--\r\n"
    return body, {"content-type": "multipart/form-data; boundary=x"}


def test_a_picture_raw_or_in_a_form_and_strokes_give_the_same_json(server: Server) -> None:
    raw = server.ask("/recognize", ONES)
    assert raw.status == 200
    assert raw.json["canonical"] == "1 - 1"
    assert [token["text"] for token in raw.json["tokens"]] == ["1", "-", "1"]
    assert raw.json["mathml"].count("data-token") == 3
    assert raw.json["engine"] == "onnxruntime"
    assert server.ask("/recognize", *form(ONES)).json["tokens"] == raw.json["tokens"]
    ink = server.ask("/recognize?alternatives=2", strokes(formula("1 - 1")), JSON)
    assert ink.json["canonical"] == "1 - 1"
    assert len(ink.json["alternatives"]) == 2
    assert server.ask("/recognize", strokes([]), JSON).json["latex"] == ""


@pytest.mark.parametrize(
    ("accept", "kind", "shown"),
    [
        ("application/x-latex", "application/x-latex", "1-1"),
        ("application/mathml+xml", "application/mathml+xml", "<mo>−</mo>"),
        ("application/mathml-presentation+xml", "application/mathml-presentation+xml", "<mml:mo>"),
        ("application/omml+xml", "application/omml+xml", "<m:oMath"),
        ("text/x-typst", "text/x-typst", "1 - 1"),
        ("text/x-sympy, application/json;q=0.5", "text/x-sympy", "1 - 1"),
        ("image/svg+xml;q=0.9, text/x-typst;q=0.1", "image/svg+xml", "<svg"),
        ("*/*", "application/json", '"latex"'),
        ("text/html, image/svg+xml;q=0", "application/json", '"latex"'),
        ("image/svg+xml;q=what", "application/json", '"latex"'),
    ],
)
def test_an_answer_comes_in_the_form_that_is_accepted(
    server: Server, accept: str, kind: str, shown: str
) -> None:
    reply = server.ask("/recognize", ONES, {"accept": accept})
    assert reply.headers["content-type"].partition(";")[0] == kind
    assert reply.headers["vary"] == "accept"
    assert shown in reply.body.decode()
    assert (
        kind
        in server.ask("/openapi.json").json["paths"]["/recognize"]["post"]["responses"]["200"][
            "content"
        ]
    )


def test_pages_and_descriptions_are_there(server: Server) -> None:
    for path in ("/", "/docs", "/page/app.js", "/page/page.css"):
        reply = server.ask(path)
        assert reply.status == 200
        assert "default-src 'self'" in reply.headers["content-security-policy"]
    described = server.ask("/openapi.json").json
    assert set(described["paths"]) == {"/recognize", "/healthz", "/metrics"}
    assert set(described["paths"]["/recognize"]["post"]["requestBody"]["content"]) == {
        "application/octet-stream",
        "image/*",
        "multipart/form-data",
        "application/json",
    }
    result = server.ask("/recognize?alternatives=1", ONES).json
    told = described["components"]["schemas"]["Result"]["properties"]
    assert set(result) <= set(told)
    assert server.ask("/healthz").json == {"status": "ok", "workers": 2}
    assert server.metric("reading_seconds_count") >= 1


@pytest.mark.parametrize(
    ("body", "headers", "status", "says"),
    [
        (b"", {}, 400, "empty"),
        (b"buy milk", {}, 422, "not a picture"),
        (ONES[:-40], {}, 422, "cut short"),
        (b"<ink><trace>1 2</ink>", {}, 422, ""),
        (b"x" * (2 << 20), {}, 413, "more than 1 MiB"),
        (*form(b"x" * (2 << 20)), 413, "more than 1 MiB"),
        (*form(ONES, "other"), 400, "no file in a field 'file'"),
        (b"no form", {"content-type": "multipart/form-data; boundary=x"}, 400, "form"),
        (b"no form", {"content-type": "multipart/form-data"}, 400, "form"),
        ("[" * 100_000, JSON, 400, "JSON"),
        ("{}", JSON, 400, "strokes"),
        ('{"strokes": 3}', JSON, 422, "no list"),
        (strokes([[]]), JSON, 422, "stroke 0"),
        (strokes([[[1, 2, 3], [1]]]), JSON, 422, "stroke 0"),
        ('{"strokes": [[[1e999, 0]]]}', JSON, 422, "finite"),
        (strokes([[[-3e38, -3e38], [3e38, 3e38]]]), JSON, 422, "beyond"),
        ('{"strokes": [[[1' + "0" * 400 + ", 0]]]}", JSON, 422, "stroke 0"),
        ('{"strokes": [[["a", {}]]]}', JSON, 422, "stroke 0"),
        (ONES, {"origin": "http://elsewhere.example"}, 403, "other servers"),
        (ONES, {"origin": "http://["}, 403, "other servers"),
        (ONES, {"host": "rebound.example"}, 421, "--name"),
        (ONES, {"host": "[::"}, 421, "--name"),
    ],
)
def test_what_is_wrong_is_said_and_harms_nobody(
    server: Server, body: Any, headers: dict[str, str], status: int, says: str
) -> None:
    reply = server.ask("/recognize", body, headers)
    assert reply.status == status
    assert says in reply.json["error"]["message"]
    assert reply.json["error"]["type"].endswith("Error")
    assert server.ask("/recognize", ONES).status == 200
    assert server.metric("worker_restarts_total") == 0


@pytest.mark.parametrize("query", ["alternatives=many", "alternatives=-1", "alternatives=99999"])
def test_a_wrong_number_of_alternatives_is_refused(server: Server, query: str) -> None:
    assert server.ask(f"/recognize?{query}", ONES).status == 400


def test_a_body_that_never_ends_is_cut_off(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as line:
        line.sendall(
            b"POST /recognize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            for _ in range(64):
                line.sendall(chunk)
        except OSError:
            pass
        assert b" 413 " in line.recv(4096).splitlines()[0] + b" "


def test_noise_instead_of_http_ends_that_connection_only(server: Server) -> None:
    for noise in (os.urandom(4096), b"GET / HTTP/9.9\r\n\r\n", b"GET /\r\n\r\n" + b"a" * 100_000):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as line:
            line.sendall(noise)
            line.shutdown(socket.SHUT_WR)
            line.recv(4096)
    assert server.ask("/healthz").status == 200


@linux
def test_a_killed_worker_is_replaced_and_nothing_is_lost(server: Server) -> None:
    before = server.metric("worker_restarts_total")
    with ThreadPoolExecutor(3) as clients:
        asked = [clients.submit(server.ask, "/recognize", ONES) for _ in range(30)]
        for pid in server.workers:
            os.kill(pid, signal.SIGKILL)
        replies = [one.result() for one in asked]
    assert {reply.status for reply in replies} == {200}
    assert {reply.json["canonical"] for reply in replies} == {"1 - 1"}
    assert server.metric("worker_restarts_total") >= before + 1


@linux
def test_throughput_holds_and_memory_stays_under_load(server: Server) -> None:
    def rush(count: int) -> float:
        started = time.perf_counter()
        with ThreadPoolExecutor(4) as clients:
            statuses = list(
                clients.map(lambda _: server.ask("/recognize", ONES).status, range(count))
            )
        assert set(statuses) == {200}
        return count / (time.perf_counter() - started)

    rush(60)
    processes = [server.process.pid, *server.workers]
    first, before = rush(60), sum(map(memory, processes))
    last, after = rush(60), sum(map(memory, processes))
    assert after < before + 15
    assert last > first / 4  # of a machine that others use as well


@linux
def test_more_than_can_wait_is_refused_at_once_and_the_rest_is_read(server: Server) -> None:
    for pid in server.workers:
        os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(20) as clients:
        asked = [clients.submit(server.ask, "/recognize", ONES) for _ in range(20)]
        refused = [one.result() for one in asked if _done_within(one, 3.0)]
        for pid in server.workers:
            os.kill(pid, signal.SIGCONT)
        statuses = [one.result().status for one in asked]
    assert statuses.count(503) == len(refused) == 20 - 2 - 4
    assert all(int(reply.headers["retry-after"]) >= 1 for reply in refused)
    assert statuses.count(200) == 6


def test_the_pen_is_followed_over_a_websocket(server: Server) -> None:
    connect = pytest.importorskip("websockets.sync.client").connect
    one, minus, other = formula("1 - 1")
    url = f"ws://127.0.0.1:{server.port}/pen"
    with connect(url, origin=server.url.rstrip("/")) as pen:

        def say(message: Any) -> Any:
            pen.send(message if isinstance(message, str) else json.dumps(message))
            return json.loads(pen.recv(timeout=60))

        first = say({"revision": 1, "add": [{"id": 7, "points": one}]})
        assert (first["canonical"], first["revision"]) == ("1", 1)
        added = [{"id": 8, "points": other}, {"id": 9, "points": minus}]
        second = say({"revision": 2, "add": added})
        assert second["canonical"] == "1 - 1"
        assert [symbol["strokes"] for symbol in second["symbols"]] == [[7], [9], [8]]
        assert second["symbols"][0]["id"] == first["symbols"][0]["id"]
        assert say({"revision": 3, "remove": [9, 1234]})["canonical"] == "1 1"
        for wrong in ("", "[]", "[" * 9999, {"revision": 4, "add": [{"id": 7, "points": one}]}):
            assert "message" in say(wrong)["error"]
        endless = [{"id": 50, "points": [[0, 0]] * 60_000}]
        assert "clear" in say({"revision": 5, "add": endless})["error"]["message"]
        assert say({"revision": 6})["canonical"] == "1 1"
    with pytest.raises(Exception, match="403"):
        connect(url, origin="http://elsewhere.example")


@linux
def test_slow_clients_are_hung_up_on_and_stuck_workers_replaced(tiny_model: ModelFile) -> None:
    recognizer = {"name_or_path": str(tiny_model.path), "threads": 1}
    with Server(recognizer=recognizer, head=0.5, sending=0.5, reading=4.0) as server:
        heads = (b"", b"GET / HTT", b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        lines = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in heads]
        for line, head in zip(lines, heads, strict=True):
            line.sendall(head)
        for line in lines:
            assert line.recv(100) == b""
            line.close()
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as line:
            line.sendall(
                b"POST /recognize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
            )
            assert b" 408 " in line.recv(4096)
        (stuck,) = server.workers
        os.kill(stuck, signal.SIGSTOP)
        reply = server.ask("/recognize", ONES)
        assert reply.status == 500
        assert "not read within 4 s" in reply.json["error"]["message"]
        assert server.ask("/recognize", ONES).status == 200
        assert stuck not in server.workers


def test_one_address_has_a_rate(tiny_model: ModelFile) -> None:
    with Server("--model", str(tiny_model.path), "--rate", "2") as server:
        replies = [server.ask("/recognize", strokes(CROSS), JSON) for _ in range(8)]
        refused = [reply for reply in replies if reply.status == 429]
        assert 1 <= len(refused) <= 4
        assert all(int(reply.headers["retry-after"]) >= 1 for reply in refused)
        # Asked to stop, it answers what it has in hand and leaves with 0.
        with ThreadPoolExecutor(1) as client:
            workers = server.workers if Path("/proc/self/task").is_dir() else []
            time.sleep(1.5)
            asked = client.submit(server.ask, "/recognize", ONES)
            time.sleep(0.05)
            assert server.stop() == 0
            assert asked.result().status == 200
        assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def test_a_model_that_is_not_there_and_a_port_that_is_taken(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--port", "0", "--model", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert main(["demo", "--port", str(server.port)]) == 2
    assert "choose another --port" in capsys.readouterr().err


def _done_within(one: Any, seconds: float) -> bool:
    try:
        one.result(seconds)
    except TimeoutError:
        return False
    return True
