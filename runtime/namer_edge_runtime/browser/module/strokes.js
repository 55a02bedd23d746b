// Pen strokes: the form they are passed around in, and how large their symbols are.

import { BAR, DOT, FURTHEST } from "./tables.js";

export class InkError extends Error {
  name = "InkError";
}

// [[[x, y], …], …], or points as {x, y}, to strokes: Float32Array [x, y, x, y, …], y down.
export function asStrokes(value) {
  if (!Array.isArray(value)) throw new InkError("this is no list of strokes: give [[[x, y], …], …]");
  return value.map((points, number) => {
    if (points instanceof Float32Array) return points;
    const stroke = new Float32Array(2 * (points?.length ?? 0));
    if (!stroke.length) throw new InkError(`stroke ${number} has no points: give one [x, y] for each`);
    Array.from(points).forEach((point, place) => {
      const [x, y] = Array.isArray(point) || ArrayBuffer.isView(point) ? point : [point?.x, point?.y];
      const fits = typeof x === "number" && typeof y === "number" && Math.abs(x) <= FURTHEST && Math.abs(y) <= FURTHEST;
      if (!fits) throw new InkError(`stroke ${number} holds a coordinate that is no finite number, or beyond ${FURTHEST}`);
      stroke.set([x, y], 2 * place);
    });
    return stroke;
  });
}

// Smallest box round points: [x0, y0, x1, y1].
export function box(points) {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    x0 = Math.min(x0, points[i]);
    x1 = Math.max(x1, points[i]);
    y0 = Math.min(y0, points[i + 1]);
    y1 = Math.max(y1, points[i + 1]);
  }
  return [x0, y0, x1, y1];
}

export function bounds(strokes) {
  const boxes = strokes.map(box);
  return [0, 1, 2, 3].map((side) => Math[side < 2 ? "min" : "max"](...boxes.map((one) => one[side])));
}

// Position of a root sign: x of the lowest point in its left half, y of the middle of its box.
export function foot(points) {
  const [x0, y0, x1, y1] = box(points);
  const middle = (x0 + x1) / 2;
  let lowest = -1;
  for (let i = 0; i < points.length; i += 2) {
    if (points[i] <= middle && (lowest < 0 || points[i + 1] > points[lowest + 1])) lowest = i;
  }
  return [points[lowest], (y0 + y1) / 2];
}

export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const [a, b] = [sorted[below], sorted[Math.min(below + 1, sorted.length - 1)]];
  const t = place - below;
  return t >= 0.5 ? b - (b - a) * (1 - t) : a + (b - a) * t;
}

// Height of a typical symbol from the sizes [[width, height], …] of strokes or components: dots and
// bars say nothing about it, scripts are small; 0 where nothing has an extent.
export function typicalHeight(sizes) {
  if (!sizes.length) return 0;
  let upright = sizes.filter(([width, height]) => width <= BAR * height && height > 0).map((size) => size[1]);
  if (upright.length) {
    const least = DOT * quantile(upright, 0.75);
    upright = upright.filter((height) => height >= least);
    return quantile(upright, 0.65);
  }
  const widths = sizes.map((size) => size[0]);
  return Math.max(...widths) > 0 ? quantile(widths, 0.5) : 0;
}

export function symbolHeight(strokes) {
  return typicalHeight(
    strokes.map((stroke) => {
      const [x0, y0, x1, y1] = box(stroke);
      return [Math.fround(x1 - x0), Math.fround(y1 - y0)];
    }),
  );
}

// Strokes turned about the origin by an angle in radians, from x towards y.
export function turned(strokes, angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return strokes.map((stroke) =>
    stroke.map((value, i) => (i % 2 ? sin * stroke[i - 1] + cos * value : cos * value - sin * stroke[i + 1])),
  );
}
