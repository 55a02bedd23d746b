"""Probe of engines and devices: each runs a tiny model in a process of its own.

A wheel built for another processor ends the process that imports it (illegal instruction), and a
provider whose libraries are missing is listed all the same. Only running something tells.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec

RELU = (
    b'\x08\x07\x12\x00:5\n\x0c\n\x01x\x12\x01y"\x04Relu\x12\x03oneZ\x0f\n\x01x\x12\n\n\x08\x08\x01'
    b"\x12\x04\n\x02\x08\x01b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\r"
)
"""An ONNX model: y = max(x, 0), both float32 [1]."""
TRY = """
def attempt(device, run):
    print("try", device, flush=True)
    try:
        works = float(run()) == 0.0
        print("works" if works else "wrong result", flush=True)
    except Exception as error:
        print("fails", (str(error).strip() or repr(error)).splitlines()[0], flush=True)
"""
ONNXRUNTIME = f"""
import numpy, onnxruntime
onnxruntime.set_default_logger_severity(4)
def run(provider):
    session = onnxruntime.InferenceSession({RELU!r}, providers=[provider])
    if session.get_providers()[0] != provider:
        raise RuntimeError("it is listed but does not start: see driver and libraries")
    return session.run(None, {{"x": numpy.full(1, -1, "float32")}})[0][0]
for provider in onnxruntime.get_available_providers():
    if provider != "AzureExecutionProvider":  # calls a service far away
        attempt(provider.removesuffix("ExecutionProvider"), lambda: run(provider))
"""
OPENVINO = f"""
import numpy, openvino
core = openvino.Core()
def run(device):
    model = core.compile_model(core.read_model({RELU!r}), device)
    return model([numpy.full(1, -1, "float32")])[0][0]
for device in core.available_devices:
    attempt(device, lambda: run(device))
"""
TORCH = """
import torch
for device in ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]:
    attempt(device, lambda: torch.full((1,), -1.0, device=device).relu().item())
"""
SCRIPTS = {"onnxruntime": ONNXRUNTIME, "openvino": OPENVINO, "torch": TORCH}
"""Name of an engine, which is that of its package → program that its process runs."""
PATIENCE = 300.0
"""Seconds that one engine may take, import included."""


def probe(engines: Iterable[str] = tuple(SCRIPTS)) -> dict[str, dict[str, str]]:
    """For each engine whose package is installed, its devices and how each fared.

    "works", or what went wrong. All engines are tried at the same time. An engine that cannot even
    be imported has one entry, "import".
    """
    running = {
        name: subprocess.Popen(
            [sys.executable, "-c", TRY + SCRIPTS[name]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
        )
        for name in engines
        if find_spec(name) is not None
    }
    return {name: _outcome(process) for name, process in running.items()}


def _outcome(process: "subprocess.Popen[str]") -> dict[str, str]:
    try:
        output, errors = process.communicate(timeout=PATIENCE)
        ended = ""
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        ended = f"no answer in {PATIENCE:.0f} s"
    if process.returncode and not ended:
        lines = errors.strip().splitlines()
        ended = lines[-1] if lines and process.returncode > 0 else "the process died"
        if process.returncode < 0:
            ended += f" (signal {-process.returncode}): its wheel is not for this processor"
    found: dict[str, str] = {}
    device = "import"
    for line in output.splitlines():
        if line.startswith("try "):
            device = line.removeprefix("try ")
            found[device] = ended
        elif device in found:
            found[device] = line
    return found or {"import": ended or "nothing to run on"}
