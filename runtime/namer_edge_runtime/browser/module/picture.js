// Pictures of ink on a plain ground, as a canvas has them, brought to the look of drawn strokes. Paper, its
// lines and shadows are not removed: that takes the package.

import { inputPlanes } from "./planes.js";
import { paddedLength } from "./render.js";
import { box, typicalHeight } from "./strokes.js";
import { DRAWN_WIDTH, FINEST, INK, RUNG, SPECK, THICKEST } from "./tables.js";

const FAINTEST = 24; // contrast, of 255, below which a picture is blank
const RING = [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]];

export class Picture {
  // Of an ImageData; null where there is no ink.
  static of(data) {
    const { width, height } = data;
    const ink = inkMap(data);
    const mask = ink?.map((value) => value > INK);
    const all = mask ? components(mask, width) : [];
    const pen = all.length ? penWidth(mask, width) : 0;
    const parts = all.filter((part) => Math.max(part.width, part.height) >= SPECK * pen);
    if (!parts.length) return null;
    return Object.assign(new Picture(), { ink, width, height, pen, parts });
  }

  // As `render`; the picture is turned about its origin by an angle in radians, from x towards y.
  prepare(look, turn) {
    const { pen, parts } = this;
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    // Of the lines' middle.
    const places = parts.flatMap(({ outline }) => outline.flatMap(([x, y]) => [cos * x - sin * y, sin * x + cos * y]));
    const [x0, y0, x1, y1] = box(places).map((side, which) => side + (which < 2 ? pen : -pen) / 2);
    const [across, down] = [x1 - x0, y1 - y0].map((side) => Math.max(1, side));
    const symbol = typicalHeight(parts.map((part) => [part.width, part.height].map((side) => Math.max(0, side - pen))));
    const longest = Math.max(across, down);
    let scale = look.pen_width / pen; // dots alone say nothing of a symbol's height; their pen does
    if (symbol > 0) scale = (look.symbol_height * RUNG ** Math.round(Math.log(longest / symbol) / Math.log(RUNG))) / longest;
    const room = 2 * look.margin;
    scale = Math.min(scale, (look.max_width - room) / across, (look.max_height - room) / down);
    const [width, height] = [across, down].map((side) => paddedLength(Math.ceil(side * scale - 1e-6) + room));
    const offset = [(width - (x0 + x1) * scale) / 2, (height - (y0 + y1) * scale) / 2];
    const ink = spread(this.ink, this.width, Math.round(lacking(pen * scale) / scale / 2));
    const image = new Uint8Array(width * height);
    const count = Math.max(2, Math.ceil(1 / scale));
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at++) {
        let sum = 0;
        for (let i = 0; i < count * count; i++) {
          const u = (x + ((i % count) + 0.5) / count - offset[0]) / scale;
          const v = (y + (Math.floor(i / count) + 0.5) / count - offset[1]) / scale;
          sum += between(ink, this.width, this.height, cos * u + sin * v - 0.5, cos * v - sin * u - 0.5);
        }
        image[at] = sum / (count * count) + 0.5;
      }
    }
    return { image, planes: inputPlanes({ image, width, height }, null, look), width, height, scale, offset, turn };
  }
}

// By how much lines of this width, in pixels of the model, are too thin, or (negative) too thick.
const lacking = (width) => (width > THICKEST * DRAWN_WIDTH ? DRAWN_WIDTH - width : Math.max(0, FINEST * DRAWN_WIDTH - width));

// 255 for ink, the rarer of dark and bright, to 0 for its ground; null without contrast.
function inkMap({ data, width, height }) {
  const gray = new Uint8Array(width * height);
  const counts = new Float64Array(256);
  for (let i = 0; i < gray.length; i++) {
    gray[i] = 0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2] + 0.5;
    counts[gray[i]]++;
  }
  // Otsu's threshold parts the brightness where the two sides differ most.
  const whole = counts.reduce((sum, count, value) => sum + count * value, 0);
  let [below, sum, best, level] = [0, 0, 0, 0];
  for (let value = 0; value < 255; value++) {
    below += counts[value];
    sum += counts[value] * value;
    const apart = below * (gray.length - below) * ((whole - sum) / (gray.length - below) - sum / below) ** 2;
    if (apart > best) [best, level] = [apart, value];
  }
  const commonest = (from, to) => from + counts.slice(from, to).reduce((found, count, value, all) => (count > all[found] ? value : found), 0);
  const sides = [commonest(0, level + 1), commonest(level + 1, 256)];
  if (!best || sides[1] - sides[0] < FAINTEST) return null;
  const isDark = 2 * counts.slice(0, level + 1).reduce((total, count) => total + count) <= gray.length;
  const [ink, ground] = isDark ? sides : [...sides].reverse();
  return gray.map((value) => Math.min(255, Math.max(0, (255 * (value - ground)) / (ink - ground))));
}

// Connected components of a mask: width, height, and corners of the first and last pixel of each row.
function components(mask, across) {
  const left = mask.slice();
  const found = [];
  for (let start = left.indexOf(1); start >= 0; start = left.indexOf(1, start)) {
    const pixels = [start];
    left[start] = 0;
    const rows = new Map();
    for (const pixel of pixels) {
      const [x, y] = [pixel % across, Math.floor(pixel / across)];
      const [x0, x1] = rows.get(y) ?? [x, x + 1];
      rows.set(y, [Math.min(x0, x), Math.max(x1, x + 1)]);
      for (const [dx, dy] of RING) {
        const next = pixel + dx + dy * across;
        if (x + dx < 0 || x + dx >= across || !left[next]) continue;
        left[next] = 0;
        pixels.push(next);
      }
    }
    const outline = [...rows].flatMap(([y, [x0, x1]]) => [[x0, y], [x1, y], [x0, y + 1], [x1, y + 1]]);
    const [x0, y0, x1, y1] = box(outline.flat());
    found.push({ outline, width: x1 - x0, height: y1 - y0 });
  }
  return found;
}

// Mean width of lines: twice their area to their outline, by Crofton's formula.
function penWidth(mask, across) {
  let [area, outline] = [0, 0];
  mask.forEach((ink, i) => {
    if (!ink) return;
    area++;
    for (const [dx, dy] of RING) if (!mask[i + dx + dy * across]) outline += Math.PI / 8 / Math.hypot(dx, dy);
  });
  return (2 * area) / outline;
}

// Lines thickened by so many pixels on each side, or thinned by as many where that is negative.
function spread(ink, across, by) {
  const pick = by > 0 ? Math.max : Math.min;
  for (const step of [1, across]) {
    for (let i = 0; i < Math.abs(by); i++) ink = ink.map((value, at) => pick(value, ink[at - step] ?? 0, ink[at + step] ?? 0));
  }
  return ink;
}

// A picture's value between its pixels, 0 outside.
function between(ink, width, height, x, y) {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) return 0;
  const [i, u, v] = [top * width + left, x - left, y - top];
  return (ink[i] * (1 - u) + ink[i + 1] * u) * (1 - v) + (ink[i + width] * (1 - u) + ink[i + width + 1] * u) * v;
}
