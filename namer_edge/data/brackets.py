"""Fits the shapes of brackets that grids are found by.

    namer-edge data brackets PACK … -o brackets.json

The file is `ink/brackets.json` of the runtime. Packs are those of `data pack` and `data symbols`.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from namer_edge_runtime.atomic import atomic_file
from namer_edge_runtime.formula.nodes import to_nodes
from namer_edge_runtime.formula.vocabulary import Vocabulary
from namer_edge_runtime.ink.bracket_shapes import CLASSES, DECIMALS, features, mirrored
from namer_edge_runtime.ink.grid import dense

from .formula import Formula
from .pack import load_pack
from .synthesis import ink_of

SUMMARY = "fit the shapes of brackets that matrices are found by"
OPENING = {"(": "(", "[": "[", "\\{": "{"}
CLOSING = {")": "(", "]": "[", "\\}": "{"}
OTHERS = ("\\int", "1", "/", "f", "l", "j", "t", "S", "k", "\\beta")
"""Signs that are higher than wide, too."""
WIDEST = 0.6
"""Most width of a sample, in its height."""
RARE = 0.8
"""Exponent of class balancing: 0 by frequency, 1 all classes alike."""
NARROWER = (1.0, 0.6, 0.35)
"""Round several rows brackets are narrower for their height."""
STEPS, RATE, MOMENTUM, DECAY = 1500, 0.05, 0.9, 1e-3
"""Gradient descent on standardized features; `DECAY` is that of the weights."""


def samples(formulas: Sequence[Formula]) -> Iterator[tuple[NDArray[np.float64], int]]:
    """Features and class of each bracket and of its mirror image, and of other high signs."""
    vocabulary = Vocabulary.load("everyday")
    other, line = CLASSES.index(""), CLASSES.index("|")
    for formula in formulas:
        nodes = [node.token for node in to_nodes(formula.tokens, vocabulary) if not node.ending]
        for number, strokes in ink_of(formula).items():
            token = nodes[number]
            width, height = np.ptp(np.concatenate(strokes), 0)
            if height <= 0 or width > WIDEST * height:
                continue
            shape = np.concatenate([dense(np.asarray(s, np.float64) / height * 3) for s in strokes])
            for narrower in NARROWER:
                narrow = shape * (narrower, 1)
                if token in OPENING or token in CLOSING:
                    right, wrong = (narrow, mirrored(narrow))[:: 1 if token in OPENING else -1]
                    yield features(right), CLASSES.index((OPENING | CLOSING)[token])
                    yield features(wrong), other
                elif token == "|" or token in OTHERS:
                    yield features(narrow), line if token == "|" else other


def fit(found: NDArray[np.float64], classes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Weights [features, classes] of softmax regression; rare classes count more."""
    counts = np.bincount(classes, minlength=len(CLASSES))
    share = counts[classes] ** -RARE
    share /= share.sum()
    mean, spread = found.mean(0), found.std(0) + 1e-6
    mean[-1], spread[-1] = 0.0, 1.0
    scaled = (found - mean) / spread
    weights = np.zeros((found.shape[1], len(CLASSES)))
    speed = np.zeros_like(weights)
    for _ in range(STEPS):
        logits = scaled @ weights
        odds = np.exp(logits - logits.max(1, keepdims=True))
        error = odds / odds.sum(1, keepdims=True) - np.eye(len(CLASSES))[classes]
        speed = MOMENTUM * speed + scaled.T @ (error * share[:, None]) + DECAY * weights
        weights -= RATE * speed
    plain = weights / spread[:, None]
    plain[-1] -= mean @ plain
    return plain


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("packs", type=Path, nargs="+", metavar="PACK")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="JSON")


def run(arguments: argparse.Namespace) -> int:
    """Prints the share of every fifth sample that the fit to the others gets right."""
    pairs = [pair for path in arguments.packs for pair in samples(load_pack(path).formulas)]
    found, classes = np.array([f for f, _ in pairs]), np.array([c for _, c in pairs])
    judged = np.arange(len(pairs)) % 5 == 4
    read = (found[judged] @ fit(found[~judged], classes[~judged])).argmax(1)
    for number, name in enumerate(CLASSES):
        own = classes[judged] == number
        right = (read[own] == number).sum()
        print(f"{name or 'other':6s} {right} of {own.sum()}")
    weights = fit(found, classes).round(DECIMALS).tolist()
    with atomic_file(arguments.output, "w") as file:
        json.dump({"weights": weights}, file)
        file.write("\n")
    return 0
