// Holds the browser's module against `vectors.json`, which the package's plain Python twins have written.
// `check` returns what differs, as [room, number of the case, what]; nothing where both sides agree.

export async function check(load, vectors) {
  const [{ render }, { asStrokes }, { skew, isDecided, winner }, { pickNodes }] = await Promise.all(
    ["render", "strokes", "test_time_augmentation", "pick"].map((name) => load(`${name}.js`)),
  );
  const [{ decode }, { Vocabulary, toPath, toTokens }, { compact }, { mathml }] = await Promise.all(
    ["path_selection", "vocabulary", "latex", "mathml"].map((name) => load(`${name}.js`)),
  );
  const [{ calibrated }, { assignStrokes }, { PenSession }] = await Promise.all(
    ["result", "stroke_assignment", "pen_session"].map((name) => load(`${name}.js`)),
  );
  const small = new Vocabulary(vectors.small);
  const large = new Vocabulary(vectors.vocabulary);

  const rooms = {
    async drawing({ strokes, look, size, ...expected }) {
      const { image, width, height, scale, offset, ...drawn } = render(asStrokes(strokes), look);
      const wanted = await unpacked(expected.image);
      const pixels = image.reduce((count, value, i) => count + (value !== wanted[i]), Math.abs(wanted.length - image.length));
      const found = { size: [height, width], scale, offset, skew: skew({ image, width, height, ...drawn }), pixels };
      return [found, { size, scale: expected.scale, offset: expected.offset, skew: expected.skew, pixels: 0 }];
    },
    picking({ size: [height, width], scores, classes, none, options, nodes }) {
      const [own, other] = [scores, none].map((values) => Float32Array.from(values));
      const found = pickNodes({ scores: own, classes, none: other, height, width }, small, options);
      return [found, nodes];
    },
    selection({ nodes, probs, left, right, options, alternatives, hypotheses }) {
      const [self, before, after] = [probs, left, right].map((values) => Float32Array.from(values));
      return [decode({ probs: self, left: before, right: after }, nodes, small, options, alternatives), hypotheses];
    },
    writing({ canonical, ...expected }) {
      const tokens = canonical.split(" ");
      const back = toTokens(toPath(tokens, large), large).join(" ");
      const written = { latex: compact(tokens, large), mathml: mathml(tokens, large), marked: mathml(tokens, large, true), back };
      return [written, { ...expected, back: canonical }];
    },
    voting({ passes, decided, winner: expected }) {
      const reading = ([canonical, score]) => ({ canonical, score, tokens: [] });
      const whole = passes.map((one) => ({ ...one, milliseconds: { vat: 1 }, alternatives: one.alternatives.map(reading) }));
      const elected = winner(whole, 3);
      const { canonical, score } = elected;
      const found = { canonical, score, alternatives: elected.alternatives.map((one) => [one.canonical, one.score]) };
      return [{ found, decided: [0, 1, 2, 3].map((n) => isDecided(whole, n)), time: elected.milliseconds.vat }, { found: expected, decided, time: passes.length }];
    },
    scaling: ({ scalings, result, scaled }) => [calibrated({ ...result }, scalings), scaled],
    assignment: ({ strokes, tokens, owned }) => [assignStrokes(asStrokes(strokes), tokens), owned],
    async session({ strokes, steps }) {
      let tokens;
      const recognizer = {
        recognize: async (ink) => ({
          tokens: tokens.map(([text, x]) => ({ text, x, y: 5, score: 1 })),
          get token_strokes() { return assignStrokes(ink, this.tokens); },
        }),
      };
      const canvas = new PenSession(recognizer);
      const found = [];
      for (const step of steps) {
        tokens = step.tokens;
        for (const number of step.add ?? []) canvas.add(strokes[number]);
        for (const number of step.remove ?? []) canvas.remove(number);
        found.push((await canvas.symbols()).map(({ id, text, strokes: own }) => ({ id, text, strokes: own })));
      }
      return [found, steps.map(({ symbols }) => symbols)];
    },
  };

  const differing = [];
  for (const [room, run] of Object.entries(rooms)) {
    for (const [number, one] of [vectors[room]].flat().entries()) {
      const [found, expected] = await run(one);
      const what = difference(found, expected, "");
      if (what) differing.push([room, number, what]);
    }
  }
  return differing;
}

// Where two values differ first, numbers by more than rounding; empty where they do not.
function difference(found, expected, place) {
  if (typeof expected === "number" && typeof found === "number") {
    const near = Math.abs(found - expected) <= 1e-6 * Math.abs(expected) + 1e-15;
    return near ? "" : `${place}: ${found}, not ${expected}`;
  }
  if (expected === null || typeof expected !== "object" || found === null || typeof found !== "object") {
    return found === expected ? "" : `${place}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`;
  }
  const keys = new Set([...Object.keys(found), ...Object.keys(expected)]);
  return [...keys].map((key) => difference(found[key], expected[key], `${place}.${key}`)).find(Boolean) ?? "";
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
