// Locks: what the writer says of strokes. One is {strokes: [id, …], text}, text null for whichever
// symbol it is; of a token without ink, {strokes: [], at: [x, y], beside: [id, …], text}.

import { bounds } from "./scratch.js";

// The locks with one more, in the place of those of the same strokes.
export function withLock(locks, lock) {
  const own = new Set(lock.strokes);
  const same = (one) => (one.strokes.length ? one.strokes.some((id) => own.has(id)) : !own.size && String(one.beside) === String(lock.beside));
  return [...locks.filter((one) => !same(one)), lock];
}

// The locks without those of strokes that go.
export function withoutStrokes(locks, gone) {
  const kept = locks.filter(({ strokes, beside = [] }) => ![...strokes, ...beside].some((id) => gone.has(id)));
  return kept.length < locks.length ? kept : locks;
}

// The lock of a token without ink before the symbol at a place of a reading, or that there is none.
export function scriptLock({ symbols, tokens }, place, text, ink) {
  const before = symbols.slice(0, place).findLast(({ strokes }) => strokes.length);
  const behind = symbols.slice(place).find(({ strokes }) => strokes.length);
  const around = [before, behind].filter(Boolean);
  const there = place > 0 && !symbols[place - 1].strokes.length;
  const at = there ? [tokens[place - 1].x, tokens[place - 1].y] : meeting(...around.map(({ strokes }) => boxOf(strokes, ink)));
  return { strokes: [], at, beside: around.flatMap(({ strokes }) => strokes), text };
}

const boxOf = (strokes, ink) => bounds(strokes.flatMap((id) => ink.get(id).points));

// Along each axis the middle of the gap between two boxes, or of their overlap.
function meeting(base, script) {
  const middle = (low, high) => {
    const [, a, b] = [base[low], base[high], script[low], script[high]].sort((x, y) => x - y);
    return (a + b) / 2;
  };
  return [middle("left", "right"), middle("top", "bottom")];
}
