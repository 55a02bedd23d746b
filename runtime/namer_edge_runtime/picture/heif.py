"""Pictures of phones, HEIC and AVIF, which are opened by Pillow and pillow-heif (extra `heif`)."""

import io
from importlib.util import find_spec
from typing import Any

from ..errors import PictureError

EXTRA = "pip install 'namer-edge[heif]'"
FORMATS = ("HEIC", "AVIF")


def is_installed() -> bool:
    """Whether the extra is, without loading it."""
    return find_spec("PIL") is not None and find_spec("pillow_heif") is not None


def open_heif(data: bytes, name: str) -> Any:
    """The PIL image of a file in the format `name`, its pixels not decoded yet.

    Raises `PictureError` for a damaged file.
    """
    from PIL import Image

    if name == "HEIC":
        from pillow_heif import register_heif_opener

        register_heif_opener()
    try:
        return Image.open(io.BytesIO(data), formats=["HEIF" if name == "HEIC" else name])
    except (OSError, SyntaxError, ValueError, RuntimeError, EOFError) as error:
        raise PictureError(f"the {name} picture is damaged or cut short: save it again") from error
