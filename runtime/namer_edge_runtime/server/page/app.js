// Puts ink, board, link and formula together.

import { scriptLock, withLock } from "./corrections.js";
import { DrawingCanvas } from "./drawing_canvas.js";
import { FORMATS, fit, percent, spoken, tokenAt, tokenNear, typeset } from "./formula.js";
import { forget, formulas, keepFormula, keepInk, keptInk } from "./history.js";
import { Ink } from "./ink.js";
import { struckOut } from "./scratch.js";
import { Socket } from "./socket.js";
import { SymbolMenu } from "./symbol_menu.js";

const $ = (id) => document.getElementById(id);
const STATES = { ready: "ready", reading: "reading", away: "connection lost, trying again", waiting: "connecting", idle: "paused until you write" };
const MESSAGE = 7000; // milliseconds that a message stays

const ink = new Ink(keptInk());
let reading = null; // the answer of the server
let shown = null; // it, or one of its alternatives
let lit = null; // place of a token in what is shown
let pinned = false; // whether it stays so when the pointer goes
let awaiting = null; // what the next tap is for: called with the stroke and the place tapped
let fade;

const board = new DrawingCanvas($("canvas"), ink, {
  written: (points) => {
    const { picture } = ink;
    const struck = picture ? [] : struckOut(points, ink.strokes.values());
    if (struck.length) return changed(ink.change({ remove: struck }));
    changed(ink.change({ add: [ink.stroke(points)] }));
    if (picture) tell("The picture made room for what you write: Undo brings it back.");
  },
  erased: (strokes) => changed(ink.change({ remove: strokes })),
  tapped: (stroke, place) => {
    const found = shown && (stroke ? tokenOf(stroke) : tokenNear(shown, { ...place }));
    if (found === null || found === undefined) return false;
    tap(found, stroke);
    return true;
  },
  pointed: (stroke, place) => {
    if (pinned) return;
    if (!shown || (!stroke && !place)) return light(null);
    light(stroke ? tokenOf(stroke) : tokenNear(shown, { ...place }));
  },
});

const link = new Socket(ink, {
  state: (name) => {
    $("state").dataset.state = name;
    $("state").textContent = STATES[name];
    $("formula").classList.toggle("stale", name === "reading");
  },
  reading: show,
  failed: (message, isLate) => {
    tell(message);
    const step = isLate ? null : ink.takeBack();
    if (step) changed(step, false);
  },
});

const menu = new SymbolMenu($("menu"), {
  chosen: (text) => correct(({ strokes }, place) => (strokes.length ? { strokes, text } : scriptLock(reading, place + 1, text, ink.strokes))),
  script: (text) => correct((_, place) => scriptLock(reading, place, text, ink.strokes)),
  release: () => {
    const own = new Set(strokesOf(lit));
    changed(ink.change({ picture: ink.picture, locks: ink.locks.filter(({ strokes }) => !strokes.some((id) => own.has(id))) }));
  },
  join: () => wait("Tap what belongs to it.", (other) => correct(({ strokes }) => ({ strokes: [...new Set([...strokes, ...strokesOf(other)])], text: null }))),
  split,
  removed: remove,
  left: () => $("formula").focus(),
});

function changed(step, isQuiet = true) {
  if (!step) return;
  if (isQuiet) $("message").hidden = true;
  $("wait").hidden = true;
  keepInk(ink);
  light(null);
  refresh();
  link.send(step, !step.to);
  if (step.to) show(step.to.reading, step.to.spent);
}

function refresh() {
  $("undo").disabled = !ink.canUndo;
  $("redo").disabled = !ink.canRedo;
  $("clear").disabled = ink.blank;
  $("hint").hidden = !ink.blank;
  board.draw();
}

function show(answer, spent) {
  reading = answer;
  const { engine, device, precision, milliseconds } = answer;
  const times = `read in ${Math.round(milliseconds.total)} ms, ${Math.round(spent)} ms round trip`;
  $("facts").textContent = `${times} · ${engine} on ${device}, ${precision}`;
  $("spoken").textContent = answer.latex ? spoken(answer) : "";
  const readings = answer.latex ? [answer, ...answer.alternatives] : [];
  $("others").hidden = readings.length < 2;
  $("others").replaceChildren(...readings.map((one, place) => choice(one, place === 0)));
  for (const button of $("others").children) fit(button);
  $("lines").hidden = !answer.lines;
  let first = 0; // place of the line's first token among all
  $("lines").replaceChildren(...(answer.lines ?? []).map((one) => line(one, (first += one.tokens.length) - one.tokens.length)));
  choose(answer);
}

// One of several lines, with its score; pointing at it marks its ink.
function line(one, first) {
  const item = document.createElement("li");
  const code = document.createElement("code");
  code.textContent = one.latex;
  const score = document.createElement("small");
  score.textContent = percent(one.score);
  item.append(code, score);
  item.onpointerenter = () => {
    light(null);
    const symbols = ink.picture ? [] : (reading.symbols ?? []).slice(first, first + one.tokens.length);
    board.lit = new Set(symbols.flatMap((symbol) => symbol.strokes));
    const { symbol_height: height } = reading;
    board.spots = ink.picture ? one.tokens.map(({ x, y }) => ({ x, y, radius: 0.75 * height })) : [];
    board.draw();
  };
  item.onpointerleave = () => {
    board.lit = new Set();
    board.spots = [];
    board.draw();
  };
  return item;
}

function choice(one, first) {
  const button = document.createElement("button");
  button.setAttribute("role", "radio");
  button.setAttribute("aria-checked", String(first));
  button.setAttribute("aria-label", spoken(one));
  button.tabIndex = first ? 0 : -1;
  const score = document.createElement("small");
  score.textContent = percent(one.score);
  button.append(...typeset({ ...one, mathml: one.mathml.replace(' display="block"', "") }), score);
  button.onclick = () => {
    for (const other of $("others").children) {
      other.setAttribute("aria-checked", String(other === button));
      other.tabIndex = other === button ? 0 : -1;
    }
    choose(one);
  };
  return button;
}

function choose(one) {
  shown = one;
  $("formula").replaceChildren(...typeset(one));
  if (one === reading) mark(one.symbols ?? []);
  fit($("formula"));
  $("latex").textContent = one.latex;
  $("copy").disabled = !one.latex;
  light(null);
}

// Underlines the symbols that the writer chose.
function mark(symbols) {
  for (const element of $("formula").querySelectorAll("[data-token]")) {
    element.classList.toggle("locked", Boolean(symbols[element.dataset.token]?.locked));
  }
}

// Strokes of a token; another reading's tokens have those of the answer's nearest.
function strokesOf(place) {
  if (!reading?.symbols || ink.picture) return [];
  if (shown === reading) return reading.symbols[place]?.strokes ?? [];
  const nearest = tokenNear(reading, shown.tokens[place]);
  return nearest === null ? [] : reading.symbols[nearest]?.strokes ?? [];
}

function tokenOf(stroke) {
  if (!reading?.symbols) return null;
  const place = reading.symbols.findIndex((symbol) => symbol.strokes.includes(stroke.id));
  if (place < 0 || shown === reading) return place < 0 ? null : place;
  return tokenNear({ ...shown, symbol_height: reading.symbol_height }, reading.tokens[place]);
}

// The place of a token of what is shown in the answer, whose symbols are known.
function placeOf(place) {
  return shown === reading || place === null ? place : tokenNear(reading, shown.tokens[place]);
}

// Says of the marked symbol what `lock` makes of it.
function correct(lock, place = placeOf(lit)) {
  const symbol = reading?.symbols?.[place];
  if (symbol) changed(ink.change({ locks: withLock(ink.locks, lock(symbol, place)) }));
}

// Of two strokes each is a symbol; of more, the one that is tapped is.
function split() {
  const place = placeOf(lit);
  const { strokes } = reading.symbols[place];
  const apart = (parts) => changed(ink.change({ locks: parts.reduce((locks, part) => withLock(locks, { strokes: part, text: null }), ink.locks) }));
  if (strokes.length === 2) return apart(strokes.map((id) => [id]));
  wait("Tap the stroke that does not belong to it.", (_, stroke) => {
    if (stroke && strokes.includes(stroke.id)) apart([[stroke.id], strokes.filter((id) => id !== stroke.id)]);
  });
}

// What the next tap on a symbol is for.
function wait(message, then) {
  const marked = lit;
  tell(message);
  awaiting = (place, stroke) => {
    lit = marked;
    then(place, stroke);
  };
}

function tap(place, stroke) {
  if (awaiting) {
    const then = awaiting;
    awaiting = null;
    $("message").hidden = true;
    return then(place, stroke);
  }
  $("formula").focus({ preventScroll: true });
  light(place, true);
}

// Marks a symbol here and there, or none; with `pin`, until something else is done.
function light(place, pin = false) {
  if (place === lit && place === null) return;
  lit = place;
  pinned = pin && place !== null;
  const symbol = pinned ? { ...reading.symbols?.[placeOf(place)], strokes: strokesOf(place) } : null;
  if (symbol && !ink.picture) menu.show(symbol, !reading.symbols?.slice(0, placeOf(place)).some(({ strokes }) => strokes.length));
  else menu.hide();
  for (const element of $("formula").querySelectorAll("[data-token]")) {
    element.classList.toggle("lit", Number(element.dataset.token) === place);
  }
  const token = place === null ? null : shown.tokens[place];
  const isChosen = token && !ink.picture && shown === reading && reading.symbols?.[place]?.locked;
  $("symbol").textContent = token ? `${token.text}  ${isChosen ? "as you said" : percent(token.score)}` : "";
  board.lit = new Set(token ? strokesOf(place) : []);
  board.spots = token && ink.picture ? [{ x: token.x, y: token.y, radius: 0.75 * reading.symbol_height }] : [];
  board.draw();
}

function tell(message) {
  $("message").textContent = message;
  $("message").hidden = false;
  clearTimeout(fade);
  fade = setTimeout(() => ($("message").hidden = true), MESSAGE);
}

async function take(blob) {
  $("message").hidden = true;
  const late = link.begin();
  $("wait").hidden = false;
  try {
    const { answer, spent } = await link.post(blob);
    const bitmap = await createImageBitmap(blob).catch(() => sheet(answer));
    while (board.writing) await new Promise(requestAnimationFrame);
    if (late()) return;
    if (shown) keepFormula(shown, ink);
    changed(ink.change({ remove: ink.strokes.values(), picture: { bitmap, reading: answer, spent } }));
  } catch (error) {
    if (late()) return;
    $("wait").hidden = true;
    tell(error.message);
    link.send({ remove: [], add: [] }, !ink.picture); // a reading of the ink was called off
  }
}

// In the place of what the server can read and the browser cannot show, as InkML and TIFF.
function sheet(answer) {
  const far = (axis) => Math.max(1, ...answer.tokens.map((token) => token[axis])) + 2 * answer.symbol_height;
  return new OffscreenCanvas(Math.ceil(far("x")), Math.ceil(far("y")));
}

async function copy() {
  if (!shown?.latex) return;
  keepFormula(shown, ink);
  const text = FORMATS[$("format").value](shown);
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not offered to pages without TLS
    const field = Object.assign(document.createElement("textarea"), { value: text, className: "unseen" });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  $("copy").lastElementChild.textContent = "Copied";
  setTimeout(() => ($("copy").lastElementChild.textContent = "Copy"), 1500);
}

async function photograph() {
  if (!navigator.mediaDevices?.getUserMedia) return $("shot").click();
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment", width: 1920 } });
  } catch {
    return tell("the camera is not allowed, or not there");
  }
  const shutter = $("finder").querySelector("[value=take]");
  shutter.disabled = true; // until there is something to take
  $("video").onloadeddata = () => (shutter.disabled = false);
  $("video").srcObject = stream;
  $("finder").returnValue = "cancel";
  $("finder").showModal();
  $("finder").onclose = () => {
    const { videoWidth: width, videoHeight: height } = $("video");
    if ($("finder").returnValue === "take" && width) {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      canvas.getContext("2d").drawImage($("video"), 0, 0);
      canvas.toBlob((blob) => take(blob), "image/jpeg", 0.92);
    }
    stream.getTracks().forEach((track) => track.stop());
    $("video").srcObject = null;
  };
}

function tool(erasing) {
  board.erasing = erasing;
  $("canvas").classList.toggle("erasing", erasing);
  $("pen").setAttribute("aria-checked", String(!erasing));
  $("eraser").setAttribute("aria-checked", String(erasing));
}

function clear() {
  if (shown) keepFormula(shown, ink);
  changed(ink.clear());
}

// What was cleared or copied before, to be taken back.
function openFormulas() {
  const list = formulas().map((one) => {
    const button = document.createElement("button");
    button.append(...typeset({ ...one, mathml: one.mathml.replace(' display="block"', "") }));
    button.setAttribute("aria-label", one.latex);
    button.onclick = () => {
      $("formulas").close();
      takeBack(one);
    };
    return button;
  });
  $("formulas").returnValue = "";
  $("formulas").firstElementChild.replaceChildren(...list);
  $("formulas").showModal();
}

function takeBack({ strokes, locks = [] }) {
  const names = new Map();
  const add = strokes.map(({ id, points }) => {
    const stroke = ink.stroke(points);
    names.set(id, stroke.id);
    return stroke;
  });
  const renamed = (ids) => ids?.map((id) => names.get(id));
  if (shown) keepFormula(shown, ink);
  changed(ink.change({ remove: ink.strokes.values(), add, locks: locks.map((lock) => ({ ...lock, strokes: renamed(lock.strokes), beside: renamed(lock.beside) })) }));
}

// Arrow keys walk through the symbols of the formula that can be pointed at.
function walk(steps) {
  const places = [...$("formula").querySelectorAll("[data-token]")].map((e) => Number(e.dataset.token)).sort((a, b) => a - b);
  if (!places.length) return;
  const at = places.indexOf(lit);
  light(places[(at < 0 ? (steps > 0 ? 0 : -1) : at + steps + places.length) % places.length] ?? places.at(-1), true);
}

// With its strokes; a symbol without any is said not to be there.
function remove() {
  const ids = new Set(strokesOf(lit));
  if (!ids.size) return correct((_, place) => scriptLock(reading, place + 1, "", ink.strokes));
  changed(ink.change({ remove: [...ink.strokes.values()].filter((stroke) => ids.has(stroke.id)) }));
}

$("pen").onclick = () => tool(false);
$("eraser").onclick = () => tool(true);
$("undo").onclick = () => changed(ink.undo());
$("redo").onclick = () => changed(ink.redo());
$("clear").onclick = clear;
$("copy").onclick = copy;
$("format").onchange = copy;
$("last").onclick = openFormulas;
$("formulas").onclose = () => $("formulas").returnValue === "forget" && forget();
$("keys").onclick = () => $("help").showModal();
$("open").onclick = () => $("file").click();
$("camera").onclick = photograph;
for (const id of ["file", "shot"]) {
  $(id).onchange = () => {
    if ($(id).files.length) take($(id).files[0]);
    $(id).value = "";
  };
}
$("camera").hidden = !navigator.mediaDevices?.getUserMedia && !matchMedia("(pointer: coarse)").matches;

$("formula").onpointermove = (event) => pinned || light(tokenAt(event.target));
$("formula").onpointerleave = () => pinned || light(null);
$("formula").onclick = (event) => { // fingers do not hover
  const place = tokenAt(event.target);
  if (awaiting && place !== null) tap(place, null);
  else light(place, true);
};
const inside = (element) => $("menu").contains(element) || element === $("formula");
$("formula").onblur = ({ relatedTarget }) => inside(relatedTarget) || awaiting || light(null);
$("menu").addEventListener("focusout", ({ relatedTarget }) => inside(relatedTarget) || awaiting || !relatedTarget || light(null));
addEventListener("resize", () => [$("formula"), ...$("others").children].forEach(fit));
$("formula").onkeydown = (event) => {
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    walk(event.key === "ArrowRight" ? 1 : -1);
    event.preventDefault();
  } else if (event.key === "Enter" && lit !== null) {
    if (awaiting) tap(lit, null);
    else {
      light(lit, true);
      menu.focus();
    }
    event.preventDefault();
  } else if (event.key === "Escape") {
    awaiting = null;
    $("message").hidden = true;
    light(null);
  } else if (event.key === "Delete" && lit !== null) {
    remove();
    event.stopPropagation();
  }
};
$("others").onkeydown = (event) => {
  const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!way) return;
  const all = [...$("others").children];
  const next = all[(all.indexOf(document.activeElement) + way + all.length) % all.length];
  next.focus();
  next.click();
  event.preventDefault();
};

document.addEventListener("keydown", (event) => {
  const held = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  const action = held
    ? { z: () => changed(event.shiftKey ? ink.redo() : ink.undo()), y: () => changed(ink.redo()), o: () => $("file").click(),
        c: String(getSelection()) ? null : copy }[key]
    : event.altKey ? null : { p: () => tool(false), e: () => tool(true), delete: clear, h: openFormulas, "?": () => $("help").showModal() }[key];
  if (!action || document.querySelector("dialog[open]") || (!held && event.target === $("format"))) return;
  event.preventDefault();
  action();
});
document.addEventListener("paste", (event) => {
  const file = [...(event.clipboardData?.files ?? [])][0];
  if (file) take(file);
  else tell("there is no picture to paste");
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  $("paper").classList.add("dropping");
});
document.addEventListener("dragleave", () => $("paper").classList.remove("dropping"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("paper").classList.remove("dropping");
  if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
});

refresh();
