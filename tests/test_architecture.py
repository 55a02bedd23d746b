"""Architecture: layers, cycles, what stays out of the runtime, how large a file grows."""

import ast
import importlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest

from namer_edge_runtime.plugins import PACKAGED

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "namer_edge_runtime": ROOT / "runtime" / "namer_edge_runtime",
    "namer_edge": ROOT / "namer_edge",
    "namer_edge_export": ROOT / "export" / "namer_edge_export",
    "namer_edge_benchmarks": ROOT / "benchmarks" / "namer_edge_benchmarks",
}
"""In the order that imports may follow: each package may use those before it."""

LAYERS = (
    "namer_edge_runtime.aliases",
    "namer_edge_runtime.errors",
    "namer_edge_runtime.plugins",
    "namer_edge_runtime.bounded",
    "namer_edge_runtime.atomic",
    "namer_edge_runtime.file_lock",
    "namer_edge_runtime.preprocessing",
    "namer_edge_runtime.formula",
    "namer_edge_runtime.ink",
    "namer_edge_runtime.picture",
    "namer_edge_runtime.inputs",
    "namer_edge_runtime.result",
    "namer_edge_runtime.score_calibration",
    "namer_edge_runtime.decode",
    "namer_edge_runtime.model_file",
    "namer_edge_runtime.engine",
    "namer_edge_runtime.recognition",
    "namer_edge_runtime.recognizer",
    "namer_edge_runtime.bulk",
    "namer_edge_runtime.outputs",
    "namer_edge_runtime.reference_readings",
    "namer_edge_runtime.diagnostics",
    "namer_edge_runtime.server",
    "namer_edge_runtime.browser",
    "namer_edge_runtime.verbs",
    "namer_edge_runtime.command",
    "namer_edge_runtime.pyinstaller",
    "namer_edge.figures",
    "namer_edge.data",
    "namer_edge.evaluation",
    "namer_edge.model",
    "namer_edge.autoregressive",
    "namer_edge.checkpoints",
    "namer_edge.training",
    "namer_edge.ablation",
    "namer_edge.explanation",
    "namer_edge.verbs",
    "namer_edge_export",
    "namer_edge_benchmarks",
)
"""Packages and top-level modules; each may import those above it, and none below."""
FORMER = ("decoding", "picture.look", "scaling", "session")
"""Modules of the runtime that only re-export what has moved."""

HEAVY = ("torch", "onnxruntime", "numba", "cv2", "scipy", "onnx", "matplotlib")
LONGEST_FILE = 400


def modules() -> Iterator[tuple[str, Path]]:
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            if path.name.startswith("hook-"):  # run by PyInstaller, imported by nobody
                continue
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join((package, *(p for p in parts if p != "__init__"))), path


MODULES = dict(modules())


def imported(name: str, path: Path, *, inside_functions: bool = True) -> set[str]:
    """Full names of all modules that a file imports, relative imports resolved."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes: list[ast.stmt] | Iterator[ast.AST] = ast.walk(tree) if inside_functions else tree.body
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            whole = {f"{base}.{alias.name}" for alias in node.names}
            # `from package import module` imports the module; `from module import name`, itself.
            found |= {full if full in MODULES else base for full in whole}
    return found


def layer(name: str) -> int:
    """Place in `LAYERS`; -1 for the packages' own `__init__`, which import on demand."""
    owner = [i for i, one in enumerate(LAYERS) if name == one or name.startswith(one + ".")]
    return owner[0] if owner else -1


def dependencies(name: str) -> set[str]:
    """Our modules that a module imports, in functions and for type checkers too."""
    return {other for other in imported(name, MODULES[name]) if other in MODULES} - {name}


INSIDE = [
    name
    for name in MODULES
    if name not in PACKAGES and name.removeprefix("namer_edge_runtime.") not in FORMER
]


@pytest.mark.parametrize("name", INSIDE)
def test_imports_point_up_the_layers(name: str) -> None:
    assert layer(name) >= 0, f"{name} is in no layer: add its package to LAYERS"
    below = sorted(other for other in dependencies(name) if layer(other) > layer(name))
    assert not below, f"{name} imports {below}, which are in layers below"


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = networkx.DiGraph((name, other) for name in MODULES for other in dependencies(name))
    cycles = [sorted(group) for group in networkx.strongly_connected_components(graph)]
    assert not [group for group in cycles if len(group) > 1]


def test_former_modules_hold_nothing_of_their_own() -> None:
    for name in FORMER:
        tree = ast.parse(MODULES[f"namer_edge_runtime.{name}"].read_text(encoding="utf-8"))
        assert all(isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign) for node in tree.body)


@pytest.mark.parametrize(
    "name", [name for name in MODULES if name.startswith("namer_edge_runtime")]
)
def test_the_runtime_never_imports_torch(name: str) -> None:
    foreign = {other.partition(".")[0] for other in imported(name, MODULES[name])}
    assert not foreign & {"torch", "namer_edge", "namer_edge_export", "namer_edge_benchmarks"}


def in_a_fresh_python(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_the_packages_leaves_torch_out() -> None:
    in_a_fresh_python(
        "import sys, namer_edge, namer_edge_runtime\n"
        "assert 'torch' not in sys.modules, 'torch came in'"
    )


def test_runtime_and_evaluation_work_where_torch_is_not_installed() -> None:
    free = [
        name
        for name in MODULES
        if name.startswith(("namer_edge_runtime", "namer_edge.evaluation", "namer_edge.verbs"))
    ]
    in_a_fresh_python(
        "import sys, importlib\n"
        "sys.modules['torch'] = None  # makes every import of it fail\n"
        f"for name in {free!r}: importlib.import_module(name)"
    )


def entry_points() -> dict[str, str]:
    """Whatever is loaded by name, packaged or declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"scripts": project["scripts"], **project["entry-points"], **PACKAGED}
    return {
        f"{group}: {name}": target
        for group, table in groups.items()
        for name, target in table.items()
    }


@pytest.mark.parametrize("entry", entry_points())
def test_entry_points_resolve(entry: str) -> None:
    module, _, attribute = entry_points()[entry].partition(":")
    target = importlib.import_module(module)
    if attribute:
        assert callable(getattr(target, attribute))
    else:
        assert isinstance(target.SUMMARY, str)
        assert callable(target.configure)
        assert callable(target.run)


def test_help_of_every_verb_needs_no_heavy_import() -> None:
    verbs = [target for entry, target in entry_points().items() if ".verbs:" in entry]
    in_a_fresh_python(
        "import sys, argparse, importlib, namer_edge_runtime.command\n"
        f"for name in {verbs!r}:\n"
        "    importlib.import_module(name).configure(argparse.ArgumentParser())\n"
        f"    came = sorted(set({HEAVY!r}) & set(sys.modules))\n"
        "    assert not came, f'{name} imports {came} before it runs'"
    )


@pytest.mark.parametrize("folder", ["runtime", "namer_edge", "export", "benchmarks", "tests"])
def test_no_file_is_longer_than_anyone_reads(folder: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert not {path: n for path, n in lengths.items() if n > LONGEST_FILE}


def test_the_packages_are_typed() -> None:
    for folder in PACKAGES.values():
        assert (folder / "py.typed").is_file()
