// A reading as the browser sets it, tinted by how sure each symbol is.

const SURE = 0.95;
const UNSURE = 0.4;
const DOUBTED = 0.4; // of the way from sure to unsure, where color is not left alone
const SMALLEST = 0.45; // share of its size that a long formula is shrunk to; beyond, it is scrolled

export function typeset(reading) {
  if (!reading?.mathml) return [];
  const parsed = new DOMParser().parseFromString(reading.mathml, "application/xml");
  const math = document.importNode(parsed.documentElement, true);
  for (const element of math.querySelectorAll("[data-token]")) {
    const { score } = reading.tokens[element.dataset.token] ?? { score: 1 };
    const doubt = Math.min(1, Math.max(0, (SURE - score) / (SURE - UNSURE)));
    element.style.setProperty("--doubt", doubt.toFixed(2));
    element.classList.toggle("doubted", doubt >= DOUBTED);
  }
  return [math];
}

// Shrinks what an element holds until it fits.
export function fit(element) {
  element.style.fontSize = "";
  const size = parseFloat(getComputedStyle(element).fontSize);
  const room = (element.clientWidth / element.scrollWidth) * 0.97; // paddings do not shrink
  if (element.scrollWidth > element.clientWidth) element.style.fontSize = `${size * Math.max(SMALLEST, room)}px`;
}

// A score for people; nothing where it is next to nothing.
export const percent = (score) => (Math.round(score * 100) ? `${Math.round(score * 100)} %` : "");

// To be heard.
export const spoken = ({ latex, score }) => [latex, percent(score)].filter(Boolean).join(", ");

// What the menu beside Copy offers.
export const FORMATS = {
  latex: (reading) => reading.latex,
  mathml: (reading) => reading.mathml.replace(/ data-token="\d+"/g, ""),
  word: (reading) => FORMATS.mathml(reading).replace(/<\/?(?=[a-z])/g, "$&mml:").replace("xmlns=", "xmlns:mml="),
  typst: (reading) => reading.typst,
  sympy: (reading) => reading.sympy,
  omml: (reading) => reading.omml,
  svg: (reading) => reading.svg,
};

export function tokenAt(target) {
  const element = target instanceof Element ? target.closest("[data-token]") : null;
  return element ? Number(element.dataset.token) : null;
}

// The token nearest to a point of the picture, where one is within reach.
export function tokenNear(reading, { x, y }) {
  let [found, least] = [null, reading.symbol_height];
  reading.tokens.forEach((token, place) => {
    const away = Math.hypot(token.x - x, token.y - y);
    if (away < least) [found, least] = [place, away];
  });
  return found;
}
