"""Bounds under which path selection ignores a probability when it weighs hypotheses."""

MAX_K_BEST = 64
"""Most paths that are weighed against each other; a fourth brought no gain."""
MIN_EDGE = 0.005
"""Share of the weights that an edge needs to be on another path than the longest."""
MIN_CLASS = 0.001
"""Probability that a class needs to replace the best one, or a deleted node to come back: less
likely ones hardly ever make a formula that anyone would pick."""
MIN_PROBABILITY = 1e-12
"""Replaces 0, whose logarithm is not finite."""
MIN_DELETE = 1e-3
"""Lower bound of P(delete): a node that PGD is sure of may still be left out."""
