"""Canonical tokens → the set formula as an SVG picture, drawn with the fonts of whoever shows it.

Boxes are laid out bottom up as TeX does (The TeXbook, appendix G), by widths and heights of our own
that each text is held to. Lengths are in em, x to the right, y downwards from the baseline.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax import saxutils

from .atoms import Atom, write
from .latex import compact
from .mathml import FENCES, NOT_XML, brackets, sign_of
from .signs import FUNCTION, IDENTIFIER, LARGE, OPERATOR, OVER, PUNCTUATION, RELATION, UNDER
from .vocabulary import GROUP, INDEX, Vocabulary, begin

FONTS = "'STIX Two Math', 'Cambria Math', 'Latin Modern Math', 'DejaVu Serif', serif"
PIXELS = 32
"""Pixels of an em."""
MARGIN = 0.2
AXIS = 0.25
"""Height of fraction bars over the baseline."""
RULE = 0.05
SMALL = 0.7
"""Size of scripts."""
GAP = 0.12
_UP, _DOWN = 0.72, 0.22
_NARROW, _BROAD = frozenset("ijl.,:;!|'′()[]{}‖⌊⌋⌈⌉⟨⟩"), frozenset("mwMW∞…⋯→←⇒⇐⇔↔")
_SPACE = {OPERATOR: 0.22, RELATION: 0.28}
_TIGHT = frozenset("!%#$@/′&_")
"""Operators that stand close to their neighbors."""


@dataclass
class Box:
    """Something set: its size, and what it draws."""

    width: float = 0.0
    up: float = 0.0
    down: float = 0.0
    texts: list[tuple[float, float, float, float, float, str, bool]] = field(default_factory=list)
    """x, y, factors across and down, width, text, whether it slants."""
    lines: list[list[tuple[float, float]]] = field(default_factory=list)

    def put(
        self, other: "Box", x: float, y: float = 0.0, across: float = 1, down: float = 0
    ) -> None:
        """Draws another box at a place, scaled by `across` and `down` (default: by `across`)."""
        down = down or across
        for text in other.texts:
            at_x, at_y, wide, high, *rest = text
            moved = (x + at_x * across, y + at_y * down, wide * across, high * down, *rest)
            self.texts.append(moved)  # type: ignore[arg-type]
        self.lines += [[(x + a * across, y + b * down) for a, b in line] for line in other.lines]
        self.width = max(self.width, x + other.width * across)
        self.up = max(self.up, other.up * down - y)
        self.down = max(self.down, other.down * down + y)

    def draw(self, *points: tuple[float, float]) -> None:
        self.lines.append([*points])


def svg(tokens: Sequence[str], vocabulary: Vocabulary | None = None) -> str:
    """An `svg` element in the color of the text round it. `vocabulary` gives the relation table
    (default: the packaged ones, and what the tokens themselves show).

    Raises `LatexError` for tokens that are not balanced.
    """
    box = write(tokens, vocabulary, _row)
    width, height = box.width + 2 * MARGIN, box.up + box.down + 2 * MARGIN
    view = f"{-MARGIN:.3f} {-box.up - MARGIN:.3f} {width:.3f} {height:.3f}"
    title = saxutils.escape(NOT_XML.sub("\N{REPLACEMENT CHARACTER}", compact(tokens, vocabulary)))
    texts = "".join(_text(*text) for text in box.texts)
    lines = "".join(
        f'<polyline points="{" ".join(f"{x:.3f},{y:.3f}" for x, y in line)}"/>'
        for line in box.lines
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="{view}" '
        f'width="{width * PIXELS:.0f}" height="{height * PIXELS:.0f}"><title>{title}</title>'
        f'<g fill="currentColor" font-size="1" font-family="{FONTS}">{texts}</g>'
        f'<g fill="none" stroke="currentColor" stroke-width="{RULE}">{lines}</g></svg>'
    )


def _text(
    x: float, y: float, across: float, down: float, width: float, text: str, slants: bool
) -> str:
    style = ' font-style="italic"' if slants else ""
    place = f"matrix({across:.3f} 0 0 {down:.3f} {x:.3f} {y:.3f})"
    held = f'textLength="{width:.3f}" lengthAdjust="spacingAndGlyphs"'
    shown = saxutils.escape(NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
    return f'<text transform="{place}" {held}{style}>{shown}</text>'


def _glyphs(text: str, slants: bool = False) -> Box:
    wide = {False: 0.52, True: 0.3}
    widths = (0.9 if c in _BROAD else 0.7 if c.isupper() else wide[c in _NARROW] for c in text)
    width = sum(widths) if text.isascii() or text.isalpha() else max(0.75, 0.52 * len(text))
    width = 0.3 if text in _NARROW else width
    return Box(width, _UP, _DOWN, [(0, 0, 1, 1, width, text, slants)])


def _row(atoms: list[Atom]) -> Box:
    """Atoms side by side; brackets in pairs are as high as what they hold."""
    row = Box()
    closed_by = brackets(atoms)
    opened = {right: left for left, right in closed_by.items()}
    boxes = [_nucleus(atom) for atom in atoms]
    for right, left in sorted(opened.items()):
        inner = boxes[left + 1 : right]
        for place in (left, right):
            boxes[place] = _stretched(boxes[place], inner)
        if left + 1 < right:  # so that brackets further out reach over these
            boxes[left + 1] = Box(**{**vars(boxes[left + 1]), "up": max(b.up for b in inner)})
    for place, (atom, box) in enumerate(zip(atoms, boxes, strict=True)):
        set_box = _scripts(box, atom)
        sign = sign_of(atom.token)
        alone = place == 0 or sign_of(atoms[place - 1].token).kind in (OPERATOR, RELATION)
        space = 0.0 if sign.character in _TIGHT else _SPACE.get(sign.kind, 0.0)
        before = 0.0 if alone and sign.kind == OPERATOR else space
        behind = (
            before if sign.kind in _SPACE else 0.17 * (sign.kind in (FUNCTION, PUNCTUATION, LARGE))
        )
        row.put(set_box, row.width + before)
        row.width += behind
    return row


def _stretched(bracket: Box, inner: Sequence[Box]) -> Box:
    """A bracket as high as what it stands beside, round the axis."""
    reach = max((max(box.up - AXIS, box.down + AXIS) for box in inner), default=0.0)
    factor = max(1.0, reach / (_UP - AXIS))
    stretched = Box()
    stretched.put(bracket, 0, AXIS * (factor - 1), 1, factor)
    return stretched


def _nucleus(atom: Atom) -> Box:
    """Symbol, or relation with its arguments, without the scripts."""
    token, arguments = atom.token, atom.arguments
    if atom.rows:
        return _table(atom)
    if token in ("", GROUP, "\\mathop"):
        return arguments[0] if arguments else Box(0, _UP, 0)
    sign = sign_of(token)
    if not arguments:
        slants = sign.kind == IDENTIFIER and sign.character.isalpha() and sign.character.islower()
        slants |= len(token) == 1 and token.isalpha()
        box = _glyphs(sign.character, slants)
        if sign.kind == LARGE:
            large = Box()
            large.put(box, 0, 0.15, 1.5)
            return large
        return box
    last = arguments[-1]
    if token in ("\\frac", "\\binom"):
        stacked = _stacked(arguments[0], last, token == "\\frac")
        return stacked if token == "\\frac" else _fenced(stacked, "()")
    if token == "\\sqrt":
        return _root(last, arguments[0] if atom.takes[0] == INDEX else Box())
    if sign.kind in (OVER, UNDER):
        return _accented(last, sign.character, sign.kind == UNDER)
    box = Box() if token in ("\\boxed", "\\textcircled") else _glyphs(token)
    for argument in arguments:
        box.put(argument, box.width + 2 * GAP)
    if token in ("\\boxed", "\\textcircled"):
        box.width, box.up, box.down = box.width + 2 * GAP, box.up + GAP, box.down + GAP
        left, right, top, low = 0.05, box.width - 0.05, -box.up, box.down
        box.draw((left, top), (right, top), (right, low), (left, low), (left, top))
    return box


def _stacked(above: Box, below: Box, ruled: bool) -> Box:
    box = Box()
    width = max(above.width, below.width) + 2 * GAP
    box.put(above, (width - above.width) / 2, -AXIS - GAP - above.down)
    box.put(below, (width - below.width) / 2, -AXIS + GAP + below.up)
    if ruled:
        box.draw((0.03, -AXIS), (width - 0.03, -AXIS))
    box.width = width + 0.1
    return box


def _root(inner: Box, index: Box) -> Box:
    box = Box()
    start = max(0.0, index.width * SMALL - 0.25)
    top, low = -inner.up - GAP, inner.down
    box.put(inner, start + 0.7)
    right = box.width + 0.05
    box.draw(
        (start, -0.3), (start + 0.15, -0.36), (start + 0.38, low), (start + 0.62, top), (right, top)
    )
    box.up, box.width = box.up + GAP + RULE, right + 0.08
    if index.width:
        box.put(index, 0, -0.45 - index.down * SMALL, SMALL)
    return box


def _accented(inner: Box, accent: str, below: bool) -> Box:
    box = Box()
    box.put(inner, 0)
    width, top = inner.width, inner.down + 0.06 if below else -inner.up - 0.06
    middle = width / 2
    if accent in "‾_":
        box.draw((0, top), (width, top))
    elif accent == "→":
        box.draw((0, top), (width, top))
        box.draw((width - 0.12, top - 0.09), (width, top), (width - 0.12, top + 0.09))
    elif accent == "^":
        box.draw((0.05, top), (middle, top - 0.15), (width - 0.05, top))
    elif accent == "~":
        quarter = width / 4
        box.draw((0, top), (quarter, top - 0.1), (3 * quarter, top), (width, top - 0.1))
    else:
        dots = (-0.12, 0.12) if accent == "¨" else (0.0,)
        for dot in dots:
            box.draw((middle + dot - 0.03, top - 0.05), (middle + dot + 0.03, top - 0.05))
    if below:
        box.down += 0.12
    else:
        box.up += 0.25
    return box


def _fenced(inner: Box, fences: str) -> Box:
    box = Box()
    for fence in fences[:1]:
        box.put(_stretched(_glyphs(fence), [inner]), 0)
    box.put(inner, box.width)
    for fence in fences[1:]:
        box.put(_stretched(_glyphs(fence), [inner]), box.width)
    return box


def _table(atom: Atom) -> Box:
    """Rows of cells round the axis, between their brackets."""
    box = Box()
    columns = max(map(len, atom.rows))
    widths = [max((r[c].width for r in atom.rows if c < len(r)), default=0) for c in range(columns)]
    flush = atom.token in (begin("cases"), begin("aligned"))
    y = 0.0
    for row in atom.rows:
        y += max(_UP, *(cell.up for cell in row)) if row else _UP
        x = GAP
        for cell, width in zip(row, widths, strict=False):
            box.put(cell, x + (0 if flush else (width - cell.width) / 2), y)
            x += width + 0.7
        y += max(_DOWN, *(cell.down for cell in row)) + 2 * GAP
    box.up = 0.0
    box.width = sum(widths) + 0.7 * (columns - 1) + 2 * GAP
    centered = Box()
    centered.put(box, 0, -AXIS - (y - 2 * GAP) / 2)
    centered.down = (y - 2 * GAP) / 2 - AXIS
    centered.up = (y - 2 * GAP) / 2 + AXIS
    return _fenced(centered, FENCES.get(atom.token, ""))


def _scripts(base: Box, atom: Atom) -> Box:
    lower, upper = atom.subscript, atom.superscript
    if lower is None and upper is None:
        return base
    box = Box()
    if atom.limits:
        width = max([base.width, *(script.width * SMALL for script in (lower, upper) if script)])
        box.put(base, (width - base.width) / 2)
        if lower:
            y = base.down + GAP + lower.up * SMALL
            box.put(lower, (width - lower.width * SMALL) / 2, y, SMALL)
        if upper:
            y = -base.up - GAP - upper.down * SMALL
            box.put(upper, (width - upper.width * SMALL) / 2, y, SMALL)
        return box
    box.put(base, 0)
    if upper:
        box.put(upper, base.width + 0.04, -max(0.38, base.up - 0.35) - upper.down * SMALL, SMALL)
    if lower:
        box.put(lower, base.width + 0.04, max(0.18, base.down - 0.05) + 0.1 * bool(upper), SMALL)
    box.width += 0.06
    return box
