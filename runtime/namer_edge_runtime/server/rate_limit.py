"""Rate limit by address: a token bucket each."""

import math
import time
from collections import OrderedDict

ADDRESSES = 4096
"""Most addresses remembered at a time; a forgotten address starts with a full bucket."""


class TokenBucket:
    """A bucket per address that fills at `rate` tokens a second, up to twice `rate`."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._full = max(1.0, 2 * rate)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what was left, when

    def take(self, address: str) -> float:
        """Takes a token and returns 0; without one, returns the seconds until the next."""
        if not self._rate:
            return 0.0
        now = time.monotonic()
        left, then = self._left.pop(address, (self._full, now))
        left = min(self._full, left + (now - then) * self._rate)
        short = left < 1
        self._left[address] = (left if short else left - 1, now)
        if len(self._left) > ADDRESSES:
            self._left.popitem(last=False)
        return (1 - left) / self._rate if short else 0.0


def whole_seconds(seconds: float) -> str:
    """For the header `Retry-After`."""
    return str(max(1, math.ceil(seconds)))
