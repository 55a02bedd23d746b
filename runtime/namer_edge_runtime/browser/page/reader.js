// The reader: a worker beside the page, so that writing never waits for reading.

import { Recognizer } from "../namer-edge/recognizer.js";

const ALTERNATIVES = 4;
const SIDE = 2048; // pixels: larger pictures are scaled down

let latest; // the request that is waited for
let isBusy = false;

const recognizer = Recognizer.from_pretrained().then(
  (opened) => (postMessage({ isReady: true }), opened),
  async (reason) => {
    await forget();
    postMessage({ isReady: false, error: `the reader cannot be loaded: ${reason.message}` });
  },
);

// Model and runtime that are kept may be damaged: where the server is there, they are fetched anew.
async function forget() {
  const folder = new URL("..", import.meta.url);
  const answer = await fetch(new URL("page.json", folder), { cache: "no-store" }).catch(() => null);
  if (!answer?.ok || !self.caches) return;
  const names = (await caches.keys()).filter((name) => name.startsWith(`namer-edge ${folder} `));
  for (const cache of await Promise.all(names.map((name) => caches.open(name)))) {
    const requests = (await cache.keys()).filter(({ url }) => /\/(model|onnxruntime-web)\/[^/]*$/.test(url));
    await Promise.all(requests.map((request) => cache.delete(request)));
    await Promise.all(requests.map(({ url }) => fetch(url, { cache: "reload" }).catch(() => null)));
  }
}

self.onmessage = async ({ data }) => {
  latest = data;
  if (isBusy) return;
  isBusy = true;
  let done;
  while (done !== latest) {
    done = latest;
    postMessage({ revision: done.revision, ...(await read(done)) });
  }
  isBusy = false;
};

async function read(request) {
  const { strokes, bitmap } = request;
  const wanted = async () => {
    await new Promise((resolve) => setTimeout(resolve)); // lets the next request in
    return request === latest;
  };
  try {
    if (!strokes && !bitmap) return {};
    const input = strokes ? strokes.map(({ points }) => points) : pixels(bitmap);
    const result = await (await recognizer).recognize(input, { alternatives: ALTERNATIVES, wanted });
    if (!result) return {};
    const symbols = result.token_strokes?.map((own) => ({ strokes: own.map((place) => strokes[place].id) }));
    return { answer: { ...result.toJSON(), alternatives: result.alternatives.map((other) => other.toJSON()), symbols } };
  } catch (reason) {
    return { error: reason.message };
  }
}

function pixels(bitmap) {
  const shrink = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * shrink)));
  const pen = new OffscreenCanvas(width, height).getContext("2d");
  pen.fillStyle = "white"; // what is transparent is paper
  pen.fillRect(0, 0, width, height);
  pen.drawImage(bitmap, 0, 0, width, height);
  return pen.getImageData(0, 0, width, height);
}
