// The visual classes of a model and its relation table, and canonical tokens of a path.

import { END, INDEX } from "./tables.js";

export class Vocabulary {
  // As `model.json` holds it: symbols, then relations with how each of their arguments opens.
  constructor({ symbols, relations }) {
    this.relations = new Map(Object.entries(relations));
    this.tokens = [...symbols, ...this.relations.keys()];
    this.endings = Uint8Array.from(this.tokens, (token) => this.takes(token).length);
    this.size = this.end = this.tokens.length;
    this.sos = this.size + 1;
    this.eos = this.size + 2;
  }

  takes(token) { return this.relations.get(token) ?? []; }
  token(number) { return number < this.size ? this.tokens[number] : END; }
}

// Canonical tokens of a well-nested path, given as its tokens; an empty index is not written at all.
export function toTokens(path, vocabulary) {
  const tokens = [];
  const opened = [];
  for (const token of path) {
    let current;
    if (token !== END) {
      tokens.push(token);
      current = { takes: vocabulary.takes(token), number: 0 };
    } else {
      current = opened.pop();
      if (current.takes[current.number] !== INDEX) tokens.push(END);
      else if (tokens.length === current.start + 1) tokens.length = current.start;
      else tokens.push("]");
      current.number += 1;
    }
    if (current.number < current.takes.length) {
      current.start = tokens.length;
      tokens.push(...current.takes[current.number].split(" "));
      opened.push(current);
    }
  }
  return tokens;
}
