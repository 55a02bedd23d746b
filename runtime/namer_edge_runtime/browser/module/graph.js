// From PGD's three heads to a directed acyclic graph (eq. 6 and 10).

import { EOS, SOS } from "./pick.js";

// The revised class of each node: the best with as many endings as the one it came with, or delete
// (K + 1) where that is allowed; endings follow their relation. <sos> and <eos> get -1.
export function revise(probs, { classes, parents }, endings, deleting) {
  const end = endings.length;
  const [remove, width] = [end + 1, end + 2];
  const revised = classes.map((label, node) => {
    if (node <= EOS) return -1;
    if (parents[node] >= 0) return label;
    let [chosen, best] = [label, -1];
    for (let other = 0; other < end; other++) {
      const prob = probs[node * width + other];
      if (prob > best && endings[other] === endings[label]) [chosen, best] = [other, prob];
    }
    return deleting && probs[node * width + remove] > best ? remove : chosen;
  });
  return revised.map((label, node) => (parents[node] < 0 ? label : revised[parents[node]] === remove ? remove : end));
}

// The graph of the nodes that are alive: {scores: E [N · N], edges: [[source, target], …]}, by source,
// then target. Edges enter in order of falling E, none that would close a cycle; those under
// `epsilon` only until <eos> is reachable.
export function build({ left, right }, alive, epsilon, leftWeight, rightWeight) {
  const size = alive.length;
  const scores = new Float64Array(size * size);
  const candidates = [];
  for (let source = 0; source < size; source++) {
    for (let target = 0; target < size; target++) {
      if (source === EOS || source === target || target === SOS || !alive[source] || !alive[target]) continue;
      const place = source * size + target;
      const score = leftWeight * left[target * size + source] + rightWeight * right[place];
      if (score > 0) scores[place] = score;
      candidates.push(place);
    }
  }
  const byScore = (places) => places.sort((a, b) => scores[b] - scores[a] || a - b);
  const reaches = new Uint8Array(size * size);
  const entered = [];
  const enter = (place) => {
    const [source, target] = [Math.floor(place / size), place % size];
    if (reaches[target * size + source]) return;
    entered.push(place);
    if (reaches[place]) return;
    for (let node = 0; node < size; node++) {
      if ((node !== source && !reaches[node * size + source]) || reaches[node * size + target]) continue;
      reaches[node * size + target] = 1;
      for (let beyond = 0; beyond < size; beyond++) reaches[node * size + beyond] |= reaches[target * size + beyond];
    }
  };
  byScore(candidates.filter((place) => scores[place] >= epsilon)).forEach(enter);
  if (!reaches[EOS]) {
    for (const place of byScore(candidates.filter((place) => scores[place] < epsilon))) {
      enter(place);
      if (reaches[EOS]) break;
    }
  }
  const edges = entered.sort((a, b) => a - b).map((place) => [Math.floor(place / size), place % size]);
  return { scores, edges };
}
