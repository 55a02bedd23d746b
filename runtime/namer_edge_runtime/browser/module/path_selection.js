// Path selection of one formula: revise, build, k longest paths, repair, score; and the n-best list.

import { build, revise } from "./graph.js";
import { filled } from "./filled.js";
import { longestPaths, repair } from "./path.js";
import { EOS, SOS } from "./pick.js";
import { MAX_CLASSES, MAX_K_BEST, MIN_CLASS, MIN_DELETE, MIN_EDGE, MIN_PROBABILITY } from "./tables.js";

// Hypotheses of a formula, best first: {nodes, classes, score, scores, repaired}, with `scores` those of
// the nodes. `pgd` has probs [N · (K + 2)], left and right [N · N]; `options` are the model's.
export function decode(pgd, nodes, vocabulary, options, alternatives = 1) {
  const { endings } = vocabulary;
  const kBest = options.k_best;
  const others = alternatives > 1 ? Math.min(alternatives, MAX_K_BEST) : 0;
  let ranked = selectPaths(pgd, nodes, endings, options, kBest > 0, kBest ? Math.max(kBest, others) : 1);
  const first = ranked.slice(0, kBest || 1).reduce((best, other) => (other.score > best.score ? other : best));
  const found = [first.nodes.length ? first : { ...first, score: 0 }];
  if (others) {
    if (!kBest) ranked = selectPaths(pgd, nodes, endings, options, true, others);
    const paths = ranked.slice(0, others).map((path) => (path.nodes.length ? path : { ...path, score: 0 }));
    const said = String(first.classes);
    const different = otherHypotheses(paths, pgd.probs, endings, alternatives).filter(({ classes }) => String(classes) !== said);
    found.push(...different.slice(0, alternatives - 1));
  }
  const [best, ...rest] = found.map((path) => filled(path, vocabulary));
  return [best ?? found[0], ...rest.filter(Boolean)];
}

// The longest, or `weighed` the most probable, paths. Not weighed, nodes to delete go first; weighed,
// each node is either read or deleted, through all edges but the weakest.
function selectPaths({ probs, left, right }, nodes, endings, options, weighed, ranks) {
  const size = nodes.classes.length;
  const { parents } = nodes;
  const [remove, width] = [endings.length + 1, endings.length + 2];
  const { left_weight: leftWeight, right_weight: rightWeight, epsilon } = options;
  const total = leftWeight + rightWeight;
  const labels = revise(probs, nodes, endings, !weighed);
  const number = (prob) => (Number.isNaN(prob) ? 0 : prob);
  const said = labels.map((label, node) => (node > EOS ? number(probs[node * width + label]) : 0));
  const deleted = labels.map((_, node) =>
    node > EOS && parents[node] < 0 ? Math.max(MIN_DELETE, number(probs[node * width + remove])) : 1,
  );
  const alive = labels.map((label, node) => {
    const symbol = parents[node] >= 0 ? parents[node] : node;
    return label !== remove && (!weighed || symbol <= EOS || said[symbol] >= MIN_CLASS);
  });
  const graph = build({ left, right }, alive, weighed ? MIN_EDGE * total : epsilon, leftWeight, rightWeight);
  const weights = graph.edges.map(([source, target]) => {
    const score = graph.scores[source * size + target];
    if (!weighed) return score;
    let weight = Math.log(Math.max(MIN_PROBABILITY, score / total));
    if (target > EOS) weight += Math.log(Math.max(MIN_PROBABILITY, said[target])) - Math.log(deleted[target]);
    return weight;
  });
  return longestPaths(graph.edges, weights, size, ranks).map((whole) => {
    const route = whole.slice(1, -1);
    const path = repair(route, parents, graph.scores);
    let [score, previous] = [1, SOS];
    for (const node of path) {
      score *= (graph.scores[previous * size + node] / total) * said[node];
      previous = node;
    }
    score *= graph.scores[previous * size + EOS] / total;
    const read = new Set(path);
    for (let node = 2; node < size; node++) if (!read.has(node)) score *= deleted[node];
    return {
      nodes: path,
      classes: path.map((node) => labels[node]),
      score: Math.min(1, score),
      scores: path.map((node) => said[node]),
      repaired: String(route) !== String(path),
    };
  });
}

// Up to `count` hypotheses by falling score, no two with the same classes: the best combinations of
// likely classes along these paths.
function otherHypotheses(paths, probs, endings, count) {
  const best = new Map();
  for (const path of paths) {
    for (const found of withOtherClasses(path, probs, endings, count)) {
      const key = String(found.classes);
      if (!best.has(key) || found.score > best.get(key).score) best.set(key, found);
    }
  }
  return most([...best.values()].filter(({ score }) => score > 0), count, ({ score }) => score);
}

function withOtherClasses(path, probs, endings, count) {
  const width = endings.length + 2;
  const visual = path.classes.flatMap((label, place) => (label < endings.length ? [place] : []));
  let best = [{ odds: 1, chosen: [] }];
  for (const place of visual) {
    const label = path.classes[place];
    const own = probs.subarray(path.nodes[place] * width);
    const fitting = Array.from(endings, (number, other) => [number === endings[label] ? own[other] : 0, other]);
    const likely = most(fitting, MAX_CLASSES, ([prob]) => prob).filter(([prob, other]) => prob >= MIN_CLASS && other !== label);
    const held = Math.max(own[label], MIN_PROBABILITY);
    const choices = [[1, label], ...likely.map(([prob, other]) => [Math.fround(prob / held), other])];
    const extended = best.flatMap(({ odds, chosen }) => choices.map(([more, other]) => ({ odds: odds * more, chosen: [...chosen, other] })));
    best = most(extended, count, ({ odds }) => odds);
  }
  return best.map(({ odds, chosen }) => {
    const [classes, scores] = [[...path.classes], [...path.scores]];
    visual.forEach((place, i) => {
      classes[place] = chosen[i];
      scores[place] = probs[path.nodes[place] * width + chosen[i]];
    });
    return { ...path, classes, scores, score: Math.min(1, path.score * odds) };
  });
}

// The `count` items of the highest keys, of equals the earlier ones.
const most = (items, count, key) => [...items].sort((a, b) => key(b) - key(a)).slice(0, count);
