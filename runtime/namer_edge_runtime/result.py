"""Results of recognition."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formula.expression import Expression
from .formula.vocabulary import INKLESS, Vocabulary
from .ink.strokes import Strokes, bounds
from .preprocessing import Prepared

ENLARGED = 4
"""Times that the picture of the model is enlarged for drawing on it."""
LETTERS = 9.0
"""Height of the letters drawn, in pixels of the model: a third to a half of a symbol."""


@dataclass(frozen=True)
class TokenResult:
    """One visual token of the formula, in reading order."""

    text: str
    score: float
    """Probability in [0, 1] of its class."""
    x: float
    y: float
    """Where it stands, in coordinates of the input: pixels of the picture, or the ink's unit, y
    growing downwards whichever way it grows in an InkML file."""


@dataclass(frozen=True)
class Reading:
    """A reading of an input: the formula along one path through its nodes."""

    latex: str
    """Compact LaTeX, ready to be set."""
    canonical: str
    """Space-separated tokens in the form of the published labels: what is scored."""
    score: float
    """In [0, 1]: product of the probabilities of the path's classes and edges, and of those that
    what it leaves out stands for nothing, as the model scales it (`ScoreCalibration`)."""
    tokens: tuple[TokenResult, ...] = ()
    vocabulary: Vocabulary | None = field(default=None, kw_only=True, repr=False, compare=False)
    """That of the model, whose relation table all output forms are written by."""

    @property
    def expression(self) -> Expression:
        """The formula itself, in all output forms."""
        return Expression(tuple(self.canonical.split()), self.vocabulary)

    @property
    def katex(self) -> str:
        """Compact LaTeX that KaTeX sets, also in strict mode."""
        return self.expression.katex

    @property
    def mathml(self) -> str:
        """Presentation MathML."""
        return self.expression.mathml()

    @property
    def word_mathml(self) -> str:
        """Presentation MathML with the prefix `mml:`, as Word copies and pastes it."""
        return self.expression.word_mathml

    @property
    def omml(self) -> str:
        """Office Math Markup, an `m:oMath` element as Word's documents hold it."""
        return self.expression.omml

    @property
    def typst(self) -> str:
        """Mathematics of Typst, without the `$` round it."""
        return self.expression.typst

    @property
    def sympy(self) -> str:
        """An expression that SymPy's `sympify` takes."""
        return self.expression.sympy

    @property
    def svg(self) -> str:
        """The set formula as a picture, an `svg` element."""
        return self.expression.svg

    def _repr_latex_(self) -> str:
        """LaTeX, for notebooks without HTML."""
        return f"$\\displaystyle {self.katex}$" if self.canonical else ""

    def _repr_html_(self) -> str:
        """HTML for notebooks: the formula as MathML, its LaTeX and its score."""
        from html import escape

        body = f"<code>{escape(self.latex)}</code>" if self.canonical else "<em>nothing read</em>"
        return (
            f"{self.mathml if self.canonical else ''}<small>{body} (score {self.score:.2f})</small>"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "latex": self.latex,
            "canonical": self.canonical,
            "score": round(self.score, 6),
            "tokens": [
                {
                    "text": token.text,
                    "score": round(token.score, 4),
                    "x": round(token.x, 2),
                    "y": round(token.y, 2),
                }
                for token in self.tokens
            ],
        }


Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in coordinates of the input."""
NOWHERE: Box = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Line(Reading):
    """One line of what was read."""

    strokes: tuple[int, ...] | None = None
    """The strokes that it was written with, as their places in the result's `ink`; None for a
    picture."""
    alternatives: tuple[Reading, ...] = ()
    """Its other readings, where they were asked for."""
    result: "Result | None" = field(default=None, repr=False, compare=False)
    """Result of its ink alone, for corrections."""

    @property
    def box(self) -> Box:
        """Box of its ink: x0, y0, x1, y1 in coordinates of the input."""
        return self.result.box if self.result else NOWHERE

    @property
    def token_strokes(self) -> tuple[tuple[int, ...], ...] | None:
        """The strokes of each of its tokens, as `Result.token_strokes`."""
        owned, places = self.result.token_strokes if self.result else None, self.strokes
        if owned is None or places is None:
            return owned
        return tuple(tuple(places[number] for number in own) for own in owned)

    def to_json(self) -> dict[str, Any]:
        value = {**super().to_json(), "box": [round(side, 2) for side in self.box]}
        if self.strokes is not None:
            value["strokes"] = list(self.strokes)
        if self.alternatives:
            value["alternatives"] = [reading.to_json() for reading in self.alternatives]
        return value


@dataclass(frozen=True)
class Milliseconds:
    """Time of each stage; a batch's time is shared out evenly among its pictures."""

    prepare: float = 0.0
    vat: float = 0.0
    pgd: float = 0.0
    path: float = 0.0

    @property
    def total(self) -> float:
        return self.prepare + self.vat + self.pgd + self.path

    def __add__(self, other: "Milliseconds") -> "Milliseconds":
        """Of two passes over one input."""
        return Milliseconds(
            self.prepare + other.prepare,
            self.vat + other.vat,
            self.pgd + other.pgd,
            self.path + other.path,
        )

    def to_json(self) -> dict[str, float]:
        values = {**asdict(self), "total": self.total}
        return {stage: round(value, 3) for stage, value in values.items()}


@dataclass(frozen=True)
class Result(Reading):
    """One recognized formula, or the lines of a page together: then `canonical` and all forms are
    those of `aligned`, `tokens` those of all lines, and the score is the product of theirs. A blank
    page gives an empty one with score 0."""

    alternatives: tuple[Reading, ...] = ()
    """Other readings, where they were asked for, the most probable first. Those of one pass go by
    score, and the first may have a higher one than the answer, which is the longest path; those
    of several passes go by their votes (`Votes`)."""
    engine: str = ""
    device: str = ""
    """Engine and device that really ran."""
    precision: str = ""
    milliseconds: Milliseconds = Milliseconds()
    truncated: bool = False
    """True where there were more nodes than the model takes; the least probable were left out."""
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    """What was seen in the picture and left out, as the lines of the paper or a frame round the
    formula, one sentence each."""
    prepared: Prepared | None = field(default=None, repr=False, compare=False)
    """Input of the model, and the map from its pixels to the input."""
    ink: Strokes | None = field(default=None, repr=False, compare=False)
    """The strokes, where the input had some."""
    evidence: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    """Evidence of each pass (`recognition.evidence.Evidence`), kept for corrections."""
    locked: tuple[tuple[int, tuple[int, ...]], ...] = field(default=(), repr=False, compare=False)
    """Place in `tokens` of each symbol that was locked, and its strokes."""
    lines: tuple[Line, ...] = ()
    """Its lines from above to below, a single one where there are no more; none of a blank page."""

    @cached_property
    def token_strokes(self) -> tuple[tuple[int, ...], ...] | None:
        """The strokes that each of `tokens` was written with, as their places in `ink`; none
        for `^`, `_` and `\\limits`. None where the input was a picture."""
        from .ink.stroke_assignment import assign_strokes

        if self.ink is None:
            return None
        if len(self.lines) > 1:
            return tuple(own for line in self.lines for own in line.token_strokes or ())
        owned = dict(self.locked)
        taken = {place for strokes in owned.values() for place in strokes}
        free = [place for place in range(len(self.ink)) if place not in taken]
        inked = [
            number
            for number, token in enumerate(self.tokens)
            if token.text not in INKLESS and number not in owned
        ]
        places = np.array([(self.tokens[n].x, self.tokens[n].y) for n in inked]).reshape(-1, 2)
        assigned = assign_strokes(
            [self.ink[place] for place in free], [self.tokens[n].text for n in inked], places
        )
        for number, own in zip(inked, assigned, strict=True):
            owned[number] = tuple(free[place] for place in own)
        return tuple(owned.get(number, ()) for number in range(len(self.tokens)))

    @cached_property
    def box(self) -> Box:
        """Box of its ink: x0, y0, x1, y1 in coordinates of the input; zeros for no ink."""
        if self.ink:
            return bounds(self.ink)
        if self.prepared is None or self.prepared.blank:
            return NOWHERE
        from .picture.prepare import INK

        rows, columns = np.nonzero(self.prepared.image > INK)
        places = self.prepared.to_input(np.stack([columns, rows], axis=1) + 0.5)
        (x0, y0), (x1, y1) = places.min(0).tolist(), places.max(0).tolist()
        return x0, y0, x1, y1

    def label_graph(self, name: str = "") -> str:
        """The formula as a label graph (`.lg`) of CROHME's evaluation tools, under this name.

        Strokes are counted from 0 as in `ink`, where an InkML trace without a point, or along which
        the pen hovered, is none; of a picture, each symbol is one stroke.
        """
        scores = [token.score for token in self.tokens]
        return self.expression.label_graph(scores, self.token_strokes, name)

    def draw(self, picture: Any = None) -> NDArray[np.uint8]:
        """RGB [H, W, 3]: the tokens, and the path through them, over what the model saw, enlarged;
        or over `picture`, as large as it is: the input again, as path, bytes, array or PIL picture.

        Raises `PictureError` for a picture that cannot be read.
        """
        from .picture.load import load
        from .picture.overlay import Mark, overlay
        from .picture.prepare import blank_page

        prepared = self.prepared or blank_page()
        places = np.array([(token.x, token.y) for token in self.tokens]).reshape(-1, 2)
        if picture is None:
            # The cells of the model's own picture, each ENLARGED pixels wide.
            ground = np.kron(255 - prepared.image, np.ones((ENLARGED, ENLARGED), np.uint8))
            factor = prepared.scale * ENLARGED
            places = prepared.from_input(places) * ENLARGED
        else:
            ground, factor = load(picture), 1.0
        marks = [
            Mark(t.text, t.score, *at) for t, at in zip(self.tokens, places.tolist(), strict=True)
        ]
        path = self.expression.visual_path
        return overlay(ground, marks, path, LETTERS / prepared.scale * factor)

    def to_json(self) -> dict[str, Any]:
        """The object that `namer-edge recognize --jsonl` writes, but for its `source`."""
        value = {
            **super().to_json(),
            "engine": self.engine,
            "device": self.device,
            "precision": self.precision,
            "milliseconds": self.milliseconds.to_json(),
        }
        if self.alternatives:
            value["alternatives"] = [reading.to_json() for reading in self.alternatives]
        if self.notes:
            value["notes"] = list(self.notes)
        if self.truncated:
            value["truncated"] = True
        if len(self.lines) > 1:
            value["lines"] = [line.to_json() for line in self.lines]
        return value
