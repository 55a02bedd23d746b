// What a recognition returns, and its scores as probabilities of being right.

import { compact } from "./latex.js";
import { mathml } from "./mathml.js";
import { assignStrokes } from "./stroke_assignment.js";
import { CLOSEST } from "./tables.js";

export class Reading {
  constructor({ canonical, score, tokens }, vocabulary) {
    Object.assign(this, { canonical, score, tokens });
    Object.defineProperty(this, "vocabulary", { value: vocabulary });
  }

  get latex() { return this.#written(compact); }
  get mathml() { return this.#written(mathml); }

  #written(form, ...options) {
    return this.canonical ? form(this.canonical.split(" "), this.vocabulary, ...options) : "";
  }

  // As the server's JSON: MathML's elements say in `data-token` which of the tokens they are.
  toJSON() {
    return { latex: this.latex, ...this, mathml: this.#written(mathml, true) };
  }
}

export class Result extends Reading {
  // `found`: a reading with alternatives, milliseconds, truncated and symbol_height; `facts`: engine,
  // device and precision.
  constructor(found, vocabulary, strokes, facts) {
    super(found, vocabulary);
    const { milliseconds, truncated, symbol_height } = found;
    Object.assign(this, { truncated, symbol_height, ...facts });
    this.milliseconds = { ...milliseconds, total: Object.values(milliseconds).reduce((sum, one) => sum + one, 0) };
    this.alternatives = found.alternatives.map((other) => new Reading(other, vocabulary));
    Object.defineProperty(this, "strokes", { value: strokes });
  }

  // The strokes that each of `tokens` was written with, as their places; null for a picture.
  get token_strokes() { return this.strokes && assignStrokes(this.strokes, this.tokens); }
}

// A result of decoding with the scores that the model's `scalings` make of its own.
export function calibrated(found, { formula, token } = {}) {
  const scale = (reading) => ({
    ...reading,
    score: platt(reading.score, formula),
    tokens: reading.tokens.map((one) => ({ ...one, score: platt(one.score, token) })),
  });
  const answer = scale(found);
  const others = found.alternatives.map(scale);
  // One of them is right at most: together they cannot be likelier than what is left.
  const held = others.reduce((sum, { score }) => sum + score, 0);
  const share = formula && held ? Math.min(1, (1 - answer.score) / held) : 1;
  return { ...answer, alternatives: others.map((other) => ({ ...other, score: other.score * share })) };
}

function platt(score, scaling) {
  if (score <= 0 || !scaling) return score;
  const p = Math.min(1 - CLOSEST, Math.max(CLOSEST, score));
  return 1 / (1 + Math.exp(-(scaling.slope * (Math.log(p) - Math.log1p(-p)) + scaling.offset)));
}
