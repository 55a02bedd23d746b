"""The former home of `preprocessing`."""

from ..preprocessing import Prepared, padded_length, padded_size, planes
from ..preprocessing import Preprocessing as Look

__all__ = ["Look", "Prepared", "padded_length", "padded_size", "planes"]
