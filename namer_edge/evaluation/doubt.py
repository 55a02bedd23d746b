"""`python -m namer_edge.evaluation.doubt`: former name of `namer-edge evaluate unknown-signs`."""

import sys

from namer_edge_runtime.command import main

if __name__ == "__main__":
    sys.exit(main(["evaluate", "unknown-signs", *sys.argv[1:]]))
