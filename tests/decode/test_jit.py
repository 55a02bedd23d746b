"""Compiling and caching on machines as they are: read-only, full, without Numba."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import namer_edge_runtime
from namer_edge_runtime.decode.jit import kernels, plain_array

PACKAGE = Path(namer_edge_runtime.__file__).parent
PICK = """
import numpy as np
from namer_edge_runtime.decode import pick
from namer_edge_runtime.decode.jit import kernels
assert all(kernel._compiled is None for kernel in kernels()), "compiled at import"
def run():
    fires = np.full((1, 2, 2), 0.9, np.float32)
    nodes = pick(fires, np.zeros((1, 2, 2), np.int32), 1 - fires[0], np.zeros(1, np.int8), 1, 2, 3)
    assert nodes.classes.tolist() == [2, 3, 0, 0, 0, 0]
"""
READ = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from namer_edge_runtime.decode import decode, pick, warm_up
    assert not caught, "warned at import"
    random = np.random.default_rng(0)
    endings = np.array([0, 0, 1, 2], np.int8)
    for _ in range(3):
        scores = -np.sort(-random.random((2, 5, 9), np.float32), axis=0)
        classes = random.integers(0, 4, scores.shape).astype(np.int32)
        none = random.random((5, 9), np.float32)
        nodes = pick(scores, classes, none, endings, 4, 5, 6, threshold=0.3, class_threshold=0.2)
        heads = [random.random((len(nodes), n), np.float32) for n in (6, len(nodes), len(nodes))]
        for path in decode(*heads, nodes, endings, alternatives=3):
            print(path.nodes.tolist(), path.classes.tolist(), path.score)
    warm = warm_up()
assert warm.compiled == (not caught)
print("---", *(warning.message for warning in caught))
"""
HITS = "\nprint('hits', sum(kernel.cache_hits for kernel in kernels()))"


def python(code: str, **environment: str) -> str:
    """Runs code in a fresh process and returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_compiled_once_then_loaded_from_the_cache_folder(tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert python(PICK + "run()" + HITS, **cache) == "hits 0\n"
    assert python(PICK + "run()" + HITS, **cache) == "hits 1\n"
    # A truncated cache, as a crash or a full disk leaves it, is no reason to fail.
    for file in tmp_path.rglob("*.nb?"):
        file.write_bytes(file.read_bytes()[:20])
    assert python(PICK + "run(); run()" + HITS, **cache) == "hits 0\n"


def test_works_where_nothing_can_be_written(tmp_path: Path) -> None:
    # Code in a zip and no home: Numba finds no place for a cache and says so by raising.
    archive = tmp_path / "package.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in PACKAGE.rglob("*.py"):
            packed.write(file, Path(PACKAGE.name) / file.relative_to(PACKAGE))
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache", "NUMBA_CACHE_DIR": ""}
    where = "\nprint(kernels()[0]._compiled.stats.cache_path)\nprint(pick.__code__.co_filename)"
    printed = python(PICK + "run()" + HITS + where, PYTHONPATH=str(archive), **nowhere)
    assert printed.startswith(f"hits 0\nNone\n{archive}")


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a matter of POSIX")
def test_works_on_a_full_disk(tmp_path: Path) -> None:
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    python(full + PICK + "run(); run()", NUMBA_CACHE_DIR=str(tmp_path))
    assert not list(tmp_path.rglob("*.nb?"))


def test_without_numba_the_same_answers_and_one_warning() -> None:
    compiled, none = answers()
    assert none == ""
    plain, warning = answers("import sys; sys.modules['numba'] = None")
    assert plain == compiled
    assert warning.startswith("Numba cannot be used")
    assert warning.count("Numba cannot") == 1
    # The kernels themselves, run as Python.
    assert answers(NUMBA_DISABLE_JIT="1") == (compiled, "")


def answers(before: str = "", **environment: str) -> tuple[str, str]:
    """Readings of random scores, and the warnings that came with them."""
    printed, warned = python(before + READ, **environment).split("---")
    return printed, warned.strip()


def test_every_kernel_has_one_signature() -> None:
    for kernel in kernels():
        assert len(getattr(kernel._compiled, "signatures", ())) <= 1


def test_arrays_are_copied_only_where_they_must_be() -> None:
    values = np.zeros((3, 4), np.float32)
    assert plain_array(values, np.float32) is values
    frozen = values.view()
    frozen.flags.writeable = False
    assert plain_array(frozen, np.float32).flags.writeable
    assert plain_array(values.T, np.float32).flags.c_contiguous
