// A formula as rows of atoms, in TeX's sense: a nucleus with a subscript and a superscript.

import { END, GROUP, LIMITS, OPERATORS, SCRIPTS } from "./tables.js";
import { toPath } from "./vocabulary.js";

const atom = (token, more) => ({ token, takes: [], args: [], subscript: null, superscript: null, limits: false, place: null, ...more });

// Canonical tokens in the form that `row` writes a row of atoms in, from the innermost argument outwards.
export function write(tokens, vocabulary, row) {
  let atoms = [];
  let place = 0;
  const outer = [];
  for (const token of toPath(tokens, vocabulary)) {
    if (token === END) {
      const [around, relation] = outer.at(-1);
      relation.wide ||= atoms.length > 1;
      relation.args.push(row(atoms));
      atoms = [];
      if (relation.args.length < relation.takes.length) continue;
      outer.pop();
      atoms = around;
      attach(atoms, relation, row);
    } else {
      const takes = vocabulary.takes(token);
      const written = atom(token, { takes, place: place++ });
      if (takes.length) {
        outer.push([atoms, written]);
        atoms = [];
      } else atoms.push(written);
    }
  }
  return row(atoms);
}

// Adds a relation to the row; a script goes to the atom before it.
function attach(atoms, relation, row) {
  if (!SCRIPTS.includes(relation.token) && relation.token !== LIMITS) {
    atoms.push(relation);
    return;
  }
  let base = atoms.pop() ?? atom("");
  const script = relation.token === "^" ? "superscript" : "subscript";
  // Two scripts in one place: the first belongs to what the second is set on.
  if (base[script] !== null) base = atom(GROUP, { args: [row([base])] });
  base[script] = relation.args[0];
  if (script === "subscript") base.limits = relation.token === LIMITS && OPERATORS.includes(base.token);
  atoms.push(base);
}
