"""A model file on probation: written beside its place to be tried, and gone afterwards."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from namer_edge_runtime.model_file import ModelFile


@contextmanager
def unverified(
    output: Path, meta: Mapping[str, Any], parts: Mapping[str, bytes | Path]
) -> Iterator[ModelFile]:
    """The model that is to lie at `output`, under a hidden name for as long as the block runs."""
    path = output.with_name(f".{output.stem}.{meta['precision']}.unverified{output.suffix}")
    try:
        yield ModelFile.write(path, meta, parts)
    finally:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
