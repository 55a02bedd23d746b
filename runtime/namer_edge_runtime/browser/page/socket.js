// The line to the reader in this browser, under the names of the one to a server: changes of the ink
// go out, readings come back.

const LONGEST_PAUSE = 8000;

export class Socket {
  #revision = 0; // counts what the page has shown
  #awaited; // whether a reading of that is to come
  #isReady = false;
  #pause = 500;
  #sent = 0;
  #picture = null; // of the picture that is being read: its revision, and how to answer

  // `on`: state(name), reading(reading, milliseconds), failed(message)
  constructor(ink, on) {
    Object.assign(this, { ink, on });
    this.#awaited = !ink.blank;
    stored().then(() => this.#open());
  }

  #open() {
    this.reader = new Worker(new URL("reader.js", import.meta.url), { type: "module" });
    this.reader.onmessage = ({ data }) => this.#told(data);
    this.reader.onerror = (event) => this.#lost(event.message || "the reader cannot be loaded");
  }

  #lost(message) {
    this.#isReady = false;
    this.#picture?.reject(new Error(message));
    this.reader.terminate();
    this.on.state("away");
    this.on.failed(message);
    setTimeout(() => this.#open(), this.#pause);
    this.#pause = Math.min(LONGEST_PAUSE, 2 * this.#pause);
  }

  // What the page shows has changed: answers to what it showed before are late from now on, and one to
  // this comes where it is `wanted`.
  send(_, wanted = true) {
    this.#revision += 1;
    this.#awaited = wanted;
    this.#say(wanted ? { strokes: [...this.ink.strokes.values()] } : {});
    if (!wanted && this.#isReady) this.on.state("ready");
  }

  // A change without anything to read calls the last reading off.
  #say(what) {
    this.#sent = performance.now();
    if (!this.#isReady) return;
    if (this.#awaited) this.on.state("reading");
    this.reader.postMessage({ revision: this.#revision, ...what });
  }

  #told({ revision, answer, error, isReady }) {
    if (isReady) {
      [this.#isReady, this.#pause] = [true, 500];
      this.on.state("ready");
      if (this.#awaited) this.#say({ strokes: [...this.ink.strokes.values()] });
      return;
    }
    if (isReady === false) return this.#lost(error);
    if (revision === this.#picture?.revision) {
      if (answer) this.#picture.resolve({ answer, spent: performance.now() - this.#sent });
      else this.#picture.reject(new Error(error ?? "called off"));
      this.#picture = null;
    }
    if (error) this.on.failed(error);
    if (!this.#awaited || revision !== this.#revision) return;
    this.#awaited = false;
    this.on.state("ready");
    if (answer) this.on.reading(answer, performance.now() - this.#sent);
  }

  // Begins something that takes the place of what is shown, unless that changes before: the answer is a
  // function that says whether it has.
  begin() {
    this.#revision += 1;
    this.#awaited = false;
    this.on.state("reading");
    const revision = this.#revision;
    return () => revision !== this.#revision;
  }

  // The reading of a picture; throws an Error that says why there is none.
  async post(blob) {
    const revision = this.#revision;
    if (!this.#isReady) throw new Error("the reader is not loaded yet: try again");
    const bitmap = await createImageBitmap(blob).catch(() => {
      throw new Error("this is no picture that the browser can open");
    });
    return new Promise((resolve, reject) => {
      if (revision !== this.#revision) return reject(new Error("called off"));
      this.#picture = { revision, resolve, reject };
      this.#say({ bitmap });
    });
  }
}

// Resolves once the files of the page are stored for later, so that each is fetched once; where the
// browser stores none, at once.
async function stored() {
  try {
    const { installing, waiting } = await navigator.serviceWorker.register(new URL("../service_worker.js", import.meta.url));
    const worker = installing ?? waiting;
    if (!worker || navigator.serviceWorker.controller) return; // an update takes its time
    await new Promise((resolve) => {
      worker.onstatechange = () => ["activated", "redundant"].includes(worker.state) && resolve();
    });
  } catch {} // not offered to pages without TLS
}
