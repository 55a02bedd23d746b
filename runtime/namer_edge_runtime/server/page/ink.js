// Strokes, what was done to them, and their picture. A stroke is {id, points: [[x, y], …]} in CSS
// pixels of the canvas as it was first; a picture is {bitmap, blob, reading}; locks are those of
// corrections.js.

import { withoutStrokes } from "./corrections.js";

export class Ink {
  strokes = new Map();
  picture = null;
  locks = [];
  #done = [];
  #undone = [];
  #next = 1;

  // Of strokes that were kept, as `strokes` holds them, and locks.
  constructor({ strokes = [], locks = [] } = {}) {
    for (const stroke of strokes) this.strokes.set(stroke.id, stroke);
    this.locks = locks;
    this.#next = 1 + Math.max(0, ...this.strokes.keys());
  }

  get blank() { return this.strokes.size === 0 && this.picture === null; }
  get canUndo() { return this.#done.length > 0; }
  get canRedo() { return this.#undone.length > 0; }

  stroke(points) { return { id: this.#next++, points }; }

  // Takes strokes away and adds some, and puts a picture (or none) in the place of the one there.
  // With strokes go their locks, unless `locks` says which there are. Returns what changed, or null
  // where nothing did.
  change({ remove = [], add = [], picture = null, locks }) {
    const gone = [...remove];
    const after = locks ?? withoutStrokes(this.locks, new Set(gone.map(({ id }) => id)));
    const step = { remove: gone, add, from: this.picture, to: picture, before: this.locks, locks: after };
    if (!gone.length && !add.length && step.from === step.to && step.before === after) return null;
    this.#done.push(step);
    this.#undone = [];
    return this.#apply(step);
  }

  clear() { return this.change({ remove: this.strokes.values() }); }

  undo() {
    const step = this.#done.pop();
    if (!step) return null;
    this.#undone.push(step);
    return this.#apply({ remove: step.add, add: step.remove, from: step.to, to: step.from, before: step.locks, locks: step.before });
  }

  // Undoes the last step for good, where it changed the locks alone: they were refused.
  takeBack() {
    const step = this.#done.at(-1);
    if (!step || step.remove.length || step.add.length || step.before === step.locks) return null;
    const undone = this.undo();
    this.#undone.pop();
    return undone;
  }

  redo() {
    const step = this.#undone.pop();
    if (!step) return null;
    this.#done.push(step);
    return this.#apply(step);
  }

  #apply(step) {
    for (const stroke of step.remove) this.strokes.delete(stroke.id);
    for (const stroke of step.add) this.strokes.set(stroke.id, stroke);
    this.picture = step.to;
    this.locks = step.locks;
    return step;
  }

  // The stroke nearest to (x, y), where one is within reach.
  near(x, y, reach) {
    let found = null;
    let least = reach;
    for (const stroke of this.strokes.values()) {
      const away = distance(stroke.points, x, y);
      if (away <= least) [found, least] = [stroke, away];
    }
    return found;
  }
}

function distance(points, x, y) {
  let least = Infinity;
  let [ax, ay] = points[0];
  for (const [bx, by] of points) {
    const [dx, dy] = [bx - ax, by - ay];
    const length = dx * dx + dy * dy;
    const t = length ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
    least = Math.min(least, Math.hypot(ax + t * dx - x, ay + t * dy - y));
    [ax, ay] = [bx, by];
  }
  return least;
}
