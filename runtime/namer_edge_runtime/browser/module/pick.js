// Which cells of the VAT map become nodes (eq. 4), with their attached imaginary tokens.

export const SOS = 0;
export const EOS = 1;

// VAT maps of one picture to nodes: <sos>, <eos>, then visual nodes in row-major order, each
// followed by its endings. `vat` has scores and classes [C · h · w], none [h · w], height, width.
export function pickNodes(vat, vocabulary, { threshold, max_nodes: mostNodes }) {
  const { scores, classes, none, height, width } = vat;
  const area = height * width;
  const depth = scores.length / area;
  const { endings } = vocabulary;
  const mass = [0, 1, 2].map(() => new Float64Array(area)); // P of classes with so many endings
  for (let i = 0; i < scores.length; i++) {
    if (classes[i] < 0) continue;
    if (classes[i] >= endings.length) throw new Error(`VAT names class ${classes[i]} of ${endings.length}: model and vocabulary do not belong together`);
    mass[endings[classes[i]]][i % area] += scores[i];
  }
  const found = [];
  for (let cell = 0; cell < area; cell++) {
    const taken = new Set();
    for (let rank = 0; rank < depth; rank++) {
      const label = classes[rank * area + cell];
      const group = endings[label];
      if (label < 0 || taken.has(group)) continue;
      taken.add(group);
      const score = scores[rank * area + cell];
      const wins = rank === 0 && score > none[cell];
      const recalled = mass[group][cell] >= threshold && isPeak(mass[group], cell, height, width);
      if (wins || recalled) found.push({ cell, label, score, size: 1 + group });
    }
  }
  let total = 2 + found.reduce((sum, { size }) => sum + size, 0);
  const truncated = total > mostNodes;
  if (truncated) {
    total = 2;
    const strongest = [...found].sort((a, b) => b.score - a.score);
    const full = strongest.findIndex(({ size }) => (total += size) > mostNodes);
    const kept = new Set(strongest.slice(0, full));
    found.splice(0, found.length, ...found.filter((node) => kept.has(node)));
  }
  const nodes = { cells: [[0, 0], [0, 0]], classes: [vocabulary.sos, vocabulary.eos], endings: [0, 0], parents: [-1, -1], scores: [1, 1], truncated };
  for (const { cell, label, score, size } of found) {
    const parent = nodes.classes.length;
    for (let which = 0; which < size; which++) {
      nodes.cells.push([Math.floor(cell / width), cell % width]);
      nodes.classes.push(which ? vocabulary.end : label);
      nodes.endings.push(which);
      nodes.parents.push(which ? parent : -1);
      nodes.scores.push(score);
    }
  }
  return nodes;
}

// Whether a cell survives 3 × 3 non-maximum suppression; of equals, the first one does.
function isPeak(mass, cell, height, width) {
  const [row, column] = [Math.floor(cell / width), cell % width];
  for (let r = Math.max(0, row - 1); r < Math.min(height, row + 2); r++) {
    for (let c = Math.max(0, column - 1); c < Math.min(width, column + 2); c++) {
      const other = r * width + c;
      if (mass[other] > mass[cell] || (other < cell && mass[other] === mass[cell])) return false;
    }
  }
  return true;
}
