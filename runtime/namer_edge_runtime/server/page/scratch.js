// Scratch-out: a stroke to and fro over ink takes that ink away.

const TURNS = 5; // times that the pen turns back, at least
const LEG = 0.35; // share of the scribble's length that it goes each time before
const CROSSINGS = 3; // with the strokes it strikes out, at least
const COVERED = 0.5; // share of a struck stroke that lies within the scribble's box

// The strokes that a stroke with these points strikes out; none where it is no scribble.
export function struckOut(points, strokes) {
  if (turns(points) < TURNS) return [];
  const box = bounds(points);
  let all = 0;
  const struck = [...strokes].filter((stroke) => {
    const inside = stroke.points.filter(([x, y]) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
    if (inside.length < COVERED * stroke.points.length) return false;
    const count = crossings(points, stroke.points);
    all += count;
    return count > 0;
  });
  return all >= CROSSINGS ? struck : [];
}

export function bounds(points) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

// Times that the pen turns back along the axis on which it goes furthest in all.
function turns(points) {
  const box = bounds(points);
  const way = [0, 1].map((axis) => points.reduce((sum, point, n) => sum + (n ? Math.abs(point[axis] - points[n - 1][axis]) : 0), 0));
  const axis = way[0] > way[1] ? 0 : 1;
  const least = LEG * Math.max(1, axis ? box.bottom - box.top : box.right - box.left);
  let [count, going, from] = [0, 0, points[0][axis]]; // `from`: the furthest point of this leg
  for (const point of points) {
    const gone = point[axis] - from;
    if (going * gone > 0) from = point[axis];
    else if (Math.abs(gone) >= least) {
      if (going) count += 1;
      [going, from] = [Math.sign(gone), point[axis]];
    }
  }
  return count;
}

function crossings(one, other) {
  let count = 0;
  for (let i = 1; i < one.length; i++) {
    for (let j = 1; j < other.length; j++) {
      if (cross(one[i - 1], one[i], other[j - 1], other[j])) count += 1;
    }
  }
  return count;
}

function cross(a, b, c, d) {
  const side = ([px, py], [qx, qy], [rx, ry]) => Math.sign((qx - px) * (ry - py) - (qy - py) * (rx - px));
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}
