// Stroke planes: how ink was written, painted beside its picture for models that read both.

import { rounded } from "./raster.js";
import { ORDER, REACH, STAMP, STEP, STROKE_PLANES } from "./tables.js";

const SPAN = Array.from({ length: 2 * STAMP + 1 }, (_, i) => i - STAMP);
// Offsets [row, column] of a stamp, the furthest first, so that the nearest point has a pixel.
const OFFSETS = SPAN.flatMap((y) => SPAN.map((x) => [y, x])).sort((a, b) => Math.hypot(...b) - Math.hypot(...a));

// The input planes of a model with this `look`: the picture, and cosine and sine of the direction of
// writing, the place along the stroke and its number; zeros in these four for null strokes.
export function inputPlanes({ image, width, height }, strokes, look) {
  const area = width * height;
  const planes = new Uint8Array(area * (look.channels + (look.stroke_planes ? STROKE_PLANES : 0)));
  for (let channel = 0; channel < look.channels; channel++) planes.set(image, channel * area);
  if (!look.stroke_planes || !strokes) return planes;
  const points = strokes.flatMap(resampled);
  const across = width + 2 * STAMP;
  const nearest = new Int32Array(across * (height + 2 * STAMP)).fill(-1);
  const inside = (value, most) => Math.min(most - 1, Math.max(0, Math.floor(value))) + STAMP;
  const cells = points.map(({ x, y }) => inside(y, height) * across + inside(x, width));
  for (const [y, x] of OFFSETS) cells.forEach((cell, number) => (nearest[cell + y * across + x] = number));
  for (let i = 0; i < area; i++) {
    const number = nearest[(Math.floor(i / width) + STAMP) * across + (i % width) + STAMP];
    if (!image[i] || number < 0) continue;
    points[number].values.forEach((value, plane) => (planes[(look.channels + plane) * area + i] = value));
  }
  return planes;
}

// A stroke in pixels at even distances: [{x, y, values}], with the values of the planes, 1 to 255.
function resampled(stroke, number) {
  const along = [0];
  for (let i = 2; i < stroke.length; i += 2) along.push(along.at(-1) + Math.hypot(stroke[i] - stroke[i - 2], stroke[i + 1] - stroke[i - 1]));
  const count = Math.ceil(along.at(-1) / STEP) + 1;
  let j = 0;
  const places = Array.from({ length: count }, (_, i) => {
    const wanted = (i / Math.max(count - 1, 1)) * along.at(-1);
    while (j + 1 < along.length && along[j + 1] <= wanted) j++;
    const share = j + 1 < along.length ? (wanted - along[j]) / (along[j + 1] - along[j]) : 0;
    return [0, 1].map((axis) => stroke[2 * j + axis] + (share ? share * (stroke[2 * j + 2 + axis] - stroke[2 * j + axis]) : 0));
  });
  return places.map(([x, y], i) => {
    const [after, before] = [places[Math.min(i + REACH, count - 1)], places[Math.max(i - REACH, 0)]];
    const [dx, dy] = [after[0] - before[0], after[1] - before[1]];
    const length = Math.max(Math.hypot(dx, dy), 1e-9);
    const share = count > 1 ? i / (count - 1) : 0.5; // a dot has neither start nor end
    const order = (number % ORDER) / (ORDER - 1);
    return { x, y, values: [128 + (127 * dx) / length, 128 + (127 * dy) / length, 1 + 254 * share, 1 + 254 * order].map(rounded) };
  });
}
