// Test-time augmentation and voting: inputs whose first score is low are read again, deskewed and at
// other scales, and the passes elect the reading.

import { EXPECTED_SCORE, LONG, SKEW_LEAST, SKEW_MOST } from "./tables.js";

// The result of an input, given the one of its first pass. `read(scale, turn)` is one pass; it may be
// given up between two of them by throwing.
export async function augment(first, read, { tta_scales: scales, confidence_threshold: sure }, alternatives) {
  let turn = 0;
  if (first.score < sure && first.prepared) {
    const angle = skew(first.prepared);
    const second = angle ? await read(1, -angle) : null;
    if (second) {
      const milliseconds = plus(first.milliseconds, second.milliseconds);
      const isBetter = second.score > first.score;
      if (isBetter) turn = -angle;
      first = { ...(isBetter ? second : first), milliseconds };
    }
  }
  if (first.score >= sure) return first;
  const passes = [first];
  for (let done = 0; done < scales.length && !isDecided(passes, scales.length - done); done++) {
    passes.push(await read(scales[done], turn));
  }
  return winner(passes, alternatives);
}

// Angle in radians by which the ink of a picture falls from left to right: that of the longer axis of
// its second moments; 0 where that is little or too much, and where the ink is not long.
export function skew({ image, width, height }) {
  let [m00, m10, m01, m20, m11, m02] = [0, 0, 0, 0, 0, 0];
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const ink = image[i];
      if (!ink) continue;
      m00 += ink;
      m10 += x * ink;
      m01 += y * ink;
      m20 += x * x * ink;
      m11 += x * y * ink;
      m02 += y * y * ink;
    }
  }
  const [cx, cy] = [m10 / m00, m01 / m00];
  const [across, down, both] = [m20 - m10 * cx, m02 - m01 * cy, 2 * (m11 - m10 * cy)];
  const spread = Math.hypot(across - down, both);
  const angle = Math.atan2(both, across - down) / 2;
  if (across + down + spread < LONG ** 2 * (across + down - spread)) return 0;
  return Math.abs(angle) >= SKEW_LEAST && Math.abs(angle) <= SKEW_MOST ? angle : 0;
}

// Whether the first reading leads by more votes than the remaining passes are expected to give the second.
export function isDecided(passes, remaining) {
  const [first, second = 0] = [...votes(passes).values()].sort((a, b) => b - a);
  return first - second > remaining * EXPECTED_SCORE;
}

// The reading with most votes, from the pass that scores it highest; its score is the mean over all passes.
export function winner(passes, alternatives) {
  const counted = votes(passes);
  const [elected, sum] = [...counted].reduce((best, other) => (other[1] > best[1] ? other : best));
  const highest = (readings) => readings.reduce((best, other) => (other.score > best.score ? other : best));
  return {
    ...highest(passes.filter(({ canonical }) => canonical === elected)),
    score: sum / passes.length,
    alternatives: others(passes, elected).slice(0, alternatives),
    milliseconds: passes.map((pass) => pass.milliseconds).reduce(plus),
  };
}

function others(passes, elected) {
  const found = new Map();
  for (const pass of passes) {
    for (const { canonical, score, tokens } of [pass, ...pass.alternatives]) {
      const known = found.get(canonical) ?? { sum: 0, surest: { score: -1 } };
      known.sum += score / passes.length;
      if (score > known.surest.score) known.surest = { canonical, score, tokens };
      found.set(canonical, known);
    }
  }
  found.delete(elected);
  const order = (a, b) => b.score - a.score || (a.canonical < b.canonical ? -1 : 1);
  return [...found.values()].map(({ sum, surest }) => ({ ...surest, score: sum })).sort(order);
}

function votes(passes) {
  const counted = new Map();
  for (const { canonical, score } of passes) counted.set(canonical, (counted.get(canonical) ?? 0) + score);
  return counted;
}

const plus = (one, other) => Object.fromEntries(Object.keys(one).map((stage) => [stage, one[stage] + other[stage]]));
