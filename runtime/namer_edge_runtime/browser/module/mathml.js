// Canonical tokens to presentation MathML, well-formed whatever the tokens are.

import { write } from "./atoms.js";
import { BARS, CLOSING, ELEMENTS, GROUP, INDEX, OPENING, TEMPLATES } from "./tables.js";

const EMPTY = "<mrow></mrow>";

// A `math` element; `marked`: the element of each visual token says in `data-token` the how many-th it
// is, from 0, and digits in a row have an element each.
export function mathml(tokens, vocabulary, marked = false) {
  const written = write(tokens, vocabulary, (atoms) => row(atoms, marked));
  return `<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">${written}</math>`;
}

// One element: of a single atom its own, else an `mrow`; digits in a row are one number. Brackets are
// with what they hold an `mrow`, the base of the closing one's scripts; those alone do not stretch.
function row(atoms, marked) {
  const elements = [];
  const closedBy = brackets(atoms);
  const begun = new Map(); // place of the closing bracket → that of the opening element
  for (const { 0: kinds, index: place } of atoms.map(kind).join("").matchAll(/(?:d+\.)?d*[ds]|./g)) {
    const run = atoms.slice(place, place + kinds.length);
    const [first, last] = [run[0], run.at(-1)];
    let written;
    if (!/[ds]$/.test(kinds)) written = marked ? mark(nucleus(first), first) : nucleus(first);
    else if (marked) {
      const digits = run.map((atom) => mark(element("mn", atom.token), atom));
      written = digits.length === 1 ? digits[0] : element("mrow", ...digits);
    } else written = element("mn", ...run.map((atom) => atom.token));
    if (begun.has(place)) written = element("mrow", ...elements.splice(begun.get(place)), written);
    else if (closedBy.has(place)) begun.set(closedBy.get(place), elements.length);
    else if ([OPENING, CLOSING, BARS].some((kind) => kind.includes(first.token))) written = written.replace("<mo", '<mo stretchy="false"');
    elements.push(scripts(written, last));
  }
  return elements.length === 1 ? elements[0] : element("mrow", ...elements);
}

// Place of each opening bracket that is closed in this row → that of the closing one.
function brackets(atoms) {
  const closedBy = new Map();
  const opened = [];
  const isBar = (place) => BARS.includes(atoms[place]?.token);
  atoms.forEach(({ token, subscript, superscript }, place) => {
    if (BARS.includes(token) && isBar(opened.at(-1)) && place > opened.at(-1) + 1) closedBy.set(opened.pop(), place);
    else if (CLOSING.includes(token)) {
      while (isBar(opened.at(-1))) opened.pop(); // a bar of its own, as in p(x|y)
      if (opened.length) closedBy.set(opened.pop(), place);
    } else if ((OPENING.includes(token) || BARS.includes(token)) && subscript === null && superscript === null) opened.push(place);
  });
  return closedBy;
}

const mark = (text, { place }) => (place === null ? text : text.replace(/^<[a-z]+/, (tag) => `${tag} data-token="${place}"`));

// d: digit, s: digit with a script, which ends its number; `.`: point, x: anything else.
function kind({ token, subscript, superscript }) {
  const scripted = subscript !== null || superscript !== null;
  if (/^[0-9]$/.test(token)) return scripted ? "s" : "d";
  return token === "." && !scripted ? "." : "x";
}

const element = (name, ...content) => `<${name}>${content.join("")}</${name}>`;

// Symbol, or relation with its arguments, as the package writes it, without the scripts.
function nucleus({ token, takes, args, limits }) {
  if (token === "" || token === GROUP) return element("mrow", ...args);
  if (!args.length) return limits ? ELEMENTS[token].replace("<mo", '<mo movablelimits="false"') : ELEMENTS[token];
  const isBare = takes[0] === INDEX && args[0] === EMPTY;
  return TEMPLATES[token][isBare ? 1 : 0].replace(/⟦(\d)⟧/g, (_, which) => args[which]);
}

function scripts(written, { limits, subscript, superscript }) {
  const [lower, upper, both] = limits ? ["munder", "mover", "munderover"] : ["msub", "msup", "msubsup"];
  if (subscript === null) return superscript === null ? written : element(upper, written, superscript);
  if (superscript === null) return element(lower, written, subscript || EMPTY);
  return element(both, written, subscript, superscript);
}
