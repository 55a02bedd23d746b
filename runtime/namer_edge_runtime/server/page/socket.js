// The line to the server: changes of the ink go out, readings come back; pictures go by POST.

const LONGEST_PAUSE = 8000;
const IDLE = 4408; // the server's close code where nothing was written for long

export class Socket {
  #revision; // counts what the page has shown
  #awaited; // whether a reading of that is to come
  #pause = 500;
  #sent = 0;
  #idle = false;

  // `on`: state(name), reading(reading, milliseconds), failed(message, isLate)
  constructor(ink, on) {
    Object.assign(this, { ink, on });
    this.#revision = 0;
    this.#awaited = !ink.blank;
    this.#open();
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.#idle = false;
    this.socket = new WebSocket(`${scheme}://${location.host}/pen`);
    this.socket.onopen = () => {
      this.on.state("ready");
      const add = [...this.ink.strokes.values()];
      if (add.length || this.#awaited) this.#say({ remove: [], add });
    };
    this.socket.onmessage = (event) => this.#told(JSON.parse(event.data));
    this.socket.onclose = ({ code }) => {
      this.#idle = code === IDLE;
      this.on.state(this.#idle ? "idle" : "away");
      if (this.#idle) return;
      setTimeout(() => this.#open(), this.#pause);
      this.#pause = Math.min(LONGEST_PAUSE, 2 * this.#pause);
    };
  }

  // What the page shows has changed: answers to what it showed before are late from now on, and
  // one to this comes where it is `wanted`: of a picture, the page has the reading already.
  send({ remove, add }, wanted = true) {
    this.#revision += 1;
    this.#awaited = wanted;
    if (remove.length || add.length || wanted) this.#say({ remove, add });
    if (!wanted) this.#rest();
  }

  // While there is no line nothing is sent: once there is, all strokes are.
  #say({ remove, add }) {
    if (this.#idle) this.#open();
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.#sent = performance.now();
    if (this.#awaited) this.on.state("reading");
    const locks = this.ink.locks.map(({ strokes, at, text }) => ({ strokes, at, text }));
    const change = { revision: this.#revision, remove: remove.map((stroke) => stroke.id), add, locks };
    this.socket.send(JSON.stringify(change));
  }

  #rest() {
    if (this.socket.readyState === WebSocket.OPEN) this.on.state("ready");
    else if (!this.#idle) this.on.state("away");
    else this.on.state("idle");
  }

  #told(answer) {
    this.#pause = 500;
    const late = !this.#awaited || answer.revision !== this.#revision;
    if (answer.error) this.on.failed(answer.error.message, late); // late or not: a change was refused
    if (late) return;
    this.#awaited = false;
    this.#rest();
    if (!answer.error) this.on.reading(answer, performance.now() - this.#sent);
  }

  // Begins something that takes the place of what is shown, unless that changes before: the answer
  // is a function that says whether it has.
  begin() {
    this.#revision += 1;
    this.#awaited = false;
    this.on.state("reading");
    const revision = this.#revision;
    return () => revision !== this.#revision;
  }

  // The reading of a picture; throws an Error that says why there is none.
  async post(blob) {
    const started = performance.now();
    try {
      const response = await fetch("/recognize?alternatives=4", { method: "POST", body: blob });
      const answer = await response.json().catch(() => ({}));
      if (!response.ok) throw new Error(answer.error?.message ?? `the server said ${response.status}`);
      return { answer, spent: performance.now() - started };
    } catch (error) {
      if (error instanceof TypeError) throw new Error("the server cannot be reached");
      throw error;
    }
  }
}
