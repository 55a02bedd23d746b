"""`namer-edge demo`: a page to write on, and an HTTP endpoint."""

import argparse

from .options import add_model_options, positive, recognizer_options

SUMMARY = "write formulas on a page in the browser, or send them over HTTP"

SUB_VERBS = {"load-test": "namer_edge_runtime.server.load_test"}

EPILOG = """\
  /            a page to write on, or to drop pictures on
  /recognize   POST a picture, a form with a file, or {"strokes": [[[x, y], …], …]} as JSON
  /docs        says all about it; /openapi.json for programs
  /healthz     200 while workers are up; /metrics for Prometheus

Nothing is sent elsewhere, stored or logged. Stop it with Ctrl-C or SIGTERM: requests in hand are
answered first.

Only this machine can reach it, unless --host says otherwise (--host 0.0.0.0: every machine of your
network). It has no passwords and no encryption of its own. Before others may reach it, put a
reverse proxy (nginx, Caddy, Traefik …) in front that adds TLS, which browsers also ask for before
they offer the camera, and a login; leave --host as it is, and name the proxy, so that the limit of
--rate is for each of its clients: --proxy 127.0.0.1 --name formulas.example.org. The proxy must
pass on the header Host, and upgrades to WebSocket on /pen.

`namer-edge demo load-test URL PICTURE` measures a server that runs (start it with --rate 0).
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--port", type=_port, default=8765, metavar="N", help="%(default)s; 0: any")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="%(default)s")
    parser.add_argument(
        "--workers",
        type=positive,
        default=1,
        metavar="N",
        help="processes that read (%(default)s): more for many clients at a time, one for one pen",
    )
    parser.add_argument(
        "--waiting",
        type=positive,
        default=16,
        metavar="N",
        help="inputs that may wait for a worker (%(default)s); more are refused with 503",
    )
    parser.add_argument(
        "--max-body",
        type=positive,
        default=8,
        metavar="MIB",
        help="the largest request (%(default)s); larger ones are refused with 413",
    )
    parser.add_argument(
        "--rate",
        type=_rate,
        default=20.0,
        metavar="N",
        help="requests a second from one address (20); more get 429; 0: no limit",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME",
        help="a name that the server is reached by, beside IP addresses and localhost",
    )
    parser.add_argument("--proxy", metavar="ADDRESS", help="of the proxy in front, to be believed")
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is told to stop. Raises the errors of model and engine, and `UsageError` for
    an address that cannot be listened on."""
    from ..engine.cpus import usable_cpus
    from ..server.serve import serve
    from ..server.settings import Settings

    options = recognizer_options(arguments)
    if options["threads"] is None:
        options["threads"] = max(1, usable_cpus() // arguments.workers)
    serve(
        Settings(
            recognizer=options,
            host=arguments.host,
            port=arguments.port,
            workers=arguments.workers,
            waiting=arguments.waiting,
            body=arguments.max_body << 20,
            rate=arguments.rate,
            names=tuple(arguments.name),
            proxy=arguments.proxy,
        )
    )
    return 0


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: give a number from 0 to 65535")
    return int(text)


def _rate(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return number
