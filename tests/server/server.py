"""A server as a user starts it: the command in a process of its own, on a free port."""

import http.client
import json
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CROSS = [[[0, 0], [20, 20]], [[20, 0], [0, 20]]]
IMPORTS = (
    "from namer_edge_runtime.server.serve import serve; "
    "from namer_edge_runtime.server.settings import Settings"
)
JSON = {"content-type": "application/json"}


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """Started with options of the command, or with `Settings` where given; a context that ends
    it."""

    def __init__(self, *options: str, **settings: Any) -> None:
        command = ["-m", "namer_edge_runtime.command", "demo", "--port", "0", "--threads", "1"]
        code = f"{IMPORTS}; serve(Settings(port=0, **{settings!r}))"
        self.process = subprocess.Popen(
            [sys.executable, *(["-c", code] if settings else [*command, *options])],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, line + self.process.stderr.read()
        self.port = int(found[1])
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def ask(
        self,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        method: str | None = None,
    ) -> Reply:
        """POST where there is a body, else GET."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            method = method or ("GET" if body is None else "POST")
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            lower = {name.lower(): value for name, value in reply.getheaders()}
            return Reply(reply.status, lower, reply.read())
        finally:
            connection.close()

    def metric(self, name: str) -> float:
        lines = self.ask("/metrics").body.decode().splitlines()
        (value,) = [line.split()[-1] for line in lines if line.startswith(f"namer_edge_{name} ")]
        return float(value)

    @property
    def workers(self) -> list[int]:
        """Process ids, as Linux tells them."""
        found = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            children = (task / "children").read_text(encoding="utf-8").split()
            found += [int(pid) for pid in children if b"spawn_main" in _command(int(pid))]
        return sorted(set(found))

    def stop(self) -> int:
        """Tells it to stop and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def strokes(value: Any = None) -> str:
    return json.dumps({"strokes": CROSS if value is None else value})


def memory(pid: int) -> float:
    """Resident, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 2**10


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
