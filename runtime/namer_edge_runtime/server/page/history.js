// The last formulas and the ink that is being written, kept in the browser beyond a reload.

const INK = "namer-edge ink"; // in the tab's own storage, until it is closed
const FORMULAS = "namer-edge formulas"; // until they are forgotten
const MOST = 10;

// What was on the canvas, as `Ink` takes it.
export function keptInk() {
  const kept = read(sessionStorage, INK);
  return Array.isArray(kept) ? { strokes: kept } : kept ?? {};
}

export function keepInk({ strokes, locks }) {
  write(sessionStorage, INK, { strokes: [...strokes.values()], locks });
}

// The last formulas, the newest first: {latex, mathml, tokens, score, strokes, locks}.
export const formulas = () => read(localStorage, FORMULAS) ?? [];

// Keeps what ink said before it goes; the same ink is kept once.
export function keepFormula({ latex, mathml, tokens, score }, { strokes, locks }) {
  const ink = [...strokes.values()];
  if (!latex || !ink.length) return;
  const said = JSON.stringify(ink.map(({ points }) => points));
  const others = formulas().filter((one) => JSON.stringify(one.strokes.map(({ points }) => points)) !== said);
  write(localStorage, FORMULAS, [{ latex, mathml, tokens, score, strokes: ink, locks }, ...others].slice(0, MOST));
}

export function forget() {
  try {
    localStorage.removeItem(FORMULAS);
  } catch {} // none is allowed
}

function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(key));
  } catch {
    return null;
  }
}

function write(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {} // there is no room, or none is allowed
}
