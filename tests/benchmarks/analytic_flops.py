"""Multiply-adds counted by hand, from the papers' formulas: a check on the library's count.

Products of matrices and convolutions; what is added, normalized or squashed is left out on both
sides. Sizes are the published ones: DenseNet with growth 24, decoders of width 256.
"""

from dataclasses import dataclass

F8, F16 = 600, 684
"""Channels of DenseNet's maps."""
D = 256
"""Width of all decoders, of VAT, of its 1 x 1 convolution and of PGD."""
ATTENTION, KERNEL = 512, 11
"""Channels and window of coverage attention."""


@dataclass(frozen=True)
class AnalyticFlops:
    """FLOPs, which are 2 x multiply-adds, of one picture of `height` x `width` pixels."""

    height: int
    width: int

    @property
    def cells16(self) -> int:
        return self.height * self.width // 16**2

    @property
    def encoder(self) -> int:
        """DenseNet: a stem, and three blocks of 16 layers at H/4, H/8, H/16."""
        pixels = self.height * self.width
        total, channels = 7 * 7 * 48 * pixels // 4, 48
        for stride in (4, 8, 16):
            layers = sum((channels + 24 * n) * 96 + 9 * 96 * 24 for n in range(16))
            channels += 16 * 24
            if stride < 16:  # the transition halves channels, and only then is it pooled
                layers += channels * (channels // 2)
                channels //= 2
            total += layers * pixels // stride**2
        return 2 * total

    def namer(self, nodes: int, classes: int) -> int:
        """VAT and PGD of K `classes`: two layers, feed-forward twice as wide, three heads."""
        vat = 4 * self.cells16 * (F16 * D + 9 * (F8 + D) * D + 9 * D * (classes + 1))
        inputs = nodes * D * D + self.cells16 * F16 * D
        cross = 2 * nodes * D * D + 2 * self.cells16 * D * D + 2 * nodes * self.cells16 * D
        own = 4 * nodes * D * D + 2 * nodes * nodes * D
        layer = cross + own + 2 * nodes * D * 2 * D
        answers = nodes * D * (classes + 2) + 2 * nodes * nodes * D
        return 2 * (vat + inputs + 3 * 2 * layer + answers)

    @property
    def _keys(self) -> int:
        """Multiply-adds of coverage attention, once a picture: U_a a, and Q and U_f multiplied."""
        return self.cells16 * F16 * ATTENTION + ATTENTION**2 * KERNEL**2

    @property
    def _glance(self) -> int:
        """Multiply-adds of coverage attention, each step: query, coverage, energy, context."""
        return D * ATTENTION + self.cells16 * (KERNEL**2 * ATTENTION + ATTENTION + F16)

    def dwap(self, steps: int, size: int) -> int:
        """Greedy, `steps` tokens of an alphabet of `size`."""
        step = 6 * D * D + self._glance + 2 * D * D + F16 * D + D * size
        return 2 * (self._keys + F16 * D + steps * step)

    def comer(self, steps: int, size: int) -> int:
        """Greedy in one direction with a cache: three layers, eight heads, refined in two."""
        cells, layers, heads = self.cells16, 3, 8
        once = cells * F16 * D + layers * 2 * cells * D * D
        refine = cells * (25 * 2 * heads * 32 + 32 * heads)
        step = layers * (4 * D * D + 2 * D * D + 2 * cells * D + 2 * D * 4 * D)
        looks_back = layers * D * steps * (steps + 1)  # over all tokens so far: logits, values
        return 2 * (once + steps * (step + 2 * refine + D * size) + looks_back)
