"""The former home of `DecodingOptions`, for programs that import it from here."""

from .decode.options import DecodingOptions as Decoding

__all__ = ["Decoding"]
