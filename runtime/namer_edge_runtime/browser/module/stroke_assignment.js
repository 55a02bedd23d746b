// Assignment of pen strokes to recognized symbols.

import { box, foot } from "./strokes.js";
import { INKLESS, ROOT } from "./tables.js";

// The indices of each token's strokes, by greedy nearest-neighbor matching; none for tokens that nobody
// writes. A stroke belongs to one symbol, and each symbol has one where there are enough.
export function assignStrokes(strokes, tokens) {
  const owned = tokens.map(() => []);
  const inked = tokens.flatMap((token, place) => (INKLESS.includes(token.text) ? [] : [place]));
  if (!inked.length) return owned;
  const centers = strokes.map((stroke) => {
    const [x0, y0, x1, y1] = box(stroke);
    return [Math.fround(Math.fround(x0 + x1) / 2), Math.fround(Math.fround(y0 + y1) / 2)];
  });
  const feet = strokes.map(foot);
  const pairs = strokes.flatMap((_, stroke) =>
    inked.map((place) => {
      const { text, x, y } = tokens[place];
      const [px, py] = (text === ROOT ? feet : centers)[stroke];
      return { stroke, place, away: Math.sqrt((px - x) ** 2 + (py - y) ** 2) };
    }),
  );
  const free = new Set(strokes.keys());
  for (const { stroke, place } of [...pairs].sort((a, b) => a.away - b.away)) {
    if (!free.has(stroke) || owned[place].length) continue;
    owned[place].push(stroke);
    free.delete(stroke);
  }
  for (const stroke of free) {
    const own = pairs.slice(stroke * inked.length, (stroke + 1) * inked.length);
    owned[own.reduce((best, pair) => (pair.away < best.away ? pair : best)).place].push(stroke);
  }
  return owned.map((own) => own.sort((a, b) => a - b));
}
