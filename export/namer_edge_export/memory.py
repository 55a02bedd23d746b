"""Peak memory of a model: what a process of its own takes to open it and to read a formula.

A process that has exported anything has had its peak already, so another one is asked.
"""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.diagnostics.cold_start import peak_bytes
from namer_edge_runtime.errors import ExportError
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.recognizer import Recognizer

STATUS = Path("/proc/self/status")
"""Linux's record of a process's peak; other systems have none here."""


def peak_memory(model: ModelFile, picture: NDArray[np.uint8]) -> int | None:
    """Bytes (VmHWM) of a fresh process on one thread that reads `picture`, black on white [H, W].

    None on systems that do not tell. Raises `ExportError` where the model cannot be read there.
    """
    if not STATUS.exists():
        return None
    sent = io.BytesIO()
    np.save(sent, picture, allow_pickle=False)
    command = [sys.executable, "-m", __name__, str(model.path)]
    done = subprocess.run(command, input=sent.getvalue(), capture_output=True, check=False)
    if done.returncode != 0:
        raise ExportError(
            f"{model.path} cannot be read by a process of its own: "
            f"{done.stderr.decode(errors='replace').strip()[-500:]}"
        )
    return int(done.stdout)


if __name__ == "__main__":
    Recognizer.from_pretrained(Path(sys.argv[1]), threads=1)(
        np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
    )
    print(peak_bytes())
