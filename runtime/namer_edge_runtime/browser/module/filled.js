// Hypotheses without relations that lack an argument.

import { INDEX, STRETCHED } from "./tables.js";

// The hypothesis without such as `x_{}` or `\frac{j}{}`; what their other arguments hold stays, and so
// does its score. Null for one of nothing else.
export function filled(path, vocabulary) {
  const kept = path.nodes.map(() => true);
  const outer = { places: [], takes: [""], content: [false] };
  const opened = [outer];
  path.classes.forEach((label, place) => {
    if (label !== vocabulary.end) {
      const takes = vocabulary.takes(vocabulary.token(label));
      if (takes.length) opened.push({ places: [place], takes, content: [false] });
      else opened.at(-1).content.splice(-1, 1, true);
      return;
    }
    const relation = opened.at(-1);
    relation.places.push(place);
    if (relation.places.length <= relation.takes.length) {
      relation.content.push(false);
      return;
    }
    opened.pop();
    const hollow = relation.takes.some((takes, which) => takes !== INDEX && !relation.content[which]);
    const dropped = hollow && !STRETCHED.includes(vocabulary.token(path.classes[relation.places[0]]));
    if (dropped) for (const one of relation.places) kept[one] = false;
    if (relation.content.includes(true) || !dropped) opened.at(-1).content.splice(-1, 1, true);
  });
  if (kept.every(Boolean)) return path;
  if (!outer.content[0]) return null;
  const only = (list) => list.filter((_, place) => kept[place]);
  return { ...path, nodes: only(path.nodes), classes: only(path.classes), scores: only(path.scores), repaired: true };
}
