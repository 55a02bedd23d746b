"""Writes `api.md` and `http.md` from the docstrings and the server's own description.

Run it where a docstring has changed; `tests/docs/test_pages.py` says when. Needs `namer-edge[dev]`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
ROOTS = (ROOT, ROOT / "runtime", ROOT / "export")
PAGES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "Reading": (
        ("namer_edge_runtime.recognizer", ("Recognizer",)),
        ("namer_edge_runtime.result", ("Result", "Reading", "TokenResult", "Milliseconds")),
        ("namer_edge_runtime.recognition.pen_session", ("PenSession", "CanvasSymbol")),
    ),
    "Models": (
        ("namer_edge_runtime.model_file", ("ModelFile", "Part", "packaged_models")),
        ("namer_edge_runtime.preprocessing", ("Preprocessing",)),
        ("namer_edge_runtime.decode.options", ("DecodingOptions",)),
        ("namer_edge_runtime.score_calibration", ("ScoreCalibration", "PlattScaling")),
    ),
    "Engines": (
        ("namer_edge_runtime.engine.base", ("Engine", "VatOutput", "PgdInputs", "PgdOutput")),
    ),
    "Formulas": (
        ("namer_edge_runtime.formula.tokens", ("normalize",)),
        ("namer_edge_runtime.formula.latex", ("compact", "katex")),
        ("namer_edge_runtime.formula.mathml", ("mathml",)),
    ),
    "Data, training and export": (
        ("namer_edge.data.crohme", ("load_crohme",)),
        ("namer_edge.data.pictures", ("load_pictures",)),
        ("namer_edge.data.mathwriting", ("load_mathwriting",)),
        ("namer_edge.data.pack", ("save_pack", "load_pack")),
        ("namer_edge.training.config", ("load_config",)),
        ("namer_edge.training.loop", ("train",)),
        ("namer_edge_export.export", ("export",)),
    ),
}
"""Heading → modules, and the names of each that are documented."""
ERRORS = "namer_edge_runtime.errors"
BY = "<!-- Written by docs/make_api.py: change the docstrings, not this page. -->"


def _module(name: str) -> Any:
    """A module as its source tells it; nothing is imported."""
    file = Path(*name.split(".")).with_suffix(".py")
    path = next(root / file for root in ROOTS if (root / file).is_file())
    return griffe.visit(name, path, path.read_text("utf-8"))


def _docstring(thing: Any) -> str:
    """The docstring as Markdown: what looks like a tag is no tag."""
    text = thing.docstring.value.strip() if thing.docstring else ""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else p.replace("<", "\\<") for p in parts)


def _code(text: str) -> str:
    return f"```py\n{text}\n```"


def _signature(function: Any) -> str:
    """As it is called, over several lines where one is too long."""
    text = str(function.signature())
    text = re.sub(r"\((self|cls)(, )?", "(", text, count=1)
    if len(text) <= 96:
        return text
    inside = text[text.index("(") + 1 : text.rindex(")")]
    parts = re.split(r", (?![^\[]*\])", inside)
    lines = "".join(f"    {part},\n" for part in parts)
    return f"{text[: text.index('(')]}(\n{lines}){text[text.rindex(')') + 1 :]}"


def _public(owner: Any) -> Iterator[tuple[str, Any]]:
    for name, member in owner.members.items():
        if (not name.startswith("_") or name == "__call__") and not member.is_alias:
            yield name, member


def _class(owner: Any) -> Iterator[str]:
    bases = ", ".join(str(base) for base in owner.bases if str(base) != "Protocol")
    yield f"### `{owner.name}{f'({bases})' if bases else ''}`"
    yield f"`from {owner.module.path} import {owner.name}`"
    yield _docstring(owner)
    fields = []
    for name, member in _public(owner):
        if member.is_attribute and member.annotation is not None:
            default = "" if member.value is None or "field(" in str(member.value) else member.value
            description = f" — {' '.join(_docstring(member).split())}" if member.docstring else ""
            default = f" = {default}" if str(default) else ""
            fields.append(f"- `{name}: {member.annotation}{default}`{description}")
    yield "\n".join(fields)
    for name, member in _public(owner):
        if member.is_function and (member.docstring or name == "to_json"):
            yield f"#### `{owner.name}.{name}`"
            yield _code(_signature(member))
            yield _docstring(member)


def _errors() -> Iterator[str]:
    yield "## Errors"
    yield (
        f"`from {ERRORS} import …`: each message says what is wrong and what to do about it. The "
        "exit code is that of the command line."
    )
    rows = ["| error | exit code | |", "|---|---|---|"]
    for name, member in _module(ERRORS).members.items():
        if member.is_class:
            code = member.members.get("exit_code")
            first = " ".join(_docstring(member).split())
            rows.append(f"| `{name}` | {code.value if code else 1} | {first} |")
    yield "\n".join(rows)


def api_page() -> str:
    parts = [BY, "# Python API"]
    parts += [
        "`from namer_edge import Recognizer` is all that most programs need. Arrays are given as "
        "[shape]; all is typed (`py.typed`)."
    ]
    for heading, modules in PAGES.items():
        parts.append(f"## {heading}")
        for module_name, names in modules:
            module = _module(module_name)
            for name in names:
                thing = module.members[name]
                if thing.is_class:
                    parts += _class(thing)
                else:
                    parts += [f"### `{name}`", f"`from {module_name} import {name}`"]
                    parts += [_code(_signature(thing)), _docstring(thing)]
    parts += _errors()
    return "\n\n".join(part for part in parts if part) + "\n"


def _kind(schema: dict[str, Any]) -> str:
    """A JSON schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    if "properties" in schema:
        return "object of " + ", ".join(
            f"`{name}` ({_kind(value)})" for name, value in schema["properties"].items()
        )
    return str(schema.get("format", schema.get("type", "any")))


def http_page() -> str:
    from namer_edge_runtime.server.openapi import description
    from namer_edge_runtime.server.settings import Settings

    api = description(Settings(recognizer={}))
    parts = [BY, "# HTTP API", api["info"]["description"]]
    parts += [
        "`namer-edge demo` serves it; examples, limits and what to put before it stand in "
        "[demo.md](demo.md). The server itself tells the same at `/docs`, and to programs at "
        "`/openapi.json`."
    ]
    for path, methods in api["paths"].items():
        for method, call in methods.items():
            summary = re.sub(r"(\w)$", r"\1.", call["summary"])
            told_more = f"{summary} {call.get('description', '')}".strip()
            parts += [f"## `{method.upper()} {path}`", told_more]
            asked = [
                f"- `?{p['name']}=` {_kind(p['schema'])} {p['schema']['minimum']} to "
                f"{p['schema']['maximum']}, {p['schema']['default']} if not given: "
                f"{p['description']}"
                for p in call.get("parameters", ())
            ]
            bodies = call.get("requestBody", {}).get("content", {})
            asked += [f"- body `{kind}`: {_kind(body['schema'])}" for kind, body in bodies.items()]
            parts += ["\n".join(asked)] if asked else []
            rows = ["| status | | body |", "|---|---|---|"]
            for status, answer in call["responses"].items():
                (_, body), *others = answer["content"].items()
                also = ", ".join(f"`{other}`" for other, _ in others)
                written = _kind(body["schema"]) + f"; by `Accept` also {also}" * bool(others)
                rows.append(f"| {status} | {answer['description']} | {written} |")
            parts.append("\n".join(rows))
    for name, schema in api["components"]["schemas"].items():
        rows = [
            f"- `{key}`: {_kind(value)}. {value.get('description', '')}".strip()
            for key, value in schema["properties"].items()
        ]
        parts += [f"## {name}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    (HERE / "api.md").write_text(api_page(), "utf-8")
    (HERE / "http.md").write_text(http_page(), "utf-8")


if __name__ == "__main__":
    main()
