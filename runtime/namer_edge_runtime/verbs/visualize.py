"""Pictures by `namer-edge recognize` of a single input: its preparation, and its reading."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ..bulk.input_files import Source
from ..errors import NamerEdgeError, UsageError
from ..inputs import open_input
from ..picture.save import save_picture
from ..picture.steps import Steps
from ..preprocessing import Preprocessing
from ..result import Result


def single(inputs: Iterable[Source]) -> Source:
    """The one input there is; raises `UsageError` where there are more."""
    first, *more = islice(inputs, 2)
    if more:
        raise UsageError(
            "--show-steps and --draw show one input: give a single picture or InkML file"
        )
    return first


def show_steps(
    source: Source, result: Result | None, preprocessing: Preprocessing, target: Path
) -> None:
    """Writes each step of preparation, as far as it comes, into a PNG; turned as `result` is."""
    steps = Steps()
    if source.error is None:
        with suppress(NamerEdgeError):  # recognition says what is wrong with the input
            opened = open_input(source.value)
            if result and (seen := result.prepared):
                opened = replace(opened, turn=seen.turn, mirror=seen.mirror)
            opened.prepare(preprocessing, steps)
    if steps.taken:
        steps.save(target)


def draw(source: Source, result: Result, target: Path) -> None:
    """Writes a PNG of the tokens and their path, over the picture, or over the ink as drawn."""
    drawn = result.draw(source.value if result.ink is None else None)
    save_picture(target, drawn[:, :, ::-1])
