"""Load test of a server: requests a second and their times, with ever more clients.

    namer-edge demo load-test http://127.0.0.1:8765/ PICTURE

prints JSON. Start the server with `--rate 0`, or the rate limit is what is measured.
"""

import argparse
import http.client
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

SUMMARY = "measure a server's requests a second with ever more clients"


@dataclass(frozen=True)
class Load:
    """Results with one number of concurrent clients; times in seconds."""

    clients: int
    answered: int
    per_second: float
    median: float
    p95: float
    refused: int
    """Requests answered with 503, since too many waited."""
    failed: int


def load(address: str, body: bytes, clients: int, requests: int) -> Load:
    """Sends `requests` in total. Times and throughput count answered requests only."""

    def ask(_: int) -> tuple[int, float]:
        started = perf_counter()
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
        try:
            connection.request("POST", "/recognize", body)
            reply = connection.getresponse()
            reply.read()
            return reply.status, perf_counter() - started
        except OSError:
            return 0, perf_counter() - started
        finally:
            connection.close()

    started = perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        replies = list(threads.map(ask, range(requests)))
    spent = perf_counter() - started
    statuses = Counter(status for status, _ in replies)
    times = sorted(time for status, time in replies if status == 200) or [0.0]
    return Load(
        clients,
        statuses[200],
        round(statuses[200] / spent, 2),
        round(times[len(times) // 2], 3),
        round(times[int(0.95 * (len(times) - 1))], 3),
        statuses[503],
        requests - statuses[200] - statuses[503],
    )


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 2, 4, 8, 32])
    parser.add_argument("--requests", type=int, default=100, help="for each number of clients")


def run(arguments: argparse.Namespace) -> int:
    """Prints one line of JSON for each number of clients."""
    body = arguments.picture.read_bytes()
    for clients in arguments.clients:
        print(json.dumps(asdict(load(arguments.address, body, clients, arguments.requests))))
    return 0


if __name__ == "__main__":  # the former name
    parser = argparse.ArgumentParser(description=SUMMARY)
    configure(parser)
    sys.exit(run(parser.parse_args()))
