"""`namer-edge check`: diagnostics of this machine and installation."""

import argparse
from typing import Any

SUMMARY = "say what is installed, verify a model, compile the kernels and read a test formula"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help="name of a packaged model, or the path of one"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 where all is in order, else that of the first thing that is not."""
    import json

    from ..diagnostics.health import examine

    health = examine(arguments.model)
    if arguments.json:
        print(json.dumps(health.to_json(), ensure_ascii=False, indent=1))
    else:
        sections = dict(health.sections)
        arithmetic = sections.pop("arithmetic", {})
        for title, values in sections.items():
            print(title)
            for line in _lines(values):
                print(f"  {line}")
        for key, value in arithmetic.items():
            print(f"{key}: {value}")
        print(*(f"PROBLEM: {problem}" for problem in health.problems), sep="\n", end="")
        print("" if health.problems else "all in order")
    return health.exit_code


def _lines(values: dict[str, Any]) -> list[str]:
    width = max(map(len, values), default=0)
    return [f"{key:<{width}}  {_formatted(value)}" for key, value in values.items()]


def _formatted(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "not installed" if value is None else str(value)
