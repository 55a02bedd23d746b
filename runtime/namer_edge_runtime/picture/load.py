"""Pictures as people have them → one gray array, upright, with nothing transparent.

Path, bytes, open file, NumPy array or PIL image; gray, gray + alpha, RGB, RGBA, 1-bit, 16-bit,
palette, CMYK; turned by EXIF; HEIC and AVIF with an extra. Which of ink and ground is the bright
one is not decided here.
"""

from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from ..errors import PictureError
from . import heif
from .foreign import heif_format
from .header import Header, read_header

MAX_PIXELS = 100_000_000
"""Larger pictures are refused, where the header tells it before they are decoded."""
MAX_MEMORY = 600_000_000
"""Bytes that decoding may take, of any depth and number of channels: those of `MAX_PIXELS` in
8-bit color."""
LEAST_RANGE = 1e-300
"""Of the numbers in a picture, so that they can be divided by it."""
Gray = NDArray[np.uint8]
"""[H, W]"""


class _Read(Protocol):
    """Converts decoded pixels to what the caller asks for."""

    def __call__(self, pixels: NDArray[Any], *, bgr: bool) -> NDArray[np.uint8]: ...


_ROWS = 256
"""Rows that are turned into other numbers at a time."""
_COLOURED = 1.5
"""A single color channel is read only where its contrast is this much above that of brightness."""


def load(value: Any) -> Gray:
    """Any picture → gray [H, W]. Arrays are [H, W] or [H, W, channels], colors as RGB.

    Raises `PictureError` for what is no picture, is empty, cut short, or too large.
    """
    return _load(value, _from_array)


def _load(value: Any, read: _Read) -> NDArray[np.uint8]:
    if isinstance(value, str | Path):
        try:
            data = Path(value).read_bytes()
        except OSError as error:
            message = f"{value}: cannot be opened ({error.strerror or error})"
            raise PictureError(message) from None
        return _decode(data, read)
    if isinstance(value, bytes | bytearray | memoryview):
        return _decode(bytes(value), read)
    if hasattr(value, "read"):
        return _decode(value.read(), read)
    if hasattr(value, "mode") and hasattr(value, "getexif"):
        return _from_pil(value, read)
    if hasattr(value, "__array__"):
        return read(np.asarray(value), bgr=False)
    raise PictureError(f"{type(value).__name__} is no picture: give a path, bytes, array or image")


def load_color(value: Any) -> NDArray[np.uint8]:
    """Any picture → [H, W, 3] RGB, as `load` else; one that is gray, or transparent somewhere, is
    alike in all three."""
    return _load(value, _colors)


def _decode(data: bytes, read: _Read) -> NDArray[np.uint8]:
    if not data:
        raise PictureError("the picture is empty (0 bytes)")
    if (format_ := heif_format(data)) and heif.is_installed():
        return _from_pil(heif.open_heif(data, format_), read)
    header = read_header(data)
    _bound(header.height, header.width, header.memory)
    try:
        return upright(read(_pixels(data, header), bgr=True), header.orientation)
    except (cv2.error, MemoryError) as error:
        if isinstance(error, cv2.error) and error.code != cv2.Error.StsNoMem:
            raise PictureError(
                f"the {header.format} picture cannot be decoded ({error})"
            ) from error
        raise PictureError(
            f"not enough memory for a picture of {header.width} x {header.height} pixels: close "
            "other programs, or scale it down"
        ) from None


def _pixels(data: bytes, header: Header) -> NDArray[Any]:
    """Of the first picture of a GIF or WebP, the one that a page shows at first."""
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise PictureError(f"the {header.format} picture is damaged or cut short: save it again")
    size = pixels.shape[0] * pixels.shape[1]
    if size > header.width * header.height or 2 * pixels.nbytes > header.memory:
        raise PictureError(f"the {header.format} picture is larger than it says: save it again")
    return np.asarray(pixels)


def upright(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Undoes an EXIF orientation 1 … 8 of [H, W] or [H, W, 3]."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.swapaxes(0, 1)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)


def _from_pil(image: Any, read: _Read) -> NDArray[np.uint8]:
    pixel = 1 if image.mode in ("1", "L") else 2 if image.mode.startswith("I;16") else 4
    _bound(image.height, image.width, 2 * image.height * image.width * pixel)
    try:
        image.load()  # which turns a TIFF, and then forgets its orientation
        orientation = image.getexif().get(274, 1)
        if image.mode in ("P", "PA", "RGBa", "La") or "transparency" in image.info:
            image = image.convert("RGBA")
        elif image.mode in ("CMYK", "YCbCr", "HSV", "LAB"):
            image = image.convert("RGB")
        pixels = np.asarray(image)
    except (OSError, SyntaxError, ValueError, RuntimeError, EOFError) as error:
        raise PictureError(f"the picture cannot be decoded ({error})") from error
    return upright(read(pixels, bgr=False), orientation)


def _from_array(pixels: NDArray[Any], *, bgr: bool) -> Gray:
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and not 1 <= pixels.shape[2] <= 4):
        raise PictureError(
            f"an array of shape {pixels.shape} is no picture: give [H, W] or [H, W, 1 … 4]"
        )
    if pixels.size == 0:
        raise PictureError(f"the picture is empty: its shape is {pixels.shape}")
    _bound(pixels.shape[0], pixels.shape[1], 2 * pixels.nbytes)
    pixels = np.ascontiguousarray(_eight_bits(pixels))
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    if channels == 1:
        return pixels.reshape(pixels.shape[:2])
    if channels == 3:
        return _gray(pixels, bgr=bgr)
    if channels == 2:
        gray = np.ascontiguousarray(pixels[:, :, 0])
    elif int(pixels[:, :, 3].min()) == 255:
        return _gray(pixels, bgr=bgr)
    else:
        gray = _brightness(pixels, bgr=bgr)
    return _on_contrasting_ground(gray, np.ascontiguousarray(pixels[:, :, -1]))


def _colors(pixels: NDArray[Any], *, bgr: bool) -> NDArray[np.uint8]:
    """[H, W, 3] RGB."""
    gray = _from_array(pixels, bgr=bgr)
    if pixels.ndim == 2 or pixels.shape[2] < 3:
        return np.repeat(gray[:, :, None], 3, axis=2)
    eight = _eight_bits(pixels)
    if pixels.shape[2] == 4 and int(eight[:, :, 3].min()) < 255:
        return np.repeat(gray[:, :, None], 3, axis=2)
    return np.ascontiguousarray(eight[:, :, 2::-1] if bgr else eight[:, :, :3])


def _eight_bits(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Any numbers → 0 … 255: 0 … 255 stays, 0 … 1 is widened, other ranges are stretched."""
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * 255
    if pixels.dtype.kind not in "uif":
        raise PictureError(f"an array of {pixels.dtype} is no picture: give numbers")
    low, high = float(pixels.min()), float(pixels.max())
    if not np.isfinite([low, high]).all():
        raise PictureError("the picture holds values that are no finite numbers")
    deep = pixels.dtype.itemsize == 2 and pixels.dtype.kind == "u"
    if low >= 0 and high <= 1:
        factor, low = 255.0, 0.0
    elif low >= 0 and high <= 255 and not deep:
        factor, low = 1.0, 0.0
    else:
        low = min(low, 0.0)
        factor = 255.0 / max(high / 2 - low / 2, LEAST_RANGE) / 2
    if factor == 1 and pixels.dtype == np.uint8:
        return pixels
    eight = np.empty(pixels.shape, np.uint8)
    for start in range(0, len(pixels), _ROWS):  # so that large pictures do not fill the memory
        rows = slice(start, start + _ROWS)
        halves = pixels[rows].astype(np.float64) / 2 - low / 2  # no range is too wide for these
        eight[rows] = np.rint(halves * (2 * factor))
    return eight


def _brightness(color: NDArray[np.uint8], *, bgr: bool) -> Gray:
    if color.shape[2] == 4:
        gray = cv2.cvtColor(color, cv2.COLOR_BGRA2GRAY if bgr else cv2.COLOR_RGBA2GRAY)
    else:
        gray = cv2.cvtColor(color, cv2.COLOR_BGR2GRAY if bgr else cv2.COLOR_RGB2GRAY)
    return np.asarray(gray, np.uint8)


def _gray(color: NDArray[np.uint8], *, bgr: bool) -> Gray:
    """Brightness, or the one color channel that shows the ink much better (yellow on white)."""
    gray = _brightness(color, bgr=bgr)
    step = _step(gray)
    sample = np.dstack([gray[::step, ::step], color[::step, ::step, :3]]).reshape(-1, 4)
    away = np.abs(sample.astype(np.int16) - np.median(sample, axis=0).astype(np.int16))
    contrast = np.quantile(away, 0.995, axis=0)
    best = int(contrast.argmax())
    if best and contrast[best] > _COLOURED * contrast[0]:
        return np.ascontiguousarray(color[:, :, best - 1])
    return gray


def _on_contrasting_ground(gray: Gray, alpha: NDArray[np.uint8]) -> Gray:
    """What is transparent becomes the ground: white under dark ink, black under light ink.

    Where most of the picture is opaque it has a ground of its own, which then goes on below. Both
    arrays are overwritten.
    """
    step = _step(gray)
    sample = gray[::step, ::step]
    visible = sample[alpha[::step, ::step] > 127]
    if not len(visible):
        visible = gray[alpha > 127]
    if not len(visible):
        return np.zeros_like(gray)
    if 2 * len(visible) > sample.size:
        ground = round(float(np.median(visible)))
    else:
        ground = 255 if visible.mean() < 128 else 0
    cv2.multiply(gray, alpha, gray, 1 / 255)
    cv2.bitwise_not(alpha, alpha)
    cv2.convertScaleAbs(alpha, alpha, ground / 255)
    return np.asarray(cv2.add(gray, alpha, gray), np.uint8)


def _step(gray: Gray) -> int:
    """Every so many rows and columns are enough to know what colors there are."""
    return max(1, int((gray.size / 50_000) ** 0.5))


def _bound(height: int, width: int, memory: int) -> None:
    if height * width > MAX_PIXELS:
        raise PictureError(
            f"the picture has {width} x {height} pixels, more than {MAX_PIXELS // 10**6} million: "
            "scale it down or cut out the formula"
        )
    if memory > MAX_MEMORY:
        megabytes = -(-memory // 10**6)
        raise PictureError(
            f"the picture of {width} x {height} pixels would take {megabytes} MB, more than "
            f"{MAX_MEMORY // 10**6}: scale it down, cut out the formula, or save it with 8 bits "
            "and without transparency"
        )
