// The line to the server: changes of the ink go out, readings come back; pictures go by POST.

const LONGEST_PAUSE = 8000;

export class Link {
  #revision = 0;
  #pause = 500;
  #sent = 0;

  // `on`: state(name), reading(reading, milliseconds), failed(message)
  constructor(ink, on) {
    Object.assign(this, { ink, on });
    this.#open();
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/pen`);
    this.socket.onopen = () => {
      this.#pause = 500;
      this.on.state("ready");
      if (this.ink.strokes.size) this.send({ remove: [], add: [...this.ink.strokes.values()] });
    };
    this.socket.onmessage = (event) => this.#told(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.on.state("away");
      setTimeout(() => this.#open(), this.#pause);
      this.#pause = Math.min(LONGEST_PAUSE, 2 * this.#pause);
    };
  }

  // While there is no line nothing is sent: once there is, all strokes are.
  send({ remove, add }) {
    this.#revision += 1;
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.#sent = performance.now();
    this.on.state("reading");
    const change = { revision: this.#revision, remove: remove.map((stroke) => stroke.id), add };
    this.socket.send(JSON.stringify(change));
  }

  #told(answer) {
    if (answer.revision !== this.#revision) return; // more was written since
    this.on.state("ready");
    if (answer.error) this.on.failed(answer.error.message);
    else this.on.reading(answer, performance.now() - this.#sent);
  }

  // The reading of a picture; throws an Error that says why there is none.
  async post(blob) {
    this.#revision += 1; // answers to earlier strokes are late now
    const revision = this.#revision;
    this.on.state("reading");
    const started = performance.now();
    try {
      const response = await fetch("/recognize?alternatives=4", { method: "POST", body: blob });
      const answer = await response.json().catch(() => ({}));
      if (!response.ok) throw new Error(answer.error?.message ?? `the server said ${response.status}`);
      return { answer, spent: performance.now() - started, late: revision !== this.#revision };
    } catch (error) {
      if (error instanceof TypeError) throw new Error("the server cannot be reached");
      throw error;
    } finally {
      this.on.state(this.socket.readyState === WebSocket.OPEN ? "ready" : "away");
    }
  }
}
