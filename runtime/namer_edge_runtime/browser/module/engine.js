// The two graphs of a model in onnxruntime-web: WebAssembly, one thread, no special headers.

export class ModelFileError extends Error {
  name = "ModelFileError";
}

export class Engine {
  name = "onnxruntime-web";
  device = "WASM";

  // `ort` is the module of onnxruntime-web; the graphs are bytes.
  static async open(ort, precision, { vat, pgd }) {
    const options = { executionProviders: ["wasm"], enableCpuMemArena: false, enableMemPattern: false };
    const [first, second] = [await ort.InferenceSession.create(vat, options), await ort.InferenceSession.create(pgd, options)];
    return Object.assign(new Engine(), { ort, precision, vatSession: first, pgdSession: second });
  }

  // Planes [C, H, W] of one picture to VAT's maps; `features` and `memory` are for `pgd` alone.
  async vat(planes, height, width) {
    const image = new this.ort.Tensor("uint8", planes, [1, planes.length / (height * width), height, width]);
    const { scores, classes, none, features, memory } = await this.vatSession.run({ image });
    const [rows, columns] = none.dims.slice(1);
    return { scores: scores.data, classes: Int32Array.from(classes.data, Number), none: none.data, features, memory, height: rows, width: columns };
  }

  // What PGD says of picked nodes: probs [N · (K + 2)], left and right [N · N].
  async pgd({ features, memory }, nodes) {
    const count = nodes.classes.length;
    const whole = (values, ...more) => new this.ort.Tensor("int64", BigInt64Array.from(values, BigInt), [1, count, ...more]);
    const real = (values) => new this.ort.Tensor("float32", Float32Array.from(values), [1, count]);
    const said = await this.pgdSession.run({
      features,
      memory,
      cells: whole(nodes.cells.flat(), 2),
      classes: whole(nodes.classes),
      endings: whole(nodes.endings),
      scores: real(nodes.scores),
      mask: real(nodes.scores.map(() => 1)),
    });
    return { probs: said.self.data, left: said.left.data, right: said.right.data };
  }
}

// onnxruntime-web from a folder of a page: its module, and its WebAssembly, packed or not.
export async function openRuntime(folder) {
  const ort = await import(new URL("ort.wasm.bundle.min.js", folder));
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = await bytes(new URL("ort-wasm-simd-threaded.wasm.gz", folder));
  return ort;
}

// The model of a folder: `model.json` and its graphs, each as large and of the hash that it says.
export async function openModel(folder) {
  const meta = JSON.parse(new TextDecoder().decode(await bytes(new URL("model.json", folder))));
  const graphs = {};
  for (const [role, part] of Object.entries(meta.parts)) {
    const data = (graphs[role] = await bytes(new URL(part.file, folder)));
    const digest = await crypto.subtle?.digest("SHA-256", data); // offered to secure pages alone
    const hash = digest && Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (data.length !== part.bytes || (hash && hash !== part.sha256)) {
      throw new ModelFileError(`${part.file} is not the file that model.json describes: copy the folder again`);
    }
  }
  return { meta, graphs };
}

// A file's content, unpacked where it is gzip: some servers do that on the way, others do not.
async function bytes(address) {
  const response = await fetch(address);
  if (!response.ok) throw new ModelFileError(`${address.pathname}: the server said ${response.status}`);
  const data = new Uint8Array(await response.arrayBuffer());
  if (data[0] !== 0x1f || data[1] !== 0x8b) return data;
  const unpacked = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}
