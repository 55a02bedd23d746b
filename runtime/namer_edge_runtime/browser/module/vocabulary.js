// The visual classes of a model and its relation table, and canonical tokens from and to the path.

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
      if (!current) throw new Error("an ending of the path closes nothing");
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
  if (opened.length) throw new Error("a relation of the path has no end");
  return tokens;
}

// The path of canonical tokens: a relation's arguments follow it, each closed by `}`.
export function toPath(tokens, vocabulary) {
  const path = [];
  const opened = [];
  let place = 0;

  function enter(takes, number) {
    if (number === takes.length) return;
    const opening = takes[number].split(" ");
    if (opening.every((token, i) => tokens[place + i] === token)) {
      place += opening.length;
      opened.push({ takes, number });
    } else if (takes[number] === INDEX) {
      path.push(END);
      enter(takes, number + 1);
    } else throw new Error(`token ${place + 1} is no argument`);
  }

  while (place < tokens.length) {
    const token = tokens[place++];
    const inner = opened.at(-1);
    const inIndex = inner?.takes[inner.number] === INDEX;
    if ((inIndex && token === "]" && tokens[place] === "{") || (token === END && inner && !inIndex)) {
      opened.pop();
      path.push(END);
      enter(inner.takes, inner.number + 1);
    } else if (token === "{" || token === END) {
      throw new Error(`${token} at place ${place} belongs to no relation`);
    } else {
      path.push(token);
      enter(vocabulary.takes(token), 0);
    }
  }
  if (opened.length) throw new Error("an argument is never closed");
  return path;
}
