"""`python -m namer_edge.evaluation.steadiness`: former name of `namer-edge evaluate robustness`."""

import sys

from namer_edge_runtime.command import main

if __name__ == "__main__":
    sys.exit(main(["evaluate", "robustness", *sys.argv[1:]]))
