"""From where on probabilities count when readings are weighed against each other."""

MAX_K_BEST = 64
"""Paths that are looked at for a reading; the third is the last that brought anything."""
WEAKEST_EDGE = 0.005
"""Share of the weights that an edge needs to be on another path than the longest."""
WEAKEST_CLASS = 0.001
"""Probability that a class needs to stand for the best one, or a node to come back though deleted:
what is less likely hardly ever makes a reading that anyone would pick."""
LEAST = 1e-12
"""Probability that 0 counts as, so that its logarithm is a number."""
LEAST_DELETED = 1e-3
"""What P(delete) counts as where it is less: a node that PGD is sure of may still be left out."""
