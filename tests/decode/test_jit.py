"""Compiling and caching on machines as they are: read-only, full, without Numba."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import namer_edge_runtime
from namer_edge_runtime.decode import Nodes, decode
from namer_edge_runtime.decode.jit import kernels, plain_array

PACKAGE = Path(namer_edge_runtime.__file__).parent
PICK = """
import sys
import numpy as np
from namer_edge_runtime.decode import pick
from namer_edge_runtime.decode.jit import builder, kernels
assert not any(kernel.compiled for kernel in kernels()), "compiled at import"
assert "numba" not in sys.modules, "imported at import"
def run():
    fires = np.full((1, 2, 2), 0.9, np.float32)
    nodes = pick(fires, np.zeros((1, 2, 2), np.int32), 1 - fires[0], np.zeros(1, np.int8), 1, 2, 3)
    assert nodes.classes.tolist() == [2, 3, 0, 0, 0, 0]
    builder.wait()
"""
READ = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from namer_edge_runtime.decode import decode, pick, warm_up
    assert not caught, "warned at import"
    if wait:
        warm_up()
    random = np.random.default_rng(0)
    endings = np.array([0, 0, 1, 2], np.int8)
    for _ in range(3):
        scores = -np.sort(-random.random((2, 5, 9), np.float32), axis=0)
        classes = random.integers(0, 4, scores.shape).astype(np.int32)
        none = random.random((5, 9), np.float32)
        nodes = pick(scores, classes, none, endings, 4, 5, 6, threshold=0.3)
        heads = [random.random((len(nodes), n), np.float32) for n in (6, len(nodes), len(nodes))]
        for path in decode(*heads, nodes, endings, alternatives=3):
            print(path.nodes.tolist(), path.classes.tolist(), path.score)
    warm = warm_up()
assert warm.compiled == (not caught), caught
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
    # The compiler works in a thread, so the limit must be there before it starts.
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
    # While the kernels are on their way.
    assert answers(wait=False) == (compiled, "")
    # The kernels themselves, run as Python.
    assert answers(NUMBA_DISABLE_JIT="1") == (compiled, "")


def answers(before: str = "", *, wait: bool = True, **environment: str) -> tuple[str, str]:
    """Readings of random scores, and the warnings that came with them; of twins where not `wait`"""
    printed, warned = python(f"{before}\nwait = {wait}\n" + READ, **environment).split("---")
    return printed, warned.strip()


def test_every_kernel_has_one_signature() -> None:
    nodes = Nodes(np.zeros((2, 2), np.int64), *np.zeros((4, 2), np.int32))  # type: ignore[arg-type]
    even = np.full((2, 2), 0.5)
    options = {"epsilon": np.float32(1), "left_weight": 1, "k_best": 3.0}
    decode(even, even, even.T, nodes, np.zeros(0, int), **options, alternatives=np.int32(5))
    for kernel in kernels():
        assert len(getattr(kernel._compiled, "signatures", ())) <= 1


def test_arrays_are_copied_only_where_they_must_be() -> None:
    values = np.zeros((3, 4), np.float32)
    assert plain_array(values, np.float32) is values
    frozen = values.view()
    frozen.flags.writeable = False
    assert plain_array(frozen, np.float32).flags.writeable
    assert plain_array(values.T, np.float32).flags.c_contiguous


FIRST = """
import os, sys, threading
from namer_edge_runtime.decode import jit
def slow(value):
    return value + 1
kernel = jit.kernel(plain=lambda value: value + 1)(slow)
build = jit.Kernel.build
inside, go_on = threading.Event(), threading.Event()
def held(*args):
    inside.set()
    assert go_on.wait(60)
    build(*args)
jit.Kernel.build = held
assert kernel(1) == 2
assert inside.wait(60)
"""


def test_nobody_waits_for_the_compiler_and_it_is_asked_once() -> None:
    said = python(
        FIRST + "assert kernel(2) == 3 and not kernel.compiled\n"
        "go_on.set(); jit.builder.wait()\n"
        "assert kernel(3) == 4 and kernel.compiled\n"
        "print(len(kernel._compiled.signatures))",
        NUMBA_CACHE_DIR="",
    )
    assert said == "1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_waits_for_the_kernel_in_hand_and_the_child_builds_its_own() -> None:
    said = python(
        FIRST + "threading.Timer(0.2, go_on.set).start()\n"
        "if child := os.fork():\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    jit.builder.wait()\n"
        "    print(kernel.compiled)\n"
        "else:\n"
        "    second = jit.kernel(plain=lambda value: value + 2)(lambda value: value + 2)\n"
        "    assert second(1) == 3\n"
        "    jit.builder.wait()\n"
        "    os._exit(not (kernel.compiled and second.compiled))",
        NUMBA_CACHE_DIR="",
    )
    assert said == "True\n"


def test_the_program_ends_without_waiting_for_kernels_that_nobody_needs_any_more() -> None:
    # The thread has one kernel in hand and another before it when the program ends.
    said = python(
        FIRST + "other = jit.kernel(plain=lambda value: value)(slow)\n"
        "import atexit\n"
        "other(1)\n"
        "built = []\n"
        "def held(self, *args): built.append(self)\n"
        "jit.Kernel.build = held\n"
        "atexit.register(lambda: print(len(built)))  # called when all threads have ended\n"
        "def end(): threading.main_thread().join(); go_on.set()\n"
        "threading.Thread(target=end).start()\n"
    )
    assert said == "0\n"
