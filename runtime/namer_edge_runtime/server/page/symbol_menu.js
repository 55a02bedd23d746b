// The menu of one symbol: what else it may be, which strokes are its, where it stands.

import { percent } from "./formula.js";

const SCRIPTS = { "^": "Superscript", _: "Subscript", "": "On the line" };

export class SymbolMenu {
  // `on`: chosen(text), script(text), join(), split(), release(), removed(), left()
  constructor(element, on) {
    Object.assign(this, { element, on });
    element.addEventListener("pointerdown", (event) => event.target.closest("button") && event.preventDefault()); // the formula keeps the focus
    element.addEventListener("keydown", (event) => this.#key(event));
  }

  // `symbol`: {text, strokes, alternatives, locked} of a reading; `isFirst` has nothing before it.
  show(symbol, isFirst) {
    this.element.hidden = false;
    const { strokes, alternatives = [], locked } = symbol;
    const can = alternatives.length > 0; // who reads takes corrections
    this.element.replaceChildren(
      ...alternatives.map((other) => this.#class(other)),
      ...(can ? [this.#field()] : []),
      ...(can && strokes.length && !isFirst ? Object.entries(SCRIPTS).map(([text, name]) => this.#button(name, () => this.on.script(text), "script")) : []),
      ...(can && strokes.length ? [this.#button("Join …", () => this.on.join(), "join")] : []),
      ...(can && strokes.length > 1 ? [this.#button(strokes.length > 2 ? "Split …" : "Split", () => this.on.split(), "split")] : []),
      ...(can && locked && strokes.length ? [this.#button("Let go", () => this.on.release(), "release")] : []),
      ...(strokes.length || can ? [this.#button("Delete", () => this.on.removed(), "remove")] : []),
    );
  }

  hide() {
    this.element.hidden = true;
    this.element.replaceChildren();
  }

  focus() { this.element.querySelector("button, input")?.focus(); }

  #class({ text, sign, score }) {
    const button = this.#button(sign ?? text, () => this.on.chosen(text), "class");
    const small = document.createElement("small");
    small.textContent = percent(score);
    button.append(small);
    button.dataset.text = text;
    button.setAttribute("aria-label", ["It is", text, percent(score)].filter(Boolean).join(" "));
    return button;
  }

  #button(name, onclick, kind) {
    const button = Object.assign(document.createElement("button"), { textContent: name, onclick, className: kind });
    if (kind === "remove") button.id = kind;
    return button;
  }

  #field() {
    const field = Object.assign(document.createElement("input"), { placeholder: "other", size: 6, autocomplete: "off", spellcheck: false, id: "another" });
    field.setAttribute("aria-label", "Another symbol, as LaTeX; Enter takes it");
    field.setAttribute("autocapitalize", "off");
    field.setAttribute("enterkeyhint", "done");
    return field;
  }

  #key(event) {
    event.stopPropagation(); // letters are no shortcuts here
    const { key, target } = event;
    if (key === "Escape") return this.on.left();
    if (key === "Enter" && target.matches("input") && target.value.trim()) return this.on.chosen(target.value.trim());
    const way = target.matches("input") && target.value ? 0 : { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    if (!way) return;
    const all = [...this.element.children];
    all[(all.indexOf(target) + way + all.length) % all.length].focus();
    event.preventDefault();
  }
}
