// The renderer of strokes: what the model reads.

import { Raster, rounded } from "./raster.js";
import { bounds, symbolHeight } from "./strokes.js";
import { FRACTION_BITS, OVERSAMPLING, STRIDE } from "./tables.js";

const F = Math.fround;

// The next length in pixels of the size ladder: steps of 16, 32 from 128, 64 from 512 on.
export function paddedLength(length) {
  const step = length <= 128 ? STRIDE : length <= 512 ? 2 * STRIDE : 4 * STRIDE;
  return Math.max(2 * STRIDE, Math.ceil(length / step) * step);
}

// Strokes drawn for a model's `look`: {image, width, height, scale, offset: [x, y]}, where a model
// pixel is input · scale + offset.
export function render(strokes, look) {
  const [x0, y0, x1, y1] = bounds(strokes);
  const symbol = symbolHeight(strokes);
  const room = 2 * look.margin;
  const scale = Math.min(
    symbol > 0 ? look.symbol_height / symbol : 1,
    Math.min((look.max_width - room) / Math.max(x1 - x0, 1e-9), (look.max_height - room) / Math.max(y1 - y0, 1e-9)),
  );
  const [height, width] = [y1 - y0, x1 - x0].map((side) => paddedLength(Math.ceil(side * scale - 1e-6) + room));
  const offset = [(width - (x1 + x0) * scale) / 2, (height - (y1 + y0) * scale) / 2];
  const shift = offset.map(F);
  const placed = strokes.map((stroke) => stroke.map((value, i) => F(F(value * F(scale)) + shift[i % 2])));
  return { image: draw(placed, width, height, look.pen_width), width, height, scale, offset, turn: 0 };
}

// Strokes in pixels to an image, ink 255 on 0, anti-aliased; a stroke that stays in one point is a dot.
export function draw(strokes, width, height, penWidth) {
  const canvas = new Raster(width * OVERSAMPLING, height * OVERSAMPLING);
  const thickness = Math.max(1, rounded(penWidth * OVERSAMPLING));
  const one = 1 << FRACTION_BITS;
  const lines = strokes.map((stroke) => Int32Array.from(stroke, (value) => rounded(F(F(value * OVERSAMPLING * one) - one / 2))));
  const isDot = (points) => points.every((value, i) => value === points[i % 2]);
  for (const points of lines) if (!isDot(points)) canvas.polyline(points, thickness);
  for (const points of lines) if (isDot(points)) canvas.dot(points[0], points[1], rounded(0.75 * thickness * one));
  return canvas.halved();
}
