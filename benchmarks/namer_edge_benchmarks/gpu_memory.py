"""Memory of this process on NVIDIA GPUs, whatever took it there."""

import os
import sys

from .machine import output_of


def gpu_memory() -> float | None:
    """MB, None where no GPU is used. Torch tells its highest; of others the driver tells what is
    held, which is the highest too, since ONNX Runtime gives nothing back."""
    torch = sys.modules.get("torch")  # to import it here would count as ours
    if torch is not None and torch.cuda.is_available():
        peak = torch.cuda.max_memory_allocated()
        if peak:
            return round(peak / 2**20, 1)
    held = output_of(
        ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    )
    rows = [line.split(",") for line in (held or "").splitlines()]
    own = [float(row[1]) for row in rows if row[0].strip() == str(os.getpid())]
    return round(sum(own), 1) if own else None
