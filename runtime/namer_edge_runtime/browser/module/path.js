// The k longest paths from <sos> to <eos>, and their repair.

import { EOS, SOS } from "./pick.js";

// Edges [[source, target], …] in order of source, with their weights; returns node lists, the longest
// first. Of equal lengths into a node, the predecessor of lower index comes first.
export function longestPaths(edges, weights, size, most) {
  const [leaving, entering, best] = [0, 1, 2].map(() => Array.from({ length: size }, () => []));
  edges.forEach(([source, target], edge) => {
    leaving[source].push(target);
    entering[target].push([source, weights[edge]]);
  });
  const missing = entering.map((into) => into.length);
  const ready = missing.flatMap((count, node) => (count ? [] : [node]));
  best[SOS] = [{ length: 0, before: -1, rank: 0 }];
  for (const node of ready) {
    if (node !== SOS) {
      const offers = entering[node].flatMap(([before, weight]) =>
        best[before].map(({ length }, rank) => ({ length: length + weight, before, rank })),
      );
      offers.sort((a, b) => b.length - a.length || a.before - b.before || a.rank - b.rank);
      best[node] = offers.slice(0, most);
    }
    for (const target of leaving[node]) if (--missing[target] === 0) ready.push(target);
  }
  return best[EOS].map((last) => {
    const path = [EOS];
    for (let step = last; step.before >= 0; step = best[step.before][step.rank]) path.unshift(step.before);
    return path;
  });
}

// A well-nested path that keeps to `path` as far as it goes: endings come in order and close inside
// their parent; a missing one is inserted where E from its left and to its right neighbor is largest.
export function repair(path, parents, scores) {
  const size = parents.length;
  const children = parents.map(() => []);
  parents.forEach((parent, node) => parent >= 0 && children[parent].push(node));
  const where = new Map(path.map((node, place) => [node, place]));
  const walked = [];
  const placed = new Set();
  const opened = [];

  // Puts an ending behind the node `after`, where all inside it is closed.
  function insert(ending, after, following) {
    let place = walked.indexOf(after) + 1;
    let [best, most, depth] = [place, -1, 0];
    for (; place <= walked.length; place++) {
      const beyond = place < walked.length ? walked[place] : following;
      if (depth === 0) {
        const score = scores[walked[place - 1] * size + ending] + scores[ending * size + beyond];
        if (score > most) [best, most] = [place, score];
      }
      if (place === walked.length) break;
      if (parents[beyond] >= 0) depth -= children[parents[beyond]].at(-1) === beyond;
      else depth += children[beyond].length > 0;
    }
    walked.splice(best, 0, ending);
    placed.add(ending);
  }

  function close(relation, following) {
    let after = relation;
    for (const ending of children[relation]) {
      if (!placed.has(ending)) insert(ending, after, following);
      after = ending;
    }
  }

  path.forEach((node, place) => {
    const relation = parents[node];
    if (relation < 0) {
      walked.push(node);
      if (children[node].length) opened.push(node);
      return;
    }
    if (!opened.includes(relation)) return;
    while (opened.at(-1) !== relation) close(opened.pop(), node);
    const [first, second] = children[relation];
    let ending = node;
    if (placed.has(first)) ending = second;
    else if (node === second) {
      if (where.get(first) > place) ending = first;
      else insert(first, relation, node);
    }
    walked.push(ending);
    placed.add(ending);
    if (second === undefined || ending === second) opened.pop();
  });
  while (opened.length) close(opened.pop(), EOS);
  return walked;
}
