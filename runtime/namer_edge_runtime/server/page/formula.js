// A reading as the browser sets it, tinted by how sure each symbol is.

const SURE = 0.95;
const UNSURE = 0.4;

export function typeset(reading) {
  if (!reading?.mathml) return [];
  const parsed = new DOMParser().parseFromString(reading.mathml, "application/xml");
  const math = document.importNode(parsed.documentElement, true);
  for (const element of math.querySelectorAll("[data-token]")) {
    const { score } = reading.tokens[element.dataset.token] ?? { score: 1 };
    const doubt = Math.min(1, Math.max(0, (SURE - score) / (SURE - UNSURE)));
    element.style.setProperty("--doubt", doubt.toFixed(2));
  }
  return [math];
}

export const percent = (score) => `${Math.round(score * 100)} %`;

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
