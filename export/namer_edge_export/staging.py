"""A model file on probation: written beside its place to be tried, and gone afterwards."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from namer_edge_runtime.atomic import scratch_folder
from namer_edge_runtime.model_file import ModelFile


@contextmanager
def unverified(
    output: Path, meta: Mapping[str, Any], parts: Mapping[str, bytes | Path]
) -> Iterator[ModelFile]:
    """The model that is to lie at `output`, in a hidden folder of this process for as long as the
    block runs."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(output) as folder:
        try:
            model = ModelFile.write(folder / output.stem, meta, parts)
        except OSError as error:  # a full disk is told of with the name that was asked for
            error.filename = str(output)
            raise
        yield model
