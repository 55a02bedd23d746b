"""Pictures of any accepted form, loaded as an upright, opaque gray array.

Path, bytes, open file, NumPy array or PIL image; gray, gray + alpha, RGB, RGBA, 1-bit, 16-bit,
palette, CMYK; turned by EXIF. Whether the ink is darker than its ground is decided in
`background.py`.
"""

from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from ..errors import PictureError
from .header import read_header

MAX_PIXELS = 100_000_000
"""Most pixels of a picture, checked in its header before it is decoded."""
MAX_BYTES = 300_000_000
"""Most bytes of decoded pixels, which 100 million pixels of three channels fill."""
LEAST_RANGE = 1e-300
"""Smallest range of pixel values that they are divided by."""
Gray = NDArray[np.uint8]
"""[H, W]"""


class _Read(Protocol):
    """Conversion of decoded pixels to 8 bits, gray or RGB."""

    def __call__(self, pixels: NDArray[Any], *, bgr: bool) -> NDArray[np.uint8]: ...


_ROWS = 256
"""Rows that are converted at a time, which bounds memory."""
_COLORED = 1.5
"""Ratio of contrasts above which one color channel is read instead of brightness."""


def load(value: Any) -> Gray:
    """A picture of any accepted form as gray [H, W].

    Arrays are [H, W] or [H, W, channels], colors as RGB.

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
    """A picture of any accepted form as RGB [H, W, 3]; gray or transparent pictures repeat `load`.

    Raises what `load` raises.
    """
    return _load(value, _colors)


def _decode(data: bytes, read: _Read) -> NDArray[np.uint8]:
    if not data:
        raise PictureError("the picture is empty (0 bytes)")
    header = read_header(data)
    _bound(header.height, header.width, header.pixel_bytes)
    # Animated GIF and WebP give their first frame, as a page shows it at first.
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except (cv2.error, MemoryError) as error:
        raise PictureError(f"the {header.format} picture cannot be decoded ({error})") from error
    if pixels is None:
        raise PictureError(f"the {header.format} picture is damaged or cut short: save it again")
    if pixels.shape[0] * pixels.shape[1] > header.width * header.height:
        raise PictureError(
            f"the {header.format} picture is larger than its header says: save it again"
        )
    return upright(read(pixels, bgr=True), header.orientation)


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
    _bound(image.height, image.width, 4)
    try:
        image.load()  # which turns a TIFF, and then forgets its orientation
        orientation = image.getexif().get(274, 1)
        if image.mode in ("P", "PA", "RGBa", "La") or "transparency" in image.info:
            image = image.convert("RGBA")
        elif image.mode in ("CMYK", "YCbCr", "HSV", "LAB"):
            image = image.convert("RGB")
        pixels = np.asarray(image)
    except (OSError, SyntaxError, ValueError) as error:
        raise PictureError(f"the picture cannot be decoded ({error})") from error
    return upright(read(pixels, bgr=False), orientation)


def _from_array(pixels: NDArray[Any], *, bgr: bool) -> Gray:
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and not 1 <= pixels.shape[2] <= 4):
        raise PictureError(
            f"an array of shape {pixels.shape} is no picture: give [H, W] or [H, W, 1 … 4]"
        )
    if pixels.size == 0:
        raise PictureError(f"the picture is empty: its shape is {pixels.shape}")
    height, width = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    _bound(height, width, channels)
    pixels = np.ascontiguousarray(_eight_bits(pixels))
    if channels == 1:
        return pixels.reshape(pixels.shape[:2])
    if channels == 3:
        return _gray(pixels, bgr=bgr)
    alpha = pixels[:, :, -1]
    color = np.ascontiguousarray(pixels[:, :, :-1])
    if int(alpha.min()) == 255:
        return color[:, :, 0] if channels == 2 else _gray(color, bgr=bgr)
    brightness = color[:, :, 0] if channels == 2 else _brightness(color, bgr=bgr)
    return _on_contrasting_ground(brightness, alpha)


def _colors(pixels: NDArray[Any], *, bgr: bool) -> NDArray[np.uint8]:
    """The pixels as RGB [H, W, 3] of 8 bits."""
    gray = _from_array(pixels, bgr=bgr)
    if pixels.ndim == 2 or pixels.shape[2] < 3:
        return np.repeat(gray[:, :, None], 3, axis=2)
    eight = _eight_bits(pixels)
    if pixels.shape[2] == 4 and int(eight[:, :, 3].min()) < 255:
        return np.repeat(gray[:, :, None], 3, axis=2)
    return np.ascontiguousarray(eight[:, :, 2::-1] if bgr else eight[:, :, :3])


def _eight_bits(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Pixels of any range as 0 … 255: that range stays, others are stretched to it."""
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
    for start in range(0, len(pixels), _ROWS):  # bounds memory
        rows = slice(start, start + _ROWS)
        halves = pixels[rows].astype(np.float64) / 2 - low / 2  # no range is too wide for these
        eight[rows] = np.rint(halves * (2 * factor))
    return eight


def _brightness(color: NDArray[np.uint8], *, bgr: bool) -> Gray:
    gray = cv2.cvtColor(color, cv2.COLOR_BGR2GRAY if bgr else cv2.COLOR_RGB2GRAY)
    return np.asarray(gray, np.uint8)


def _gray(color: NDArray[np.uint8], *, bgr: bool) -> Gray:
    """Brightness, or the one color channel that shows the ink much better (yellow on white)."""
    gray = _brightness(color, bgr=bgr)
    step = _step(gray)
    sample = np.dstack([gray[::step, ::step], color[::step, ::step]]).reshape(-1, 4)
    away = np.abs(sample.astype(np.int16) - np.median(sample, axis=0).astype(np.int16))
    contrast = np.quantile(away, 0.995, axis=0)
    best = int(contrast.argmax())
    if best and contrast[best] > _COLORED * contrast[0]:
        return np.ascontiguousarray(color[:, :, best - 1])
    return gray


def _on_contrasting_ground(gray: Gray, alpha: NDArray[np.uint8]) -> Gray:
    """The picture over an opaque ground: white under dark ink, black under light ink.

    Where most of the picture is opaque, the ground takes the median of its opaque pixels.
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
    ink = cv2.multiply(gray, alpha, scale=1 / 255)
    below = cv2.convertScaleAbs(cv2.bitwise_not(alpha), alpha=ground / 255)
    return np.asarray(cv2.add(ink, below), np.uint8)


def _step(gray: Gray) -> int:
    """Step in rows and columns of the sample that colors are measured in."""
    return max(1, int((gray.size / 50_000) ** 0.5))


def _bound(height: int, width: int, pixel_bytes: int) -> None:
    if height * width > MAX_PIXELS:
        raise PictureError(
            f"the picture has {width} x {height} pixels, more than {MAX_PIXELS // 10**6} million: "
            "scale it down or cut out the formula"
        )
    if height * width * pixel_bytes > MAX_BYTES:
        raise PictureError(
            f"the picture has {width} x {height} pixels of {pixel_bytes} bytes, more than "
            f"{MAX_BYTES // 10**6} MB: scale it down, cut out the formula, or save it in gray"
        )
