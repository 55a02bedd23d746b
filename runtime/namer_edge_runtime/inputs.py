"""Inputs of any accepted type, opened and prepared for a model.

A picture in any of the forms of `picture.load`; InkML as path, bytes or open file, told from a
picture by its first byte; an `Ink`; or strokes as [[(x, y), …], …], also as a file of JSON.
"""

import json
import re
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .errors import InkError, PictureError, UsageError
from .ink.forms import CHANNELS, WANTED, is_ink
from .ink.render import render
from .ink.strokes import Strokes, as_strokes
from .picture.color import colored
from .picture.foreign import foreign
from .picture.load import load, load_color
from .picture.prepare import Lines, PageInk, blank_page
from .picture.steps import Steps
from .preprocessing import Prepared, Preprocessing, turned

if TYPE_CHECKING:
    from .ink.inkml import Ink

LARGEST_FILE = 1 << 28
"""Bytes; no picture within the size limits needs more."""
PIECE = 1 << 20
"""Bytes that are read at a time."""
LARGER = 1.5
"""Lines found for one symbol height serve for heights up to this many times larger."""
WHITE = 64
"""Bytes in which JSON begins, white space before it."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/|data:[a-z]", re.IGNORECASE)
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class LoadedInput:
    """An input that is opened once and can be prepared for any preprocessing."""

    strokes: Strokes | None
    """The ink, none of it on an empty canvas; None for a picture."""
    picture: NDArray[np.uint8] | None
    """The gray picture, or None for ink."""
    name: str = ""
    """Name of the input in error messages."""
    raw: Any = field(default=None, repr=False, compare=False)
    """The source of the picture, from which its colors are read."""
    turn: float = 0.0
    """Angle in radians by which it is turned about its origin before it is drawn, from x to y."""
    mirror: tuple[float, float] = (1.0, 1.0)
    """Factors of x and y of the strokes, 1 or -1, before they are turned."""
    part: PageInk | None = None
    """The ink that is read of the picture, where that is only a part of it."""
    _found: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)
    """Once found: the symbol height that a picture's lines were found for, and the lines."""

    def prepare(self, preprocessing: Preprocessing, steps: Steps | None = None) -> Prepared:
        """The input prepared for a model; `steps`, where given, receives a picture of each step.

        Raises `PictureError` or `InkError` where it cannot be prepared.
        """
        if self.strokes is not None:
            strokes = self.strokes
            if not strokes:
                return blank_page()
            if self.mirror != (1.0, 1.0):
                strokes = [stroke * np.array(self.mirror, stroke.dtype) for stroke in strokes]
            if self.turn:
                strokes = as_strokes(turned(stroke, self.turn) for stroke in strokes)
            drawn = replace(render(strokes, preprocessing), turn=self.turn, mirror=self.mirror)
            if steps is not None:
                steps.add("The strokes as they are drawn: what the model reads", 255 - drawn.image)
            return drawn
        assert self.picture is not None
        try:
            if (
                steps is not None
                or not self._found
                or preprocessing.symbol_height > LARGER * self._found[0]
            ):
                if self.part is None:
                    lines = Lines.find(self.picture, preprocessing, steps)
                else:
                    lines = Lines.of(self.part, preprocessing, steps)
                if lines is not None and self.turn:
                    lines = lines.turned(self.turn, steps)
                self._found[:] = preprocessing.symbol_height, lines
        except PictureError as error:
            raise _named(error, self.name) from error
        lines = self._found[1]
        if lines is None:
            return blank_page()
        prepared = lines.prepared(preprocessing, steps)
        if preprocessing.channels == 1 or self.raw is None:
            return prepared
        color = colored(load_color(self.raw), prepared)
        if steps is not None:
            steps.add("How far its colors are from the paper's", 255 - color.max(axis=2))
        return replace(prepared, color=color)

    @property
    def pixels(self) -> int:
        """Pixels of the open picture; 0 for ink."""
        return 0 if self.picture is None else self.picture.size

    def turned(self, angle: float) -> "LoadedInput":
        """The input turned by `angle` radians more before it is drawn."""
        other = replace(self, turn=self.turn + angle)
        if self._found and self._found[1] is not None:
            other._found[:] = self._found[0], self._found[1].turned(angle)
        return other

    @property
    def page(self) -> PageInk | None:
        """The cleaned ink of a picture that was prepared; None of a blank one, and of ink."""
        return self._found[1].page if self._found and self._found[1] is not None else None


def open_input(value: Any) -> LoadedInput:
    """A single input of any accepted type, opened.

    Raises `PictureError` or `InkError` for what cannot be read, `UsageError` for a type that is
    no input at all.
    """
    if is_strokes(value) or _is_empty(value):
        return LoadedInput(as_strokes(value), None)
    if isinstance(value, np.ndarray) and _is_stroke(value):
        raise InkError(f"an array of shape {value.shape} is one stroke and no picture: {WANTED}")
    if isinstance(value, np.ndarray) and _is_stack(value):
        return LoadedInput(as_strokes(list(value)), None)
    if isinstance(value, dict):
        raise InkError(f"a dict of {', '.join(map(str, value)) or 'nothing'} is no ink: {WANTED}")
    if isinstance(value, str | Path):
        if value == "":
            raise PictureError("an empty name: give the path of a picture or of InkML")
        return _open_bytes(read_file(Path(value)), str(value))
    if isinstance(value, bytes | bytearray | memoryview):
        data = value if isinstance(value, bytes) else bytes(value)
        return _open_bytes(data, getattr(value, "name", ""))
    if hasattr(value, "read"):
        name = str(getattr(value, "name", ""))
        try:
            data = value.read(LARGEST_FILE + 1)
        except (OSError, ValueError) as error:  # a closed file, or one that is being written
            raise PictureError(f"{name or 'the file'}: cannot be read ({error})") from None
        if not isinstance(data, bytes):
            raise UsageError(f"{name or 'the file'} was opened as text: open it in binary mode")
        return _open_bytes(data, name)
    if _is_ink(value):
        return LoadedInput(value.strokes, None)
    if isinstance(value, list | tuple):
        raise PictureError(f"a {type(value).__name__} that is no ink and no picture: {WANTED}")
    return LoadedInput(None, load(value), raw=value)


def prepare_input(value: Any, preprocessing: Preprocessing) -> Prepared:
    """A single input, opened and prepared; `to_input` maps back to its pixels or ink units.

    Raises what `open_input` and `LoadedInput.prepare` raise.
    """
    return open_input(value).prepare(preprocessing)


def read_file(path: Path) -> bytes:
    """Content of a file of bounded size; raises `InkError` (`.inkml`) or `PictureError`."""
    kind = InkError if path.suffix.lower() == ".inkml" else PictureError
    try:
        with path.open("rb") as file:
            # In pieces: `read(n)` asks for memory of n bytes, however small the file is.
            pieces = islice(iter(partial(file.read, PIECE), b""), LARGEST_FILE // PIECE + 1)
            data = b"".join(pieces)
    except (OSError, ValueError) as error:  # a name may hold what no file system takes
        reason = getattr(error, "strerror", None) or error
        raise kind(address_hint(str(path)) or f"{path}: cannot be opened ({reason})") from None
    if not data:
        raise kind(f"{path}: the file is empty")
    return data


def address_hint(name: str) -> str:
    """The hint for a name that is a URL and no file; empty for any other."""
    if not _ADDRESS.match(name):
        return ""
    shown = name if len(name) < 100 else f"{name[:60]} …"
    return f"{shown}: an address: nothing is fetched; download it and give the file, or its bytes"


def is_inkml(data: bytes) -> bool:
    """Whether these first bytes are XML, as no picture format's are."""
    head = data[:256]
    for mark in _MARKS:
        head = head.removeprefix(mark)
    return head.replace(b"\0", b"").lstrip().startswith(b"<")


def is_strokes(value: Any) -> TypeGuard[list[Any]]:
    """Whether the value is a list of strokes, or another form of ink that `point_lists` takes.

    A stroke is a list of (x, y, …) or an array [n, 2 … 4]. A list of empty lists is a batch of
    empty canvases, an empty list an empty batch: neither is ink.
    """
    if is_ink(value):
        return True
    if not isinstance(value, list | tuple):
        return False
    filled = [item for item in value if not _is_empty(item)]
    return len(filled) > 0 and all(map(_is_stroke, filled))


def _is_empty(value: Any) -> bool:
    return isinstance(value, list | tuple) and not value


def _is_stroke(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        # An array so narrow that does not hold bytes is no picture.
        rows, channels = value.shape if value.ndim == 2 else (0, 0)
        narrow = channels in range(3, CHANNELS + 1) or (rows in (2, 3, 4) and channels > CHANNELS)
        return channels == 2 or (narrow and value.dtype.kind in "if")
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(p, list | tuple | np.ndarray) and _is_point(p) for p in value)
    )


def _is_stack(value: NDArray[Any]) -> bool:
    """Whether an array [strokes, points, 2] holds what no picture of gray and alpha does."""
    if value.ndim != 3 or value.shape[2] != 2 or value.dtype.kind not in "if" or not value.size:
        return False
    return bool(value.min() < 0 or value.max() > 255)


def _is_point(value: Any) -> bool:
    return len(value) >= 2 and all(isinstance(c, int | float | np.number) for c in value)


def _is_ink(value: Any) -> "TypeGuard[Ink]":
    return hasattr(value, "strokes") and hasattr(value, "annotations")


def _open_bytes(data: bytes, name: str) -> LoadedInput:
    """InkML, JSON or a picture from its bytes; errors begin with `name` where there is one."""
    if len(data) > LARGEST_FILE:
        raise PictureError(f"{name or 'input'}: more than {LARGEST_FILE >> 20} MiB, too large")
    if hint := foreign(data):
        raise PictureError(f"{name}: {hint}" if name else hint)
    if is_inkml(data) or name.lower().endswith(".inkml"):
        from .ink.inkml import read_inkml

        return LoadedInput(read_inkml(data, name or "ink").strokes, None, name)
    if data[:WHITE].lstrip().startswith((b"[", b"{")) or name.lower().endswith(".json"):
        return LoadedInput(_json_strokes(data, f"{name}: " if name else ""), None, name)
    try:
        return LoadedInput(None, load(data), name, data)
    except PictureError as error:
        raise _named(error, name) from error


def _json_strokes(data: bytes, name: str) -> Strokes:
    """Strokes in any form that `as_strokes` takes, as JSON; errors begin with `name`."""
    try:
        return as_strokes(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise InkError(f"{name}this is no JSON ({error}): {WANTED}") from None
    except InkError as error:
        raise InkError(f"{name}{error}") from None


def _named(error: PictureError, name: str) -> PictureError:
    return PictureError(f"{name}: {error}") if name else error
