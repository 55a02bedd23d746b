"""Cost of the first formula in a fresh process: time to import, to load and to read; memory.

    python -m namer_edge_runtime.diagnostics.cold_start [MODEL] [--base]

measures it in the process itself and prints JSON.
"""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

CROSS = [[(0, 0), (20, 20)], [(20, 0), (0, 20)]]
"""The strokes that times are measured with, an x."""
ROOT = [
    [(0, 24), (4, 20), (10, 40), (20, 0), (44, 0)],
    [(23, 14), (27, 9), (33, 9), (36, 14), (34, 20), (24, 34), (38, 34)],
]
"""The strokes of the test reading, a root of 2: no symbol looks like another of its writing."""
OPTIONAL = ("scipy", "yaml")
"""Packages that Numba imports where they are installed; `--base` hides them, as after a plain `pip
install namer-edge`."""


@dataclass(frozen=True)
class StartUp:
    """Milliseconds of wall clock, and of processor time by all threads; memory in MB."""

    imports: float
    """Until `from namer_edge import Recognizer` is done."""
    load: float
    """`Recognizer.from_pretrained`."""
    first: float
    """The first reading; path selection is by the plain twins."""
    to_first_latex: float
    """Sum of import, opening and first reading."""
    to_first_latex_cpu: float
    kernels: float
    """Until background threads have all kernels compiled or loaded, from the first reading on."""
    kernels_cpu: float
    next: float
    """A later reading, the median of nine."""
    peak_memory_first: float | None
    """Highest resident memory until the first reading; None where the system does not say."""
    peak_memory: float | None
    """Highest resident memory until the end."""
    kernels_from_cache: int
    latex: str


def cold_start(model: str | Path | None = None, base: bool = False) -> StartUp:
    """Measures in a fresh process, on one thread, for `base` without the packages that a plain
    install does not bring. Raises `RuntimeError` where that process fails."""
    command = [sys.executable, "-m", __name__, *([] if model is None else [str(model)])]
    command += ["--base"] if base else []
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode:
        raise RuntimeError(f"the reading in a fresh process failed: {done.stderr.strip()[-300:]}")
    return StartUp(**json.loads(done.stdout))


def measure(model: str | None = None) -> StartUp:
    """Measures in this process, which must not have imported the package before."""
    started, started_cpu = perf_counter(), process_time()
    from ..recognizer import Recognizer

    imported = perf_counter()
    recognizer = Recognizer.from_pretrained(model, threads=1)
    loaded = perf_counter()
    result = recognizer.strokes(CROSS)
    read, read_cpu = perf_counter(), process_time()
    memory = peak_memory()
    from ..decode import warm_up

    warm = warm_up()
    ready, ready_cpu = perf_counter(), process_time()
    times = []
    for _ in range(9):
        before = perf_counter()
        recognizer.strokes(CROSS)
        times.append(perf_counter() - before)
    return StartUp(
        imports=_ms(imported - started),
        load=_ms(loaded - imported),
        first=_ms(read - loaded),
        to_first_latex=_ms(read - started),
        to_first_latex_cpu=_ms(read_cpu - started_cpu),
        kernels=_ms(ready - read),
        kernels_cpu=_ms(ready_cpu - read_cpu),
        next=_ms(sorted(times)[4]),
        peak_memory_first=memory,
        peak_memory=peak_memory(),
        kernels_from_cache=warm.cached,
        latex=result.latex,
    )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def peak_memory() -> float | None:
    """Highest resident memory of this process so far, in MB; None where no one can tell."""
    peak = peak_bytes()
    return None if peak is None else round(peak / 2**20, 1)


def peak_bytes() -> int | None:
    """Highest resident memory of this process so far, in bytes; None where no one can tell."""
    try:  # on Linux getrusage would count in the process that started this one
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.partition("VmHWM:")[2].split()[0]) * 2**10
    except (OSError, IndexError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 2**10


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--base"]
    if len(arguments) < len(sys.argv) - 1:
        for name in OPTIONAL:  # None: there is no such module
            sys.modules[name] = None  # type: ignore[assignment]
    print(json.dumps(asdict(measure(*arguments[:1]))))
