// `Recognizer`: ink in, LaTeX out. Names are those of the Python package.

import { Engine, openModel, openRuntime } from "./engine.js";
import { decode } from "./path_selection.js";
import { pickNodes } from "./pick.js";
import { Picture } from "./picture.js";
import { render } from "./render.js";
import { calibrated, Result } from "./result.js";
import { asStrokes, turned } from "./strokes.js";
import { CELL, DECODING, LOOK, STORED } from "./tables.js";
import { augment } from "./test_time_augmentation.js";
import { toTokens, Vocabulary } from "./vocabulary.js";

export { PenSession } from "./pen_session.js";

export class Recognizer {
  // `meta` is the content of a model.json; `engine` computes its graphs.
  constructor(engine, meta) {
    this.engine = engine;
    this.vocabulary = new Vocabulary(meta.vocabulary);
    this.look = { ...LOOK, ...meta.look };
    this.decoding = { ...DECODING };
    const names = Object.fromEntries(Object.entries(STORED).map(([name, stored]) => [stored, name]));
    for (const [name, value] of Object.entries(meta.decoding)) this.decoding[names[name] ?? name] = value;
    this.scalings = meta.scalings;
  }

  // From the folder that `namer-edge page` made, by default the one that this module lies in.
  static async from_pretrained(folder = new URL("..", import.meta.url)) {
    const base = new URL(folder, import.meta.url);
    const ort = await openRuntime(new URL("onnxruntime-web/", base));
    const { meta, graphs } = await openModel(new URL("model/", base));
    return new Recognizer(await Engine.open(ort, meta.precision, graphs), meta);
  }

  // Strokes [[[x, y], …], …], y down, or an ImageData of dark ink on a bright ground (or the reverse).
  // `wanted`, asked before each pass, says (or promises) whether the result is still waited for; null where
  // it is not.
  async recognize(input, { alternatives = 0, wanted = () => true } = {}) {
    const isPicture = !Array.isArray(input) && input?.data?.length === 4 * input.width * input.height;
    const strokes = isPicture ? null : asStrokes(input);
    const source = isPicture ? Picture.of(input) : strokes.length ? new Ink(strokes) : null;
    const { engine } = this;
    const facts = { engine: engine.name, device: engine.device, precision: engine.precision };
    const read = async (scale = 1, turn = 0) => {
      if (!(await wanted())) throw GIVEN_UP;
      return this.#pass(source, scale, turn, alternatives);
    };
    if (!source) return new Result(EMPTY, this.vocabulary, strokes, facts);
    try {
      const first = await read();
      const found = this.decoding.tta_scales.length ? await augment(first, read, this.decoding, alternatives) : first;
      return new Result(calibrated(found, this.scalings), this.vocabulary, strokes, facts);
    } catch (reason) {
      if (reason === GIVEN_UP) return null;
      throw reason;
    }
  }

  // One pass: preprocessing, VAT, token picking, PGD and path selection.
  async #pass(source, scale, turn, alternatives) {
    const { engine, vocabulary, decoding } = this;
    const times = [performance.now()];
    const clock = (value) => (times.push(performance.now()), value);
    const prepared = source.prepare({ ...this.look, symbol_height: this.look.symbol_height * scale }, turn);
    clock();
    const vat = clock(await engine.vat(prepared.planes ?? prepared.image, prepared.height, prepared.width));
    const nodes = clock(pickNodes(vat, vocabulary, decoding));
    const pgd = clock(await engine.pgd(vat, nodes));
    const hypotheses = clock(decode(pgd, nodes, vocabulary, decoding, 1 + alternatives));
    const distinct = new Map();
    for (const hypothesis of hypotheses) {
      const canonical = toTokens(hypothesis.classes.map((label) => vocabulary.token(label)), vocabulary).join(" ");
      if (!distinct.has(canonical)) distinct.set(canonical, hypothesis);
    }
    const [best, ...others] = [...distinct].slice(0, 1 + alternatives).map(([canonical, hypothesis]) => ({
      canonical,
      score: hypothesis.score,
      tokens: this.#tokens(hypothesis, nodes, prepared),
    }));
    const [prepare, vatTime, pick, pgdTime, path] = times.slice(1).map((time, i) => time - times[i]);
    const milliseconds = { prepare, vat: vatTime, pgd: pgdTime, path: pick + path };
    const symbolHeight = this.look.symbol_height / prepared.scale;
    return { ...best, alternatives: others, milliseconds, truncated: nodes.truncated, symbol_height: symbolHeight, prepared };
  }

  // The visual tokens on the path, at the centers of their cells, in the input's coordinates.
  #tokens({ nodes, classes, scores }, { cells }, { scale, offset, turn }) {
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    return classes.flatMap((label, place) => {
      if (label >= this.vocabulary.size) return [];
      const [row, column] = cells[nodes[place]];
      const x = ((column + 0.5) * CELL - offset[0]) / scale;
      const y = ((row + 0.5) * CELL - offset[1]) / scale;
      return [{ text: this.vocabulary.token(label), score: scores[place], x: cos * x + sin * y, y: cos * y - sin * x }];
    });
  }
}

const GIVEN_UP = Symbol("nobody waits for the result");
const EMPTY = { canonical: "", score: 0, tokens: [], alternatives: [], milliseconds: { prepare: 0, vat: 0, pgd: 0, path: 0 }, truncated: false, symbol_height: 0 };

class Ink {
  constructor(strokes) { this.strokes = strokes; }

  prepare(look, turn) {
    return { ...render(turn ? turned(this.strokes, turn) : this.strokes, look), turn };
  }
}
