"""Preparation of a gray picture: ink extraction, normalization of size and pen, padding."""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from ..ink.render import draw
from ..ink.strokes import DOT, typical_height
from ..preprocessing import Prepared, Preprocessing, opencv_affine, padded_size, turned, turning
from .background import INK, ink_map, stretched
from .components import ConnectedComponents
from .foreign_ink import BLOT, without_blots, without_foreign_ink
from .printed_text import PRINT, without_printed_text
from .sheet import OUTSIDE, find_sheet
from .skeleton import Skeleton, placed, shown
from .steps import Steps, Unseen
from .stroke_width import measured_width

MOST_PIXELS = 6_000_000
"""Larger pictures are scaled down to this first, which bounds time."""
SPECK = 0.6
"""Components smaller in both directions than this share of the pen width are dirt."""
MOST_CLEANINGS = 3
"""Times that edges of the paper are searched for; removing strong ones reveals faint ones."""
STRAY = 2.0
"""Dots this many symbol heights away from all other ink are dirt too."""
FINE, FINER = 3.0, 4.0
"""Lines are kept, and their skeleton is found, at this many times the model's resolution; the
second where symbols are small or the pen is thick, so that loops and gaps are nearly closed."""
SMALL, THICK = 24.0, 0.09
"""Symbols less than this many pixels high are small; a pen of this share of their height is
thick."""
AROUND = 0.5
"""Standard deviation in pen widths of the unsharp mask that crowded ink is sharpened with."""
LEAST_LINE = 1.5
"""Width in pixels that the finest line keeps there, so that it does not break."""
FINEST, THICKEST = 0.9, 1.5
"""Lines between so many pens of the model wide stay as they are, so that nothing is lost of them;
finer ones are thickened, thicker ones drawn again along their skeleton."""
EDGE = "a dark thing at the picture's edge is left out"
RUNG = 1.15
"""Ratio of two sizes that a formula may come in, relative to its symbols."""


@dataclass(frozen=True)
class _Ink:
    """The cleaned ink, cut out of the picture."""

    image: NDArray[np.uint8]
    corner: tuple[int, int]
    """x, y of the cut-out's first pixel."""
    symbol: float
    """Height in pixels of a typical symbol, from the middle of its lines, roughly."""
    pen: float
    notes: tuple[str, ...] = ()
    """Notes of what was left out."""

    @property
    def crowded(self) -> bool:
        """Whether loops and gaps of symbols are hardly wider than the pen."""
        return 0 < self.symbol < max(SMALL, self.pen / THICK)


@dataclass(frozen=True)
class PageInk:
    """An ink map of a picture, or of a part of it."""

    image: NDArray[np.uint8]
    """[H, W], 255 ink, 0 background."""
    corner: tuple[float, float]
    """x, y of the first pixel in the picture."""
    factor: float
    """Pixels of `image` for one of the picture."""

    def part(self, image: NDArray[np.uint8], corner: tuple[int, int]) -> "PageInk":
        """Ink [h, w] of this map whose first pixel is its pixel `corner` (x, y)."""
        (x, y), (left, top) = self.corner, corner
        return PageInk(image, (x + left / self.factor, y + top / self.factor), self.factor)


@dataclass(frozen=True)
class Lines:
    """The lines of a picture, found once and drawn for any preprocessing."""

    ink: NDArray[np.uint8]
    """The ink map, cut out from `corner` on, in pixels `fine` times smaller than the picture's."""
    pen: float
    """Stroke width, in pixels of `ink`."""
    skeleton: Skeleton
    """Skeleton of the lines, in pixels of `ink`."""
    fine: float
    corner: tuple[float, float]
    symbol: float
    """Height of a symbol in `skeleton`, where its components do not tell one."""
    turn: float = 0.0
    """Angle in radians by which the picture was turned about its origin (`Prepared.turn`)."""
    notes: tuple[str, ...] = ()
    """Notes of what was left out (`Prepared.notes`)."""
    page: "PageInk | None" = None
    """The cleaned ink of the picture as it is, not turned."""

    @classmethod
    def find(
        cls, gray: NDArray[np.uint8], preprocessing: Preprocessing, steps: Steps | None = None
    ) -> "Lines | None":
        """The lines of a gray picture [H, W]; None where there is no ink.

        They are fine enough for `preprocessing` and somewhat larger symbols; `steps`, where given,
        receives a picture of each step.

        1. Very large pictures are scaled down.
        2. Ink is told from ground (`background.py`), and from the lines of ruled and squared paper
           (`ruled_paper.py`).
        3. Dirt is dropped (`components.py`): edges of the paper, specks much smaller than the
           pen is wide, dots far from everything else.
        4. The ink is scaled to three times the model's resolution, or to four where symbols are
           small or the pen is thick. There loops and gaps that are hardly wider than the pen are
           opened. The skeleton of the lines is found (`skeleton.py`).
        """
        steps = steps or Unseen()
        steps.add(f"The picture, {gray.shape[1]} x {gray.shape[0]}", gray)
        factor = min(1.0, (MOST_PIXELS / gray.size) ** 0.5)
        if factor < 1:
            size = [max(1, round(length * factor)) for length in gray.shape]
            gray = np.asarray(cv2.resize(gray, size[::-1], interpolation=cv2.INTER_AREA), np.uint8)
            steps.add(f"Scaled down to {gray.shape[1]} x {gray.shape[0]}", gray)
        sheet = find_sheet(gray)
        if sheet is not None:
            gray = sheet.image
            steps.add("The sheet, cut out of what lies round it", gray)
        found = ink_map(gray, steps, None if sheet is None else sheet.outside)
        image = np.zeros_like(gray) if found is None else found.image
        x, y = (0, 0) if sheet is None else sheet.corner
        notes = (*([OUTSIDE] * (sheet is not None)), *(() if found is None else found.notes))
        page = PageInk(image, (x / factor, y / factor), factor)
        return cls.of(page, preprocessing, steps, notes)

    @classmethod
    def of(
        cls,
        page: PageInk,
        preprocessing: Preprocessing,
        steps: Steps | None = None,
        notes: tuple[str, ...] = (),
    ) -> "Lines | None":
        """The lines of an ink map, from step 3 of `find` on; None where there is no ink. `notes`
        tell what was left out of it."""
        steps = steps or Unseen()
        ink = _measured(page.image)
        if ink is None:
            steps.add("No ink: a blank page", np.zeros_like(page.image))
            return None
        steps.add(f"Dirt dropped, cut out; the pen is {ink.pen:.1f} pixels wide", 255 - ink.image)
        # Dots alone say nothing of a symbol's height; their pen does.
        rough = (
            preprocessing.symbol_height / ink.symbol
            if ink.symbol > 0
            else preprocessing.pen_width / ink.pen
        )
        height, width = (max(1.0, side - ink.pen) for side in ink.image.shape)
        fineness = FINER if ink.crowded else FINE
        fine = fineness * min(rough, *_room(preprocessing, height, width))
        edge = int(np.ceil((preprocessing.pen_width + 2) * fineness / fine))
        drawn, pen = _resampled(np.pad(ink.image, edge), fine, ink.pen)
        if ink.crowded:
            around = cv2.GaussianBlur(drawn, (0, 0), max(0.5, AROUND * pen))
            drawn = np.asarray(cv2.addWeighted(drawn, 2, around, -1, 0), np.uint8)
        skeleton = Skeleton.of(drawn, pen, INK)
        (x, y), factor = page.corner, page.factor
        corner = x + (ink.corner[0] - edge) / factor, y + (ink.corner[1] - edge) / factor
        return cls(
            *(drawn, pen, skeleton, fine * factor, corner),
            preprocessing.symbol_height * fineness,
            notes=(*notes, *ink.notes),
            page=page.part(ink.image, ink.corner),
        )

    def turned(self, angle: float, steps: Steps | None = None) -> "Lines":
        """The lines of the picture turned about its origin by `angle` radians, from x towards y."""
        rows, columns = np.nonzero(self.ink)
        places = turned(np.stack([columns, rows], axis=1) + 0.5, angle)
        edge = np.ceil(self.pen) + 2  # as wide as a line may be thickened by, and a pixel beside it
        low, high = np.floor(places.min(0) - edge), np.ceil(places.max(0) + edge)
        width, height = (high - low).astype(int).tolist()
        ink = cv2.warpAffine(self.ink, opencv_affine(turning(angle), -low), (width, height))
        drawn = np.asarray(ink, np.uint8)
        x, y = (turned(np.array([self.corner]), angle)[0] + low / self.fine).tolist()
        if steps is not None:
            caption = f"Turned by {abs(np.degrees(angle)):.0f} degrees, as what is written slopes"
            steps.add(caption, 255 - drawn)
        skeleton = Skeleton.of(drawn, self.pen, INK)
        turn = self.turn + angle
        return Lines(
            drawn, self.pen, skeleton, self.fine, (x, y), self.symbol, turn, notes=self.notes
        )

    def drawn(
        self, scale: float, offset: tuple[float, float], size: tuple[int, int], pen: float
    ) -> NDArray[np.uint8]:
        """The lines drawn for a pen of `pen` pixels, as `FINEST` says: [height, width] of `size`.

        Ink is 255 on 0; coordinates of the drawing are those of `ink` · `scale` + `offset`.
        """
        if self.pen * scale > THICKEST * pen:
            return self.skeleton.drawn(scale, offset, size, pen)
        ink, lacking = self.ink, round(FINEST * pen / scale - self.pen)
        if lacking > 0:
            brush = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (lacking + 1, lacking + 1))
            ink = np.asarray(cv2.dilate(ink, brush), np.uint8)
        return shown(placed(ink, scale, offset, size))

    def prepared(self, preprocessing: Preprocessing, steps: Steps | None = None) -> Prepared:
        """The lines drawn for `preprocessing`, with the map from the picture's pixels.

        5. A typical symbol's height is taken from the components, as from strokes in
           `ink/strokes.py`, and scaled to about `preprocessing.symbol_height`, less where the
           formula would pass the size limits. A formula's length in symbols is taken to the
           nearest rung of a ladder, so that one formula comes out at one size although measured
           heights vary.
        6. The lines are drawn about as thick as the renderer's pen, the ink in the middle of its
           `padded_size`, as the renderer puts it.
        """
        x0, y0, x1, y1 = self.skeleton.bounds
        width, height = max(1.0, x1 - x0), max(1.0, y1 - y0)
        symbol = typical_height(self.skeleton.sizes)
        scale = preprocessing.symbol_height / self.symbol
        if symbol > 0:
            longest = max(width, height)
            rungs = round(np.log(longest / symbol) / np.log(RUNG))
            scale = preprocessing.symbol_height * RUNG**rungs / longest
        scale = min(scale, *_room(preprocessing, height, width))
        room = 2 * preprocessing.margin
        # A formula that fills the largest picture must not exceed it by a rounding error.
        filled = [int(np.ceil(side * scale - 1e-6)) + room for side in (height, width)]
        size = padded_size(*filled)
        offset = (size[1] - (x0 + x1) * scale) / 2, (size[0] - (y0 + y1) * scale) / 2
        image = self.drawn(scale, offset, size, drawn_width(preprocessing.pen_width))
        scale *= self.fine
        if steps is not None:
            steps.add(
                f"Drawn for a pen of {preprocessing.pen_width:g}, at {100 * scale:.0f} %, "
                f"padded to {size[1]} x {size[0]}: what the model reads",
                255 - image,
            )
        x, y = self.corner
        origin = offset[0] - x * scale, offset[1] - y * scale
        return Prepared(image, scale, origin, turn=self.turn, notes=self.notes)


def prepare(
    gray: NDArray[np.uint8], preprocessing: Preprocessing, steps: Steps | None = None
) -> Prepared:
    """A gray picture [H, W] prepared for a model by way of its `Lines`; `blank` without ink."""
    lines = Lines.find(gray, preprocessing, steps)
    return blank_page() if lines is None else lines.prepared(preprocessing, steps)


def blank_page() -> Prepared:
    """The model's input for a picture without ink."""
    return Prepared(np.zeros(padded_size(1, 1), np.uint8), 1.0, (0.0, 0.0), blank=True)


@lru_cache
def drawn_width(pen_width: float) -> float:
    """Width, as measured on pictures, of what the renderer draws with a pen of `pen_width`.

    Anti-aliased lines come out wider than asked for, the more so the closer their points are, so
    training pictures are the yardstick: points a pixel apart, as in ink.
    """
    angles = np.linspace(0, 2 * np.pi, 257)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1) * 40 + 64
    image = draw([circle.astype(np.float32)], (128, 128), pen_width)
    return measured_width(image, image > INK, 1)


def _measured(image: NDArray[np.uint8]) -> _Ink | None:
    """The ink cut out without dirt and measured; None where nothing is left."""
    clean = ConnectedComponents.of(image, INK)
    notes: list[str] = []
    for _ in range(MOST_CLEANINGS):
        dirt = clean.edges_of_paper()
        if dirt is None:
            break
        # Dark edges raised the level of ink; without them faint ink shows.
        again = stretched(np.where(dirt, np.uint8(0), clean.image))
        if again is None:
            return None
        clean = ConnectedComponents.of(again, INK)
        notes = [EDGE]
    for step, note in ((without_printed_text, PRINT), (without_blots, BLOT)):
        left = step(clean) if len(clean) > 1 else clean
        notes += [note] * (left is not clean)
        clean = left
    clean = clean.without_specks(SPECK)
    if not len(clean):
        return None
    clean, foreign = without_foreign_ink(clean)
    notes += foreign
    pen = clean.pen
    symbol = typical_height(np.maximum(clean.sizes - pen, 0))
    clean = clean.without_strays(DOT * symbol + pen, STRAY * symbol)
    x0, y0, x1, y1 = clean.bounds
    return _Ink(
        np.ascontiguousarray(clean.alone[y0:y1, x0:x1]), (x0, y0), symbol, pen, tuple(notes)
    )


def _room(preprocessing: Preprocessing, height: float, width: float) -> tuple[float, float]:
    """The scales at which ink would fill the largest picture."""
    room = 2 * preprocessing.margin
    return (preprocessing.max_width - room) / width, (preprocessing.max_height - room) / height


def _resampled(ink: NDArray[np.uint8], scale: float, pen: float) -> tuple[NDArray[np.uint8], float]:
    """The ink map scaled so that no line of `pen` pixels breaks, and their scaled width."""
    width = max(pen, LEAST_LINE / scale) if scale < 1 else pen
    if width > pen:
        kernel = int(np.ceil(width - pen)) + 1
        ink = np.asarray(cv2.dilate(ink, np.ones((kernel, kernel), np.uint8)), np.uint8)
    rows, columns = (max(1, round(side * scale)) for side in ink.shape)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(ink, (columns, rows), interpolation=how), np.uint8), width * scale
