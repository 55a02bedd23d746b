"""Corrections over HTTP, which remembers nothing, and over a page's WebSocket, which does."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")

from .server import JSON, Server
from .writing import example


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """With the packaged model."""
    with Server("--rate", "0") as started:
        yield started


INK, _ = example("square")
STROKES = [stroke.tolist() for stroke in INK.strokes]


def read(server: Server, **known: Any) -> dict[str, Any]:
    body = json.dumps({"strokes": STROKES, **known})
    reply = server.ask("/recognize", body, JSON)
    assert reply.status == 200, reply.body
    return dict(reply.json)


def test_strokes_come_with_the_other_classes_of_each_symbol(server: Server) -> None:
    found = read(server)
    assert [token["text"] for token in found["tokens"]] == ["x", "^", "2", "+", "1"]
    assert [symbol["locked"] for symbol in found["symbols"]] == [False] * 5
    owned = [place for symbol in found["symbols"] for place in symbol["strokes"]]
    assert sorted(owned) == list(range(len(STROKES)))
    assert found["symbols"][1]["strokes"] == []
    for symbol in found["symbols"]:
        assert symbol["alternatives"]
        assert all(0 <= other["score"] <= 1 for other in symbol["alternatives"])
    assert "X" in [other["text"] for other in found["symbols"][0]["alternatives"]]


def test_what_is_sent_as_known_is_certain(server: Server) -> None:
    plain = read(server)
    own = plain["symbols"][0]["strokes"]
    place = [plain["tokens"][1][axis] for axis in "xy"]
    found = read(server, locks=[{"strokes": own, "text": "\\alpha"}, {"at": place, "text": "_"}])
    assert found["canonical"] == "\\alpha _ { 2 } + 1"
    assert [symbol["locked"] for symbol in found["symbols"]] == [True, True, False, False, False]
    together = [place for symbol in plain["symbols"][3:] for place in symbol["strokes"]]
    joined = read(server, locks=[{"strokes": sorted(together)}])
    assert len(joined["tokens"]) == 4
    assert joined["symbols"][-1]["strokes"] == sorted(together)


@pytest.mark.parametrize(
    ("locks", "says"),
    [
        (3, "no list"),
        ([3], "no list"),
        ([{"strokes": "0"}], "no lock"),
        ([{"strokes": [0.5]}], "no lock"),
        ([{"strokes": [True]}], "no lock"),
        ([{"strokes": [0], "text": 3}], "no lock"),
        ([{"at": [0], "text": "^"}], "no lock"),
        ([{"at": [0, "x"], "text": "^"}], "no lock"),
        ([{"at": [0, 1e300], "text": "^"}], "no lock"),
        ([{"text": "x"}], "needs the strokes"),
        ([{"strokes": [99], "text": "x"}], "not there"),
        ([{"strokes": [0, 0], "text": "x"}], "not there"),
        ([{"strokes": [0]}, {"strokes": [0, 1]}], "two symbols"),
        ([{"strokes": [0], "text": "\\alhpa"}], "\\alpha"),
        ([{"strokes": [0], "text": "^"}], "no stroke"),
        ([{"at": [0, place], "text": "^"} for place in range(5000)], "at most 128"),
    ],
)
def test_locks_that_cannot_be_are_refused(server: Server, locks: Any, says: str) -> None:
    reply = server.ask("/recognize", json.dumps({"strokes": STROKES, "locks": locks}), JSON)
    assert reply.status == 400
    assert says in reply.json["error"]["message"]
    assert reply.json["error"]["type"] == "UsageError"


def test_both_are_described(server: Server) -> None:
    described = server.ask("/openapi.json").json
    content = described["paths"]["/recognize"]["post"]["requestBody"]["content"]
    lock = content["application/json"]["schema"]["properties"]["locks"]["items"]
    assert {*lock["properties"]} == {"strokes", "at", "text"}
    told = described["components"]["schemas"]["Result"]["properties"]
    found = read(server)
    assert {*found} <= {*told}
    assert {*found["symbols"][0]} == {*told["symbols"]["items"]["properties"]}


def test_a_canvas_keeps_what_is_known_while_strokes_come_and_go(server: Server) -> None:
    connect = pytest.importorskip("websockets.sync.client").connect
    with connect(f"ws://127.0.0.1:{server.port}/pen", origin=server.url.rstrip("/")) as pen:

        def say(**message: Any) -> Any:
            pen.send(json.dumps({"revision": 1, **message}))
            return json.loads(pen.recv(timeout=60))

        first = say(add=[{"id": 10 + n, "points": points} for n, points in enumerate(STROKES[:3])])
        assert first["canonical"] == "x ^ { 2 }"
        own = first["symbols"][0]["strokes"]
        assert own == [10, 11]
        locks = [{"strokes": own, "text": "\\lambda"}]
        second = say(locks=locks)
        assert second["canonical"] == "\\lambda ^ { 2 }"
        assert second["milliseconds"]["vat"] == first["milliseconds"]["vat"]  # no new pass
        assert second["symbols"][0]["locked"]
        assert second["symbols"][0]["id"] == first["symbols"][0]["id"]
        assert say(locks=[])["canonical"] == first["canonical"]  # and none to take it back
        say(locks=locks)
        rest = [{"id": 10 + n, "points": STROKES[n]} for n in range(3, len(STROKES))]
        assert say(add=rest)["canonical"] == "\\lambda ^ { 2 } + 1"
        assert "alpha" in say(locks=[{"strokes": own, "text": "\\alhpa"}])["error"]["message"]
        assert say(locks=[])["canonical"] == "x ^ { 2 } + 1"
        assert say(locks=locks)["canonical"] == "\\lambda ^ { 2 } + 1"
        say(remove=[own[0]])  # and with a stroke goes what was said of it
        assert not any(s["locked"] for s in say(remove=[own[1]])["symbols"])
