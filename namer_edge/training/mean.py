"""`python -m namer_edge.training.mean`: the former name of `namer-edge train average`."""

import sys

from namer_edge_runtime.command import main

if __name__ == "__main__":
    sys.exit(main(["train", "average", *sys.argv[1:]]))
