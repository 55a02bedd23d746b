"""Writes `vectors.json`: inputs, and what the package's plain Python twins make of them.

`python -m tests.browser.vectors` from the root of a checkout. Both sides read the file: the tests
here hold the package against it, `vectors.mjs` the browser's module.
"""

import base64
import gzip
import json
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from namer_edge_runtime.decode import DecodingOptions, decode, pick
from namer_edge_runtime.decode.filled import without_hollow
from namer_edge_runtime.formula.expression import Expression
from namer_edge_runtime.formula.vocabulary import GROUP, INDEX, Vocabulary
from namer_edge_runtime.ink.render import render
from namer_edge_runtime.ink.stroke_assignment import assign_strokes
from namer_edge_runtime.ink.strokes import as_strokes
from namer_edge_runtime.model_file import ModelFile
from namer_edge_runtime.picture.skew import skew
from namer_edge_runtime.preprocessing import Preprocessing
from namer_edge_runtime.recognition.pen_session import PenSession
from namer_edge_runtime.recognition.voting import Votes
from namer_edge_runtime.result import Reading, Result, TokenResult
from namer_edge_runtime.score_calibration import PlattScaling, ScoreCalibration

from ..decode.formulas import ENDINGS, random_nodes, softmax

pick_module, decode_module = map(
    import_module, ("namer_edge_runtime.decode.pick", "namer_edge_runtime.decode.decode")
)
PATH = Path(__file__).with_name("vectors.json")
SMALL = Vocabulary(
    "small", ("a", "b", "1", "+"), {"^": (GROUP,), "_": (GROUP,), "\\sqrt": (INDEX, GROUP)}
)
"""Its classes have the endings of `ENDINGS`."""
FORMULAS = r"""
x
x ^ { 2 } + 1 2 . 5
\frac { - b \pm \sqrt { b ^ { 2 } - 4 a c } } { 2 a }
\sum \limits _ { i = 1 } ^ { n } x _ { i } ^ { k }
\int _ { 0 } ^ { \infty } e ^ { - x } d x
\sqrt [ 3 ] { x } \sqrt [ [ ] { y }
\lim \limits _ { x \rightarrow 0 } \frac { \sin x } { x } = 1
| x | + \{ y \} ] ( a + b ) ^ { 2 }
f ^ { \prime } ( x ) f ^ { \prime \prime }
x ^ { 2 } ^ { 3 } _ { 1 } 2
^ { 2 } _ { x }
2 \times 3 \alpha a \cos \theta
p ( x | y ) < 1 > 0
\frac { } { x } \sqrt { }
"""


def main() -> None:
    PATH.write_text(json.dumps(vectors(plain=True), separators=(",", ":")) + "\n", "utf-8")


def vectors(plain: bool) -> dict[str, Any]:
    """Room → its cases, of the plain twins or the kernels; numbers have few digits, so that all
    sides read the same ones."""
    if plain:
        with ExitStack() as patches:
            for module, name in ((pick_module, "_pick"), (decode_module, "select_paths")):
                kernel = getattr(module, name)
                patches.enter_context(mock.patch.object(module, name, kernel.plain))
            return vectors(plain=False)
    random = np.random.default_rng(28)
    model = ModelFile.open()
    return {
        "small": SMALL.to_json(),
        "vocabulary": model.vocabulary.to_json(),
        "drawing": [drawing(random, size, pen) for size, pen in ((20, 2), (30, 1), (14, 2.6))],
        "picking": [picking(random, most) for most in (512, 512, 9, 2)],
        "selection": [selection(random, k_best, n) for k_best in (0, 3) for n in (1, 1, 4, 4)],
        "writing": [writing(label, model.vocabulary) for label in FORMULAS.strip().splitlines()],
        "voting": [voting(random) for _ in range(4)],
        "scaling": scaling(),
        "assignment": assignment(random),
        "session": session(),
    }


def drawing(random: np.random.Generator, height: float, pen: float) -> dict[str, Any]:
    """Strokes of which one is a dot, drawn."""
    strokes = [
        (random.uniform(0, 90, 2) * (1, 0.2) + np.cumsum(random.normal(2, 5, (n, 2)), 0)).round(2)
        for n in (12, 7, 1, 3)
    ]
    strokes.append(np.repeat(strokes[0][:1], 3, axis=0))
    ink = [stroke.tolist() for stroke in strokes]
    look = Preprocessing(symbol_height=height, pen_width=pen)
    drawn = render(as_strokes(ink), look)
    packed = base64.b64encode(gzip.compress(drawn.image.tobytes(), mtime=0)).decode()
    return {
        "strokes": ink,
        "look": look.to_json(),
        "size": drawn.image.shape,
        "scale": drawn.scale,
        "offset": drawn.offset,
        "skew": skew(drawn.image),
        "image": packed,
    }


def picking(random: np.random.Generator, most: int) -> dict[str, Any]:
    rows, columns, depth = 5, 7, 3
    scores = np.sort(random.dirichlet(np.full(4, 0.3), (rows, columns)), axis=-1)[..., ::-1]
    none = (scores[..., 0] * random.uniform(0.2, 3, (rows, columns))).round(2)
    scores = np.moveaxis(scores[..., :depth], -1, 0).round(2).astype(np.float32)
    classes = random.permuted(np.tile(np.arange(7), (rows, columns, 1)), axis=-1)
    classes = np.moveaxis(classes[..., :depth], -1, 0).astype(np.int32)
    options = DecodingOptions(threshold=0.3, max_nodes=most)
    maps = scores, classes, none.astype(np.float32), SMALL.endings
    ends = SMALL.end, SMALL.sos, SMALL.eos
    nodes = pick(*maps, *ends, threshold=options.threshold, max_nodes=most)
    return {
        "size": [rows, columns],
        "scores": _digits(scores),
        "classes": classes.ravel().tolist(),
        "none": none.ravel().tolist(),
        "options": {"threshold": options.threshold, "max_nodes": most},
        "nodes": {
            "cells": nodes.cells.tolist(),
            "classes": nodes.classes.tolist(),
            "endings": nodes.endings.tolist(),
            "parents": nodes.parents.tolist(),
            "scores": _digits(nodes.scores),
            "truncated": nodes.truncated,
        },
    }


def selection(random: np.random.Generator, k_best: int, alternatives: int) -> dict[str, Any]:
    assert SMALL.endings.tolist() == ENDINGS.tolist()
    nodes = random_nodes(random, 13)
    size = len(nodes)
    probs = softmax(random, size, len(ENDINGS) + 2, 2).round(3)
    left, right = (softmax(random, size, size, 3).round(3) for _ in range(2))
    options = DecodingOptions(k_best=k_best, right_weight=0.8)
    found = decode(
        probs, left, right, nodes, SMALL.endings, alternatives=alternatives, **vars(options)
    )
    (found,) = without_hollow([found], SMALL)
    return {
        "nodes": {"classes": nodes.classes.tolist(), "parents": nodes.parents.tolist()},
        "probs": _digits(probs),
        "left": _digits(left),
        "right": _digits(right),
        "options": vars(options),
        "alternatives": alternatives,
        "hypotheses": [
            {
                "nodes": one.nodes.tolist(),
                "classes": one.classes.tolist(),
                "score": one.score,
                "scores": _digits(one.node_scores),
                "repaired": one.repaired,
            }
            for one in found
        ],
    }


def writing(label: str, vocabulary: Vocabulary) -> dict[str, str]:
    written = Expression(tuple(label.split()), vocabulary)
    return {
        "canonical": label,
        "latex": written.latex,
        "mathml": written.mathml(),
        "marked": written.mathml(marked=True),
    }


def voting(random: np.random.Generator) -> dict[str, Any]:
    passes = [
        Result(
            "",
            str(random.choice(["x", "y", "z"])),
            float(random.uniform().__round__(2)),
            alternatives=tuple(
                Reading("", name, float(random.uniform().__round__(2))) for name in ("z", "x")
            ),
        )
        for _ in range(int(random.integers(1, 6)))
    ]
    votes = Votes(passes)
    winner = votes.winner(3)
    return {
        "passes": [_reading(one) for one in passes],
        "decided": [votes.is_decided(remaining) for remaining in range(4)],
        "winner": _reading(winner),
    }


def scaling() -> dict[str, Any]:
    scales = ScoreCalibration(PlattScaling(0.5, 0.8), PlattScaling(0.7, -0.1))
    tokens = TokenResult("x", 0.4, 1.0, 2.0), TokenResult("y", 1.0, 3.0, 4.0)
    others = Reading("", "a", 0.9, tokens), Reading("", "b", 0.0)
    result = Result("", "x y", 0.7, tokens, others)
    return {
        "scalings": scales.to_json(),
        "result": _whole(result),
        "scaled": _whole(scales(result)),
    }


def assignment(random: np.random.Generator) -> dict[str, Any]:
    strokes = [random.uniform(0, 40, (n, 2)).round(1).tolist() for n in (4, 3, 5, 2, 6)]
    texts = "x", "^", "\\sqrt", "2"
    tokens = [TokenResult(text, 1.0, *random.uniform(0, 40, 2).round(1)) for text in texts]
    return {"strokes": strokes, "tokens": _tokens(tokens), "owned": _owned(strokes, tokens)}


class Scripted:
    """Reads a canvas as it is told to: one token over each group of strokes."""

    def __init__(self, readings: list[list[tuple[str, float]]]) -> None:
        self.readings = iter(readings)

    def strokes(self, strokes: Any, *, alternatives: int = 0) -> Result:
        tokens = tuple(TokenResult(text, 1.0, x, 5.0) for text, x in next(self.readings))
        return Result("", "", 1.0, tokens, ink=list(strokes))


def session() -> dict[str, Any]:
    """What is done to a canvas, what is read then, and the symbols that come of it."""
    strokes = [[[x, 0.0], [x, 10.0]] for x in (0.0, 10.0, 20.0, 11.0)]
    steps = [
        ({"add": [0, 1]}, [("-", 0.0), ("1", 10.0)]),
        ({"add": [2]}, [("-", 0.0), ("^", 5.0), ("1", 10.0), ("2", 20.0)]),
        ({"add": [3]}, [("-", 0.0), ("^", 5.0), ("=", 10.5), ("2", 20.0)]),
        ({"remove": [0]}, [("=", 10.5), ("^", 15.0), ("2", 20.0)]),
    ]
    canvas = PenSession(Scripted([tokens for _, tokens in steps]))
    told = []
    for step, tokens in steps:
        for number in step.get("add", []):
            canvas.add(strokes[number])
        for number in step.get("remove", []):
            canvas.remove(number)
        symbols = [{"id": s.id, "text": s.text, "strokes": s.strokes} for s in canvas.symbols()]
        told.append({**step, "tokens": tokens, "symbols": symbols})
    return {"strokes": strokes, "steps": told}


def _owned(strokes: list[Any], tokens: list[TokenResult]) -> list[tuple[int, ...]]:
    inked = [token for token in tokens if token.text != "^"]
    places = np.array([(token.x, token.y) for token in inked])
    found = iter(assign_strokes(as_strokes(strokes), [token.text for token in inked], places))
    return [() if token.text == "^" else next(found) for token in tokens]


def _tokens(tokens: Any) -> list[dict[str, Any]]:
    return [vars(token) for token in tokens]


def _reading(result: Result) -> dict[str, Any]:
    own = {"canonical": result.canonical, "score": result.score}
    return {**own, "alternatives": [[one.canonical, one.score] for one in result.alternatives]}


def _whole(result: Reading) -> dict[str, Any]:
    value = {"canonical": result.canonical, "score": result.score, "tokens": _tokens(result.tokens)}
    if isinstance(result, Result):
        value["alternatives"] = [_whole(one) for one in result.alternatives]
    return value


def _digits(numbers: Any) -> list[float]:
    """Single precision in as few digits as give it back."""
    return [float(str(np.float32(number))) for number in np.asarray(numbers).ravel()]


if __name__ == "__main__":
    main()
