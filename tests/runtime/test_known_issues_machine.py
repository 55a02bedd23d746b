"""Manners on a shared machine: T2, T7, T8, T9 and T12 of `test_users_troubles.py`."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from namer_edge_runtime.decode.jit import kernels
from namer_edge_runtime.decode.warm_up import warm_up
from namer_edge_runtime.diagnostics import health
from namer_edge_runtime.diagnostics.cold_start import cold_start
from namer_edge_runtime.engine import probe
from namer_edge_runtime.engine.onnxruntime import OnnxRuntimeEngine
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

from .drawing import picture
from .tiny_model import formula

TESTS = Path(__file__).parents[2]
READ = """
import sys
from namer_edge_runtime.recognizer import Recognizer
from namer_edge_runtime.decode.jit import builder, kernels
strokes = {strokes!r}
recognizer = Recognizer.from_pretrained({model!r}, threads=1)
"""
NOTHING_GOES = """
import os
def refuse(event, arguments):
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT
    if event == "open" and arguments[2] & writing and arguments[0] != os.devnull:
        raise PermissionError(30, "read-only", arguments[0])
    if event in ("os.mkdir", "os.rename", "os.remove"):
        raise PermissionError(30, "read-only", arguments[0])
    if event.startswith("socket.") or event == "subprocess.Popen":
        raise SystemExit(f"not allowed here: {event} {arguments}")
"""
"""What would write or speak to others is refused, as on a read-only system without network."""


def python(code: str, **environment: str | None) -> str:
    """Output of code run in a fresh process; None takes a variable out of its environment."""
    merged = {**os.environ, **environment}
    kept = {name: value for name, value in merged.items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept,
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def reading(model: ModelFile, tokens: str = "1 ^ - 1") -> str:
    return READ.format(strokes=formula(tokens), model=str(model.path))


def test_t2_both_onnx_runtimes_installed_is_named_with_its_repair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "installed_version", lambda package: "1.0")
    monkeypatch.setattr(health, "probe", lambda: {"onnxruntime": {"CPU": "works"}})
    found = health.Health()
    health._engines(found)
    (problem,) = found.problems
    assert "pip uninstall -y onnxruntime onnxruntime-gpu" in problem
    assert found.exit_code == 3
    assert found.sections["engines"]["onnxruntime"] == ["CPU works"]


def test_t2_a_wheel_that_ends_the_process_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    dies = 'print("try CPU", flush=True)\nimport os, signal\nos.kill(os.getpid(), signal.SIGILL)'
    raises = 'attempt("CUDA", lambda: 1 / 0)\nattempt("CPU", lambda: 1.0)\nattempt("X", lambda: 0)'
    monkeypatch.setattr(probe, "SCRIPTS", {"json": dies, "ast": raises, "csv": "import gone"})
    found = probe.probe(("json", "ast", "csv", "not_installed_at_all"))
    assert found["ast"] == {"CUDA": "fails division by zero", "CPU": "wrong result", "X": "works"}
    assert "No module named 'gone'" in found["csv"]["import"]
    assert set(found) == {"json", "ast", "csv"}
    if os.name == "posix":
        assert "signal 4" in found["json"]["CPU"]


def test_t8_eight_threads_agree_while_kernels_take_over_from_their_twins(
    tiny_model: ModelFile,
) -> None:
    said = python(
        reading(tiny_model) + "from concurrent.futures import ThreadPoolExecutor\n"
        "assert not any(kernel.compiled for kernel in kernels())\n"
        "def read(number):\n"
        "    results = []\n"
        "    while not results or any(k._compiled is None for k in list(builder._ordered)):\n"
        "        results.append(recognizer.strokes(strokes))\n"
        "    results.append(recognizer.strokes(strokes))\n"
        "    return {(r.canonical, r.score, r.tokens) for r in results}\n"
        "with ThreadPoolExecutor(8) as pool: found = set().union(*pool.map(read, range(8)))\n"
        "print(len(found), [one[0] for one in found])"
    )
    assert said == "1 ['1 ^ { - 1 }']\n"


def test_t9_every_time_from_import_to_the_next_call_is_told(tiny_model: ModelFile) -> None:
    told = cold_start(tiny_model.path)
    assert told.latex
    assert min(told.imports, told.load, told.first, told.next, told.to_first_latex_cpu) > 0
    assert told.to_first_latex == pytest.approx(told.imports + told.load + told.first, abs=1)
    with pytest.raises(RuntimeError, match="nowhere"):
        cold_start("nowhere")


def test_t9_nothing_is_left_to_compile_after_warming_up(
    recognizer: Recognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm_up()
    for kernel in kernels():
        monkeypatch.setattr(kernel, "plain", None)  # what still went there would fail
    assert recognizer(picture("1 - 1"), alternatives=2).canonical == "1 - 1"


def test_t12_read_only_without_home_and_network(tiny_model: ModelFile) -> None:
    said = python(
        NOTHING_GOES + reading(tiny_model) + "sys.addaudithook(refuse)\n"
        "print(recognizer.strokes(strokes).canonical)\n"
        "builder.wait()\n"
        "print(recognizer.strokes(strokes).canonical, builder.problem)\n"
        "print(sum(kernel.compiled for kernel in kernels()))\n",
        HOME=None,
        XDG_CACHE_HOME=None,
        NUMBA_CACHE_DIR=None,
        PYTHONDONTWRITEBYTECODE="1",
    )
    assert said == "1 ^ { - 1 }\n1 ^ { - 1 } \n2\n"


def test_t12_the_callers_logging_and_warnings_are_untouched(tiny_model: ModelFile) -> None:
    said = python(
        "import logging, warnings\n"
        "filters = warnings.filters[:]\n" + reading(tiny_model) + "recognizer.strokes(strokes)\n"
        "root = logging.getLogger()\n"
        "print(root.handlers, root.level, logging.root.manager.disable, logging.lastResort.level)\n"
        "own = logging.getLogger('namer_edge_runtime')\n"
        "print(own.level, own.propagate, own.handlers)\n"
    )
    assert said == "[] 30 0 30\n0 True [<NullHandler (NOTSET)>]\n"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_t12_threads_are_those_of_the_cpus_that_the_process_may_use(
    tiny_model: ModelFile,
) -> None:
    first = min(os.sched_getaffinity(0))
    said = python(
        f"import os; os.sched_setaffinity(0, {{{first}}})\n"
        + reading(tiny_model).replace(", threads=1", "")
        + "recognizer.strokes(strokes)\n"
        "session = recognizer.engine._sessions()[0]\n"
        "print(session.get_session_options().intra_op_num_threads)"
    )
    assert said == "1\n"


def test_waiting_threads_do_not_spin(tiny_model: ModelFile) -> None:
    engine = OnnxRuntimeEngine(tiny_model, threads=4)
    Recognizer(engine, tiny_model.preprocessing, tiny_model.vocabulary)(picture("1 - 1", 8.0))
    for session in engine._sessions():
        options: Any = session.get_session_options()
        assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    # Of processor time, not of the clock, so other work on the machine does not matter.
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.1


SOAK = """
import numpy as np
from pathlib import Path
from tests.runtime.drawing import picture
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20
random = np.random.default_rng(0)
for number in range(1, 1001):
    tokens = " ".join(random.choice(["1", "-", "^"], random.integers(1, 24)))
    recognizer(picture(tokens, float(random.uniform(0.5, 6)), float(random.uniform(2, 9))))
    if number % 100 == 0:
        print(f"{resident():.1f}")
"""


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc on this system")
def test_t7_memory_is_flat_after_a_thousand_pictures_of_different_sizes(
    tiny_model: ModelFile,
) -> None:
    """With the packaged model, as a service would run it."""
    code = reading(tiny_model).replace(repr(str(tiny_model.path)), "None") + SOAK
    resident = [float(line) for line in python(code).split()]
    print("resident MB after each 100 pictures:", *resident)
    assert len(resident) == 10
    # The largest picture may come late; between the last two fifths nothing may grow any more.
    assert max(resident[8:]) < max(resident[2:6]) * 1.03
