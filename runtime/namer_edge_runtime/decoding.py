"""The former home of `decode.options`."""

from .decode.options import DecodingOptions as Decoding

__all__ = ["Decoding"]
