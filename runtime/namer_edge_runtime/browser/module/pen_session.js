// Pen sessions: strokes come and go on a canvas, and symbols keep their identity.

import { asStrokes } from "./strokes.js";

export class PenSession {
  #strokes = new Map();
  #next = 0;
  #nextSymbol = 0;
  #result = null;
  #symbols = [];

  constructor(recognizer, alternatives = 0) {
    Object.assign(this, { recognizer, alternatives });
  }

  // All strokes by id, in the order of writing.
  get strokes() { return new Map(this.#strokes); }

  // Adds a stroke [[x, y], …] and returns its id.
  add(stroke) {
    this.#put(this.#next, stroke);
    return this.#next++;
  }

  remove(id) {
    this.#check(id);
    this.#strokes.delete(id);
    this.#result = null;
  }

  replace(id, stroke) {
    this.#check(id);
    this.#put(id, stroke);
  }

  clear() {
    this.#strokes.clear();
    this.#result = null;
  }

  // What is on the canvas: one recognition after a change, none where nothing changed.
  result() {
    if (!this.#result) {
      const ids = [...this.#strokes.keys()];
      const result = this.recognizer.recognize([...this.#strokes.values()], { alternatives: this.alternatives });
      this.#result = result.then((found) => ({ found, symbols: this.#identify(found, ids) }));
    }
    return this.#result.then(({ found }) => found);
  }

  // Its symbols in reading order: {id, text, score, x, y, strokes: ids}. A symbol keeps the id of the
  // one before that shares most strokes with it; one without ink, of the same text after the same one.
  async symbols() {
    await this.result();
    return (await this.#result).symbols;
  }

  #identify(result, ids) {
    const owned = result.token_strokes.map((own) => own.map((place) => ids[place]));
    const shared = owned.flatMap((own, place) =>
      this.#symbols.flatMap((symbol) => {
        const count = own.filter((id) => symbol.strokes.includes(id)).length;
        return count ? [[count, place, symbol.id]] : [];
      }),
    );
    const known = new Map();
    const taken = new Set();
    for (const [, place, id] of shared.sort((a, b) => b[0] - a[0] || a[1] - b[1] || a[2] - b[2])) {
      if (known.has(place) || taken.has(id)) continue;
      known.set(place, id);
      taken.add(id);
    }
    const key = (text, before) => `${text} ${before}`;
    const inkless = new Map();
    let before = -1;
    for (const { id, text, strokes } of this.#symbols) {
      if (!strokes.length) inkless.set(key(text, before), id);
      before = id;
    }
    before = -1;
    this.#symbols = result.tokens.map((token, place) => {
      let id = known.get(place);
      if (!owned[place].length) {
        id = inkless.get(key(token.text, before));
        inkless.delete(key(token.text, before));
      }
      before = id ?? this.#nextSymbol++;
      return { id: before, ...token, strokes: owned[place] };
    });
    return this.#symbols;
  }

  #put(id, stroke) {
    this.#strokes.set(id, asStrokes([stroke])[0]);
    this.#result = null;
  }

  #check(id) {
    if (!this.#strokes.has(id)) throw new RangeError(`no stroke ${id} on the canvas`);
  }
}
