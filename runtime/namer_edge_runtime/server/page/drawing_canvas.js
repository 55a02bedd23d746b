// The canvas: draws ink or a picture, and turns the pointer into strokes, erasures and pointing.

const WIDTH = 3;
const REACH = 12;
const MARGIN = 16;
const TAP = 6; // CSS pixels: a tap moves less, and is no further from the ink that it means
const TAPPED = 500; // milliseconds that it takes at most
const PALM = 600; // milliseconds after the pen in which touches are the hand that holds it

export class DrawingCanvas {
  erasing = false;
  lit = new Set(); // ids of strokes
  spots = []; // {x, y, radius} in pixels of the picture

  // `on`: written(stroke), erased(strokes), tapped(stroke or null, {x, y} of the picture or null),
  // which says whether it was meant, pointed(the same)
  constructor(canvas, ink, on) {
    Object.assign(this, { canvas, ink, on, pen: canvas.getContext("2d") });
    this.penSeen = -Infinity;
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", () => this.#drop());
    canvas.addEventListener("pointerleave", () => this.on.pointed(null, null));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  get writing() { return this.pointer !== undefined; }

  // Ink keeps its size until the canvas is too small for it.
  get #view() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (this.ink.picture) {
      const { width: w, height: h } = this.ink.picture.bitmap;
      const scale = Math.min(2, (width - 2 * MARGIN) / w, (height - 2 * MARGIN) / h);
      return { scale, x: (width - w * scale) / 2, y: (height - h * scale) / 2 };
    }
    let [right, bottom] = [1, 1];
    for (const { points } of this.ink.strokes.values()) {
      for (const [x, y] of points) {
        right = Math.max(right, x);
        bottom = Math.max(bottom, y);
      }
    }
    return { scale: Math.min(1, width / (right + MARGIN), height / (bottom + MARGIN)), x: 0, y: 0 };
  }

  draw() {
    const { canvas, pen } = this;
    const ratio = devicePixelRatio || 1;
    const size = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const style = getComputedStyle(canvas);
    const color = (name) => resolved(canvas, style, name);
    const view = this.#view;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(view.scale * ratio, 0, 0, view.scale * ratio, view.x * ratio, view.y * ratio);
    pen.lineCap = pen.lineJoin = "round";
    if (this.ink.picture) {
      pen.drawImage(this.ink.picture.bitmap, 0, 0);
      pen.strokeStyle = color("--accent");
      pen.lineWidth = 3 / view.scale;
      for (const { x, y, radius } of this.spots) {
        pen.beginPath();
        pen.arc(x, y, radius, 0, 2 * Math.PI);
        pen.stroke();
      }
      return;
    }
    pen.lineWidth = WIDTH;
    const [dark, bright, halo] = [color("--ink"), color("--accent"), color("--wash")];
    const strokes = [...this.ink.strokes.values(), ...(this.drawn ? [{ points: this.drawn }] : [])];
    const lit = strokes.filter((stroke) => this.lit.has(stroke.id));
    for (const stroke of lit) this.#line(stroke.points, halo, 5 * WIDTH);
    for (const stroke of strokes) {
      const faded = this.rubbed?.has(stroke);
      pen.globalAlpha = faded ? 0.2 : 1;
      this.#line(stroke.points, this.lit.has(stroke.id) ? bright : dark, WIDTH);
    }
    pen.globalAlpha = 1;
  }

  #line(points, color, width) {
    const { pen } = this;
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(...points[0]);
    for (let i = 1; i < points.length - 1; i++) {
      const [[x, y], [nx, ny]] = [points[i], points[i + 1]];
      pen.quadraticCurveTo(x, y, (x + nx) / 2, (y + ny) / 2);
    }
    pen.lineTo(...points.at(-1));
    pen.stroke();
  }

  #place(event) {
    const box = this.canvas.getBoundingClientRect();
    const { scale, x, y } = this.view ?? this.#view;
    const round = (value) => Math.round(value * 100) / 100;
    return [round((event.clientX - box.x - x) / scale), round((event.clientY - box.y - y) / scale)];
  }

  #down(event) {
    if (event.pointerType === "pen") this.penSeen = event.timeStamp;
    else if (event.pointerType === "touch" && event.timeStamp - this.penSeen < PALM) return;
    if (this.writing || (event.button !== 0 && event.button !== 5)) return;
    event.preventDefault();
    document.activeElement?.blur();
    this.pointer = event.pointerId;
    this.began = event.timeStamp;
    this.canvas.setPointerCapture(event.pointerId);
    if (this.erasing || event.button === 5) {
      this.rubbed = new Set();
      this.#rub(event);
    } else {
      if (!this.ink.picture) this.view = this.#view;
      else this.view = { scale: 1, x: 0, y: 0 }; // the picture goes when the stroke is done
      this.drawn = [this.#place(event)];
      this.on.pointed(null, null);
      this.draw();
    }
  }

  #move(event) {
    if (event.pointerType === "pen") this.penSeen = event.timeStamp;
    if (!this.writing) return this.#point(event);
    if (event.pointerId !== this.pointer) return;
    const events = event.getCoalescedEvents?.() ?? [];
    for (const one of events.length ? events : [event]) {
      if (this.rubbed) this.#rub(one);
      else {
        const [x, y] = this.#place(one);
        const [lastX, lastY] = this.drawn.at(-1);
        if (Math.hypot(x - lastX, y - lastY) >= 1) this.drawn.push([x, y]);
      }
    }
    this.draw();
  }

  #up(event) {
    if (event.pointerId !== this.pointer) return;
    const { drawn, rubbed } = this;
    const scale = this.view?.scale ?? 1;
    this.#drop();
    const isTap = drawn && event.timeStamp - this.began <= TAPPED && drawn.every(([x, y]) => Math.hypot(x - drawn[0][0], y - drawn[0][1]) * scale < TAP);
    if (isTap && this.#tap(event, drawn[0], TAP / scale)) return;
    if (drawn) this.on.written(drawn);
    else if (rubbed?.size) this.on.erased([...rubbed]);
  }

  // Whether a tap at a point is of a symbol, and no dot.
  #tap(event, [x, y], reach) {
    if (this.ink.picture) {
      const [px, py] = this.#place(event);
      return this.on.tapped(null, { x: px, y: py });
    }
    const stroke = this.ink.near(x, y, reach);
    return Boolean(stroke) && this.on.tapped(stroke, null);
  }

  #drop() {
    this.pointer = this.drawn = this.rubbed = this.view = undefined;
    this.draw();
  }

  #rub(event) {
    const stroke = this.ink.near(...this.#place(event), REACH);
    if (stroke) this.rubbed.add(stroke);
  }

  #point(event) {
    const [x, y] = this.#place(event);
    if (this.ink.picture) this.on.pointed(null, { x, y });
    else this.on.pointed(this.ink.near(x, y, REACH), null);
  }
}

// A custom property as a color that a canvas takes: it does not know light-dark().
function resolved(element, style, name) {
  const before = element.style.color;
  element.style.color = `var(${name})`;
  const color = style.color;
  element.style.color = before;
  return color;
}
