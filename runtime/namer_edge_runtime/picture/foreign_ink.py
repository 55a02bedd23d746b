"""Ink that is no part of the formula: frames, underlines, blots, crossed-out and far-off ink."""

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from ..ink.strokes import BAR, DOT, typical_height
from .components import ConnectedComponents, gaps
from .stroke_width import widest

DOTTED = "a dotted or dashed pattern is left out"
FRAME = "a frame round the formula is left out"
UNDERLINE = "a line under the formula is left out"
BLOT = "blots, holes in the paper or crossed-out ink are left out"
SCRIBBLE = "crossed-out ink is left out"
FAR = "ink far from the formula is left out"

LARGE = 1.2
"""Height in typical symbols from which a component may be a frame."""
SPARSE = 0.4
"""Share of its box that a frame's ink fills at most."""
CONVEX, BOXLIKE = 0.88, 0.7
"""Shares of its convex hull and of its box that the outline of a frame fills, at least."""
GAP, OPEN, MOST = 3, 0.4, 0.9
"""Half the pixels up to which a frame may be open, or the typical symbols where its box is, at
least, this share of that of all ink."""
LINE = 1.8
"""Pens from the outline up to which ink belongs to the frame."""
HELD, HELD_SIZE, HELD_ALONE = 0.2, 0.3, 0.5
"""Ink inside a frame, as a share of the frame's; height and width that it takes of it; and the
first share for a single component, which may be the bar of a letter."""
LONG, UNDER = 0.6, 0.35
"""Share of the width of what stands above that an underline has, and symbol heights up to which it
may reach into it."""
SMALL, MARKS, MOST_MARKS = 0.35, 12, 1500
"""Printed dots and the dashes of a selection are so small in typical symbols, and so many, at least
and at most."""
EVEN = 0.25
"""Share of the usual distance that the distances of such marks differ by at most."""
MOST_LINES = 3
"""Most lines of an underline."""
SOLID, BROAD = 0.5, 4.0
"""Least share of its box that a blot fills, and least width of a blot in pens."""
PLUMP = 1.3
"""Least ratio of the mean thickness of one of several blots to that of all ink."""
HOLE, ROW = 1.6, 7
"""The same for each of a row of equal blots, and least number of blots in a row."""
CROSSED, DENSE = 2.5, 0.24
"""Least ratio of a scribble's length to the height and width of its box together, and least share
of the box that it fills."""
ACROSS = 2.5
"""Greatest height of crossed-out ink in symbol heights."""
AWAY, MINOR = 3.0, 0.25
"""Symbol heights between writing that does not belong together, and share of the ink that is left
out at most."""


def without_foreign_ink(
    clean: ConnectedComponents,
) -> tuple[ConnectedComponents, list[str]]:
    """The components of the formula, and notes of what is left out."""
    notes = []
    for step, note in (
        (_without_marks, DOTTED),
        (_without_scribbles, SCRIBBLE),
        (_without_frames, FRAME),
        (_without_underlines, UNDERLINE),
        (_without_far_ink, FAR),
    ):
        if len(clean) < 2 and step is not _without_frames:
            continue
        left = step(clean)
        if left is not clean and len(left):
            clean = left
            notes.append(note)
    return clean, notes


def without_blots(clean: ConnectedComponents) -> ConnectedComponents:
    """The components without filled patches much wider than the pen, and without rows of equal
    ones, as of a spiral binding."""
    width, height = clean.sizes.T
    area = clean.stats[clean.numbers, 4]
    solid = (area > SOLID * width * height) & (np.minimum(width, height) > 1)
    if not (area > PLUMP * clean.pen * np.maximum(width, height))[solid].any():
        return clean
    pen = _pen_of(clean, ~solid)
    blots = solid & (np.minimum(width, height) > BROAD * pen)
    for place in np.flatnonzero(blots).tolist():
        blots[place] = widest(_own(clean, place)[0]) > BROAD * pen
    narrow, wide = np.minimum(width, height), np.maximum(width, height)
    holes = solid & (narrow > HOLE * pen) & (wide < 2 * narrow)
    if holes.sum() >= ROW:
        low = clean.stats[clean.numbers[holes], :2]
        usual = np.median(clean.sizes[holes], axis=0)
        alike = (np.abs(clean.sizes[holes] - usual) <= np.maximum(1.5, 0.25 * usual)).all(1)
        in_row = usual[:, None] * 0.5 >= np.abs(low - np.median(low, axis=0)).T
        holes[np.flatnonzero(holes)] = alike & in_row[np.argmax(in_row.sum(1))]
    blots |= holes & (holes.sum() >= ROW)
    if not blots.any() or blots.all() or area[~blots].max() < 4 * pen * pen:
        return clean
    return clean.only(~blots)


def _without_marks(clean: ConnectedComponents) -> ConnectedComponents:
    """Removes small equal marks in even rows: the dots of the paper, the dashes of a selection."""
    sides, area = clean.sizes, clean.stats[clean.numbers, 4]
    large = sides.max(1)
    solid = area >= SOLID * sides.prod(axis=1)
    small = large < SMALL * typical_height(sides[~solid])
    plain = small & solid
    if not MARKS <= plain.sum() <= MOST_MARKS:
        return clean
    usual = float(np.median(large[plain]))
    alike = plain & (large <= 1.6 * usual) & (large >= usual / 1.6)
    centers = clean.stats[clean.numbers, :2] + sides / 2
    away = np.linalg.norm(centers[alike, None] - centers[None, alike], axis=2)
    np.fill_diagonal(away, np.inf)
    apart = float(np.median(away.min(1, initial=np.inf)))
    even = (np.abs(away - apart) <= EVEN * apart).sum(1) >= 2
    if even.sum() < MARKS:
        return clean
    marks = np.zeros(len(clean), np.bool_)
    marks[np.flatnonzero(alike)[even]] = True
    for _ in range(2):  # those at the ends of rows, then corners where two dashes meet
        gaps = np.linalg.norm(centers[:, None] - centers[None, marks], axis=2).min(1)
        marks |= small & (large <= 2 * usual) & (gaps <= (1 + EVEN) * apart)
    return clean if marks.all() else clean.only(~marks)


def _without_scribbles(clean: ConnectedComponents) -> ConnectedComponents:
    """Removes symbols that are crossed out by many lines."""
    width, height = clean.sizes.T
    area = clean.stats[clean.numbers, 4]
    high = height < ACROSS * clean.height
    scribbles = high & (area > DENSE * width * height)
    scribbles &= np.minimum(width, height) > BROAD * clean.pen
    scribbles &= area > 0.8 * CROSSED * clean.pen * (width + height)
    if not scribbles.any():
        return clean
    scribbles &= area > CROSSED * _pen_of(clean, ~scribbles) * (width + height)
    return clean if scribbles.all() else clean.only(~scribbles)


def _pen_of(clean: ConnectedComponents, lines: NDArray[np.bool_]) -> float:
    """The pen's width, measured on `lines` where those differ from all."""
    return clean.pen if lines.all() or not lines.any() else clean.only(lines).pen


def _own(clean: ConnectedComponents, place: int) -> tuple[NDArray[np.uint8], tuple[slice, slice]]:
    """Mask of a component, with an empty pixel on each side, and its box."""
    number = clean.numbers[place]
    x, y, w, h = clean.stats[number, :4].tolist()
    box = slice(y, y + h), slice(x, x + w)
    own = (clean.labels[box] == number).view(np.uint8)
    return np.asarray(cv2.copyMakeBorder(own, 1, 1, 1, 1, cv2.BORDER_CONSTANT), np.uint8), box


def _without_frames(clean: ConnectedComponents) -> ConnectedComponents:
    """Removes closed lines with several symbols inside: boxes, circles, clouds."""
    width, height = clean.sizes.T
    area = clean.stats[clean.numbers, 4]
    symbol = clean.height
    large = (height > min(LARGE * symbol, 0.5 * height.max())) & (area < SPARSE * width * height)
    if not large.any():
        return clean
    pen = clean.pen
    image = clean.image
    for place in np.flatnonzero(large)[np.argsort(-(width * height)[large])][:3]:
        found = _ring(clean, int(place), pen)
        if found is not None:
            image = image.copy() if image is clean.image else image
            ring, box = found
            image[box][ring] = 0
    return clean if image is clean.image else clean.of_image(image)


def _ring(
    clean: ConnectedComponents, place: int, pen: float
) -> tuple[NDArray[np.bool_], tuple[slice, slice]] | None:
    """The pixels of a frame in its box, and the box; None where the component is none."""
    own, box = _own(clean, place)
    if cv2.contourArea(cv2.convexHull(cv2.findNonZero(own))) < BOXLIKE * own.size:
        return None
    x0, y0, x1, y1 = clean.bounds
    round_all = own.size > MOST * (x1 - x0 + 2) * (y1 - y0 + 2)
    gap = max(GAP, int(OPEN / 2 * clean.height)) if round_all else GAP
    edge = cv2.copyMakeBorder(own, *(gap,) * 4, cv2.BORDER_CONSTANT)
    joined = cv2.morphologyEx(edge, cv2.MORPH_CLOSE, np.ones((2 * gap + 1,) * 2, np.uint8))
    joined = joined[gap:-gap, gap:-gap]
    contours, _ = cv2.findContours(joined.copy(), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    outline = max(contours, key=cv2.contourArea)
    inside = cv2.contourArea(outline)
    hull = cv2.contourArea(cv2.convexHull(outline))
    if inside < max(CONVEX * hull, BOXLIKE * own.size):
        return None
    filled = np.zeros_like(own)
    cv2.drawContours(filled, [outline], -1, 1, cv2.FILLED)
    depth = cv2.distanceTransform(filled, cv2.DIST_L2, cv2.DIST_MASK_3)[1:-1, 1:-1]
    own, filled = own[1:-1, 1:-1], filled[1:-1, 1:-1]
    # Where the frame is drawn with another pen than the formula, its own width counts.
    at_edge = (filled > 0) & (depth <= LINE * pen)
    ring = (own > 0) & at_edge
    if ring.sum() < 0.6 * own.sum() and ring.sum() * 2 < at_edge.sum() * 0.5:
        return None
    inner = (clean.mask[box] & (filled > 0) & ~at_edge).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(inner)
    held = stats[1:][stats[1:, 4] > pen * pen]
    if not len(held):
        return None
    low, high = held[:, :2].min(0), (held[:, :2] + held[:, 2:4]).max(0)
    size = (high - low) / (own.shape[1], own.shape[0])
    least = HELD if len(held) > 1 else HELD_ALONE
    if size.min() < HELD_SIZE or held[:, 4].sum() < least * ring.sum():
        return None
    return ring, box


def _without_underlines(clean: ConnectedComponents) -> ConnectedComponents:
    """Removes up to `MOST_LINES` level lines below the formula that are about as long as it."""
    kept = np.ones(len(clean), np.bool_)
    symbol = clean.height
    for place in _lowest_lines(clean):
        others = kept.copy()
        others[place] = False
        low = clean.stats[clean.numbers[others], :2].astype(np.float64)
        size = clean.sizes[others]
        upright = (size[:, 0] <= BAR * size[:, 1]) & (size.max(1) > DOT * symbol)
        if upright.sum() < 2:
            break
        x, y, w, h = clean.stats[clean.numbers[place], :4].tolist()
        left, right = low[:, 0].min(), (low + size)[:, 0].max()
        common = min(x + w, right) - max(x, left)
        bottoms = np.sort((low + size)[:, 1])
        if common < LONG * (right - left) or bottoms[-1] > y + h / 2 + UNDER * symbol:
            break
        kept[place] = False
    return clean if kept.all() else clean.only(kept)


def _lowest_lines(clean: ConnectedComponents) -> Iterator[int]:
    """The places of long level components, the lowest first."""
    width, height = clean.sizes.T
    long = np.flatnonzero(width > 2 * BAR * height)
    lowest = clean.stats[clean.numbers[long], 1] + height[long]
    yield from long[np.argsort(-lowest)][:MOST_LINES].tolist()


def _without_far_ink(clean: ConnectedComponents) -> ConnectedComponents:
    """Removes a small amount of writing that is further than `AWAY` symbols from the main part."""
    boxes = clean.boxes
    distance = AWAY * clean.height
    group = np.full(len(clean), -1)
    count = 0
    for start in range(len(clean)):
        if group[start] >= 0:
            continue
        waiting = [start]
        group[start] = count
        while waiting:
            one = waiting.pop()
            near = np.flatnonzero((gaps(boxes[[one]], boxes)[0] <= distance) & (group < 0))
            group[near] = count
            waiting += near.tolist()
        count += 1
    if count == 1:
        return clean
    ink = np.bincount(group, clean.stats[clean.numbers, 4])
    main = group == ink.argmax()
    return clean if ink.max() < (1 - MINOR) * ink.sum() else clean.only(main)
