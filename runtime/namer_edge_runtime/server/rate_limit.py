"""How many requests an address may still make."""

import math
import time
from collections import OrderedDict

ADDRESSES = 4096
"""That are remembered at a time; who comes back later begins anew."""


class TokenBucket:
    """A bucket for each address, which fills at `rate` a second up to twice that."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._full = max(1.0, 2 * rate)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what was left, when

    def take(self, address: str) -> float:
        """Takes one and returns 0, or takes none and returns the seconds until there is one."""
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
