// Anti-aliased polylines and dots as OpenCV draws them (LINE_AA, 16.16 fixed point): the model has
// seen ink drawn by that, and reads other edges less surely.

const ONE = 1 << 16;
const HALF = ONE >> 1;
// Share, of 256, that a pixel takes at 1/32 pixels from the middle of a line: a Gaussian.
const NEAR = Uint8Array.from({ length: 64 }, (_, i) => 255 * Math.exp(-(((i - 15.5) / 24) ** 2)));
// How much more a sloping line covers of a column than a level one, in 1/256, by 32 slopes.
const SLOPED = Uint8Array.from({ length: 32 }, (_, i) => 256 * Math.sqrt((1 + ((i + 0.5) / 32) ** 2) / 2));

export class Raster {
  constructor(width, height) {
    Object.assign(this, { width, height, pixels: new Uint8Array(width * height) });
  }

  // Points [x, y, x, y, …] in 1/16 pixels, joined by lines of `thickness` pixels with round ends.
  polyline(points, thickness) {
    for (let i = 2; i < points.length; i += 2) {
      const [x0, y0, x1, y1] = Array.from(points.slice(i - 2, i + 2), (value) => value * (ONE >> 4));
      if (thickness <= 1) this.#line(x0, y0, x1, y1);
      else this.#thick(x0, y0, x1, y1, thickness, i === 2);
    }
  }

  // A disc; all in 1/16 pixels.
  dot(x, y, radius) {
    this.#disc(x * (ONE >> 4), y * (ONE >> 4), radius * (ONE >> 4));
  }

  #thick(x0, y0, x1, y1, thickness, isFirst) {
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
    const [top, lowest] = [row(Math.min(...ys)), row(Math.max(...ys))];
    if (count < 3 || row(Math.max(...xs)) < 0 || lowest < 0) return;
    if (row(Math.min(...xs)) >= this.width || top >= this.height) return;
    const bottom = Math.min(lowest, this.height - 1);
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
      const first = Math.max(0, (Math.min(one, other) + ONE - 1) >> 16);
      const last = Math.min(this.width - 1, Math.max(one, other) >> 16);
      if (y >= 0 && first <= last) this.pixels.fill(255, y * this.width + first, y * this.width + last + 1);
      for (const side of sides) side.x += side.dx;
    }
  }

  // A line one pixel wide, blurred by a Gaussian over three pixels across; its ends count by the
  // share of their pixel that they cover.
  #line(x0, y0, x1, y1) {
    const { width, height, pixels } = this;
    const ends = clipped([x0 - 2 * ONE, y0 - 2 * ONE, x1 - 2 * ONE, y1 - 2 * ONE], (width - 5) * ONE, (height - 5) * ONE);
    if (!ends) return;
    const level = Math.abs(ends[2] - ends[0]) > Math.abs(ends[3] - ends[1]);
    let [a0, b0, a1, b1] = level ? ends : [ends[1], ends[0], ends[3], ends[2]];
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
    let place = 2 * width + 2 + (a0 >> 16) * along;
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

  // The means of 2 × 2 pixels.
  halved() {
    const [width, height] = [this.width >> 1, this.height >> 1];
    const small = new Uint8Array(width * height);
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0, from = 2 * y * this.width; x < width; x++, from += 2) {
        const next = from + this.width;
        const { pixels: p } = this;
        small[at++] = (p[from] + p[from + 1] + p[next] + p[next + 1] + 2) >> 2;
      }
    }
    return small;
  }
}

// Nearest whole number, of two the even one.
export function rounded(value) {
  const low = Math.floor(value);
  const rest = value - low;
  return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1;
}

// Sine of whole degrees, to seven digits in single precision.
function sine(degrees) {
  return Math.fround(Number(Math.sin((degrees * Math.PI) / 180).toFixed(7)));
}

// The part of a line [x0, y0, x1, y1] between 0 and `right`, 0 and `bottom`; null where there is none.
function clipped(ends, right, bottom) {
  for (const [axis, most] of [[1, bottom], [0, right]]) {
    for (const end of [0, 2]) {
      const [here, there] = [end + axis, 2 - end + axis];
      const limit = ends[here] < 0 ? 0 : ends[here] > most ? most : null;
      if (limit === null) continue;
      if (limit === 0 ? ends[there] < 0 : ends[there] > most) return null;
      const aside = end + 1 - axis;
      const share = ((limit - ends[here]) * (ends[2 - end + 1 - axis] - ends[aside])) / (ends[there] - ends[here]);
      ends[aside] += Math.trunc(share);
      ends[here] = limit;
    }
  }
  return ends;
}
