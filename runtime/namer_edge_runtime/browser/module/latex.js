// Canonical tokens to LaTeX as a person would type it: `x ^ { 2 }` is `x^2`.

import { write } from "./atoms.js";
import { GROUP, INDEX, LATEX, WIDE } from "./tables.js";

export const compact = (tokens, vocabulary) => write(tokens, vocabulary, row);

function row(atoms) {
  let text = "";
  atoms.forEach((atom, place) => {
    const written = nucleus(atom) + scripts(atom);
    const afterScript = place > 0 && scripts(atoms[place - 1]) && /^\p{Nd}/u.test(written);
    const afterCommand = /\\[a-zA-Z]+$/.test(text) && /^[\p{L}\p{N}]/u.test(written);
    text += (afterScript || afterCommand ? " " : "") + written;
  });
  return text;
}

// Symbol, or relation with its arguments.
function nucleus({ token, takes, args, wide }) {
  if (token === "" || token === GROUP) return `{${args.join("")}}`;
  if (!args.length) return LATEX[token];
  return args.reduce((text, argument, which) => {
    if (takes[which] !== INDEX) return `${text}{${argument}}`;
    if (!argument) return text;
    // A bracket inside would end the index, and KaTeX stumbles over a brace at its start.
    return text + (argument.startsWith("{") || /[[\]]/.test(argument) ? `[{${argument}}]` : `[${argument}]`);
  }, wide ? WIDE[token] : token);
}

function scripts({ token, limits, subscript, superscript }) {
  let text = limits ? "\\limits" : "";
  if (subscript !== null) text += `_${braced(subscript)}`;
  if (superscript === null) return text;
  // A prime after a prime, or after nothing, would read back as a symbol of its own.
  const primes = /^(\\prime)+$/.test(superscript) && token !== "" && token !== "\\prime";
  return text + (primes ? "'".repeat(superscript.length / "\\prime".length) : `^${braced(superscript)}`);
}

const braced = (script) => (/^[a-zA-Z0-9]$/.test(script) ? script : `{${script}}`);
