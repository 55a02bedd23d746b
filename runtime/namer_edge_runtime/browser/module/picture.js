export class Picture {
  static of() { throw new Error("pictures are not read yet"); }
}
