// Anti-aliased polylines and dots as OpenCV draws them (LINE_AA, 16.16 fixed point): the model has
// seen ink drawn by that, and reads other edges less surely.

const ONE = 1 << 16;
const HALF = ONE >> 1;
// Share, of 256, that a pixel takes at 1/32 pixels from the middle of a line: a Gaussian.
const NEAR = Uint8Array.from({ length: 64 }, (_, i) => 255 * Math.exp(-(((i - 15.5) / 24) ** 2)));
// How much more a sloping line covers of a column than a level one, in 1/256, by 32 slopes.
const SLOPED = Uint8Array.from({ length: 32 }, (_, i) => 256 * Math.sqrt((1 + ((i + 0.5) / 32) ** 2) / 2));

export class Raster {
  // Points lie inside `width` and `height`; the edge round these takes what lines of `thickness` cover.
  constructor(width, height, thickness) {
    const edge = 2 * (thickness + 2);
    Object.assign(this, { edge, thickness, width: width + 2 * edge, height: height + 2 * edge });
    this.pixels = new Uint8Array(this.width * this.height);
  }

  // Points [x, y, x, y, …] in 1/16 pixels, joined by lines with round ends.
  polyline(points) {
    const ends = Array.from(points, (value) => this.#fixed(value));
    for (let i = 2; i < ends.length; i += 2) {
      if (this.thickness > 1) this.#thick(ends[i - 2], ends[i - 1], ends[i], ends[i + 1], i === 2);
      else this.#line(ends[i - 2], ends[i - 1], ends[i], ends[i + 1]);
    }
  }

  // A disc of 3/4 of the thickness; all in 1/16 pixels.
  dot(x, y) {
    this.#disc(this.#fixed(x), this.#fixed(y), rounded(0.75 * this.thickness * 16) * (ONE >> 4));
  }

  #fixed(value) { return value * (ONE >> 4) + this.edge * ONE; }

  #thick(x0, y0, x1, y1, isFirst) {
    const { thickness } = this;
    const [dx, dy] = [(x0 - x1) / ONE, (y1 - y0) / ONE];
    const square = dx * dx + dy * dy;
    if (square > Number.EPSILON) {
      const r = (thickness * HALF + (thickness & 1) * HALF) / Math.sqrt(square);
      const [px, py] = [rounded(dy * r), rounded(dx * r)];
      this.#polygon([x0 + px, x0 - px, x1 - px, x1 + px], [y0 + py, y0 - py, y1 - py, y1 + py]);
    }
    if (isFirst) this.#disc(x0, y0, thickness * HALF);
    this.#disc(x1, y1, thickness * HALF);
  }

  // A regular polygon, of the more corners the larger it is.
  #disc(x, y, radius) {
    const size = (radius + HALF) >> 16;
    const step = size < 3 ? 90 : size < 10 ? 30 : size < 15 ? 18 : 5;
    const [xs, ys] = [[], []];
    for (let angle = 0; angle <= 360; angle += step) {
      const [px, py] = [rounded(x + radius * sine(90 - angle)), rounded(y + radius * sine(angle))];
      if (px === xs.at(-1) && py === ys.at(-1)) continue;
      xs.push(px);
      ys.push(py);
    }
    this.#polygon(xs, ys);
  }

  // A convex polygon: its outline anti-aliased, then row by row what lies inside.
  #polygon(xs, ys) {
    const count = xs.length;
    for (let i = 0; i < count; i++) this.#line(xs.at(i - 1), ys.at(i - 1), xs[i], ys[i]);
    const row = (value) => (value + HALF) >> 16;
    const [top, bottom] = [row(Math.min(...ys)), row(Math.max(...ys))];
    const start = ys.indexOf(Math.min(...ys));
    // The two sides, from the top corner round either way.
    const sides = [1, count - 1].map((way) => ({ way, at: start, x: -ONE, dx: 0, end: top }));
    let left = count;
    for (let y = top; y <= bottom; y++) {
      for (const side of y < bottom || y === top ? sides : []) {
        if (y < side.end) continue;
        let from = side.at;
        let to = (from + side.way) % count;
        while (left-- > 0) {
          const end = row(ys[to]);
          if (end > y) {
            const rows = end - y;
            side.dx = Math.trunc(((xs[to] - xs[from]) * 2 + rows) / (2 * rows));
            Object.assign(side, { end, x: xs[from], at: to });
            break;
          }
          [from, to] = [to, (to + side.way) % count];
        }
      }
      if (left < 0) break;
      const [one, other] = [sides[0].x, sides[1].x];
      const [first, last] = [(Math.min(one, other) + ONE - 1) >> 16, Math.max(one, other) >> 16];
      if (first <= last) this.pixels.fill(255, y * this.width + first, y * this.width + last + 1);
      for (const side of sides) side.x += side.dx;
    }
  }

  // A line one pixel wide, blurred by a Gaussian over three pixels across; its ends count by the
  // share of their pixel that they cover.
  #line(x0, y0, x1, y1) {
    const { width, pixels } = this;
    const level = Math.abs(x1 - x0) > Math.abs(y1 - y0);
    let [a0, b0, a1, b1] = level ? [x0, y0, x1, y1] : [y0, x0, y1, x1];
    if (a1 < a0) [a0, b0, a1, b1] = [a1, b1, a0, b0];
    const [along, across] = level ? [1, width] : [width, 1];
    const step = Math.trunc(((b1 - b0) * ONE) / ((a1 - a0) | 1));
    a1 += ONE;
    let remaining = (a1 >> 16) - (a0 >> 16);
    let b = b0 + Math.floor((step * -(a0 & (ONE - 1))) / ONE) + HALF;
    const number = ((step >> 11) & 63) ^ (step < 0 ? 63 : 0);
    const full = number & 32 ? 256 : SLOPED[number];
    const [i, j] = [(a0 >> 9) & 0x78, (a1 >> 9) & 0x78]; // fractions of the end pixels
    const share = (part) => ((part * full) >> 8) & 511;
    const [begun, ended] = [(0x78 - i) | 4, j | 4];
    const both = share(((j - i) & 0x78) | 4);
    const shares = [0, both, share(begun), both, share((j - i + 0x80) | 4), share(begun + 128), share(ended), share(ended + 128), full];
    let place = (a0 >> 16) * along;
    for (let done = 0; remaining >= 0; done++, remaining--) {
      const part = shares[Math.min(done, 2) * 3 + Math.min(remaining, 2)];
      const away = (b >> 11) & 31;
      let at = place + ((b >> 16) - 1) * across;
      for (const near of [NEAR[away + 32], NEAR[away], NEAR[63 - away]]) {
        const a = ((part * near) >> 8) & 255;
        let value = pixels[at];
        value += ((255 - value) * a + 127) >> 8;
        pixels[at] = value + (((255 - value) * a + 127) >> 8);
        at += across;
      }
      b += step;
      place += along;
    }
  }

  // The means of 2 × 2 pixels, without the edge.
  halved() {
    const { edge, width: across, pixels: p } = this;
    const [width, height] = [across, this.height].map((side) => side / 2 - edge);
    return Uint8Array.from({ length: width * height }, (_, i) => {
      const at = (2 * Math.floor(i / width) + edge) * across + 2 * (i % width) + edge;
      return (p[at] + p[at + 1] + p[at + across] + p[at + across + 1] + 2) >> 2;
    });
  }
}

// Nearest whole number, of two the even one.
export function rounded(value) {
  const low = Math.floor(value);
  const rest = value - low;
  return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1;
}

// Sines of whole degrees from -270 on, to seven digits in single precision.
const SINES = Float32Array.from({ length: 631 }, (_, i) => Math.sin(((i - 270) * Math.PI) / 180).toFixed(7));
const sine = (degrees) => SINES[degrees + 270];
